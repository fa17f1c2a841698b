package proxy

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
)

// The SDK for Go as the client: it negotiates, listens, hears notifications and
// ends its MCP session.
func TestWebWithTheSDK(t *testing.T) {
	s := serveWeb(t, nil)
	var mu sync.Mutex
	changes, steps := 0, 0
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Title: "An SDK", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(_ context.Context, _ *mcp.ToolListChangedRequest) {
			mu.Lock()
			defer mu.Unlock()
			changes++
		},
		ProgressNotificationHandler: func(_ context.Context, _ *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			steps++
		},
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url + "?project=/a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) == 0 {
		t.Fatalf("%v, %v", tools, err)
	}
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	progress := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"steps": 3}}
	progress.SetProgressToken("p")
	if _, err := session.CallTool(t.Context(), progress); err != nil {
		t.Error(err)
	}
	apptest.Eventually(t, "it listens", func() bool {
		ids := s.world.server("/a").Sessions()
		return len(ids) == 1 && s.world.server("/a").Listening(ids[0])
	})
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "notify"}); err != nil {
		t.Error(err)
	}
	apptest.Eventually(t, "notifications have come", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return changes > 0 && steps == 3
	})
	if names := clientNames(s.broker, "/a"); len(names) != 1 || names[0] != "An SDK" {
		t.Errorf("clients %q", names)
	}
	// Its server dies, and the next request wakes another one.
	s.world.server("/a").dies()
	one := s.web.all()[0].session
	apptest.Eventually(t, "its end is known", func() bool { // else it may get the request, which then may have been carried out
		one.mu.Lock()
		defer one.mu.Unlock()
		return one.link == nil
	})
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"after": "death"}})
	if err != nil || result.IsError {
		t.Errorf("%+v, %v", result, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	apptest.Eventually(t, "it has gone", func() bool { return len(clientNames(s.broker, "/a")) == 0 })
	if _, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url + "?project=nowhere"}, nil); err == nil || !strings.Contains(err.Error(), "Bad Request") {
		t.Errorf("a bad project: %v", err)
	}
}

// A client whose address names no project has that of its only root, until it activates
// another one.
func TestWebByRoots(t *testing.T) {
	s := serveWeb(t, nil)
	for roots, want := range map[string]string{"/a": "/a", "/a /b": "", "": ""} {
		changed := make(chan struct{}, 10)
		client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		})
		for _, dir := range strings.Fields(roots) {
			//lint:ignore SA1019 clients of this year's versions have them
			client.AddRoots(&mcp.Root{URI: "file://" + dir})
		}
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(tool string, arguments map[string]any) string {
			t.Helper()
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			return result.Content[0].(*mcp.TextContent).Text
		}
		mark := "from [" + roots + "]"
		said := call("echo", map[string]any{"text": mark})
		if want == "" && !strings.HasPrefix(said, "No project is active") || want != "" && said != "echo" {
			t.Errorf("with the roots %q it was told %q", roots, said)
		}
		if said := call("activate_project", map[string]any{"project": "/c"}); said != "The project at /c is active." {
			t.Errorf("it was told %q", said)
		}
		<-changed // once: it has not listed any tools, and then they are the same
		call("echo", map[string]any{"text": mark})
		made := 0
		for _, c := range s.world.server("/c").Executed() {
			if strings.Contains(c.Arguments, mark) {
				made++
			}
		}
		if made != 1 {
			t.Errorf("with the roots %q the project /c has %d calls", roots, made)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

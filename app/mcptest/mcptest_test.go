package mcptest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect is the MCP Go SDK as a client, a peer that we did not write. Without
// options it opens no GET stream.
func connect(t *testing.T, s *Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	var connections http.Transport
	transport := &mcp.StreamableClientTransport{Endpoint: s.URL(), HTTPClient: &http.Client{Transport: &connections}, MaxRetries: -1, DisableStandaloneSSE: o == nil}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close() // the server may be gone
		connections.CloseIdleConnections()
	})
	return session
}

func ask(t *testing.T, c *mcp.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func TestTheSDKUnderstandsTheServer(t *testing.T) {
	s := New(t)
	changed := make(chan struct{}, 1)
	progressed := make(chan struct{}, 10)
	c := connect(t, s, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
			progressed <- struct{}{}
		},
	})
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 12 {
		t.Errorf("the tools are %v, %v", tools, err)
	}
	if ask(t, c, "count", nil); ask(t, c, "count", nil) != "2" {
		t.Error("it counts wrongly")
	}
	if got := ask(t, c, "ask", nil); !strings.Contains(got, `"error"`) { // this client cannot sample
		t.Errorf("the client's answer arrived as %q", got)
	}
	ask(t, c, "notify", nil)
	<-changed
	params := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"steps": 3}}
	params.SetProgressToken("token")
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Error(err)
	}
	for range 3 {
		<-progressed
	}
	if got := ask(t, c, "big", map[string]any{"bytes": 3 << 20}); len(got) != 3<<20 {
		t.Errorf("a big answer has %d bytes", len(got))
	}
	if got := len(s.Executed()); got != 6 {
		t.Errorf("%d calls count as executed", got)
	}
}

func TestDeathAndOblivion(t *testing.T) {
	s := New(t)
	c := connect(t, s, nil)
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "die"}); err == nil {
		t.Error("a call that kills the server succeeds")
	}
	<-s.Dead()
	s.Restart()
	if got := s.Sessions(); len(got) != 0 {
		t.Errorf("after a restart it knows %q", got)
	}
	c = connect(t, s, nil)
	if ask(t, c, "count", nil) != "1" {
		t.Error("the count survived")
	}
	s.Forget()
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "count"}); !errors.Is(err, mcp.ErrSessionMissing) {
		t.Errorf("a forgotten session answers %v", err)
	}
}

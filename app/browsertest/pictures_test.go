//go:build pictures

package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestPictures is run by build/screenshot.sh, beside the demo. It makes the
// README's pictures of the page of the lamplighter at the control socket that
// LAMPLIGHTER_TEST_SOCKET names.
func TestPictures(t *testing.T) {
	p, pictures := toPicture(t)
	useProject(t, os.Getenv(socketVariable), "street-lamps")
	servers := []string{"street-lamps", "harbour-lights", "NO PROJECT", "suspended"}
	both := map[string]Options{"light": {}, "dark": {Dark: true}}

	p.AwaitText(t, ".welcome", "Welcome to Lamplighter", "It ends")
	p.AwaitText(t, "#main", servers...)
	pictures("welcome-", ".welcome", both)
	p.Click(t, Button("Close the welcome"))
	p.Await(t, "the welcome is gone", "!document.querySelector('.welcome')")
	pictures("", all, map[string]Options{"light": {}, "dark": {Dark: true}, "narrow": {Width: 390, Height: 844}})
	p.Click(t, Link("Workspaces"))
	p.AwaitText(t, "#main", "fix-login", "report", "notes")
	pictures("workspaces-", all, both)
	p.Click(t, Tab("street-lamps"))
	p.AwaitText(t, "#main", "Tool Usage", "find_symbol", "Last Execution", "idle")
	pictures("instance-", all, both)
}

// TestPictureOfClients is run beside several clients that work on one project.
func TestPictureOfClients(t *testing.T) {
	p, pictures := toPicture(t)
	p.AwaitText(t, "#main", "Codex: ", "Gemini CLI: ", "MCP Inspector: ")
	Eval[bool](t, p, `(() => { const by = document.querySelector('[aria-label="Group the servers"]'); by.value = 'project'; return by.dispatchEvent(new Event('change')); })()`)
	p.AwaitText(t, "#main", "street-lamps: ")
	pictures("clients-", ".table-box", map[string]Options{"light": {}})
}

// socketVariable names the control socket.
const socketVariable = "LAMPLIGHTER_TEST_SOCKET"

// toPicture opens the page, and makes pictures of a view that end below some of its
// parts, one for each look.
func toPicture(t *testing.T) (p *Page, pictures func(view, parts string, looks map[string]Options)) {
	t.Helper()
	socket, dir := os.Getenv(socketVariable), os.Getenv(picturesVariable)
	if socket == "" || dir == "" {
		t.Fatalf("%s or %s is not set: run ./build.sh demo --screenshot DIR", socketVariable, picturesVariable)
	}
	var status struct{ Address string }
	askSocket(t, socket, "status", &status)
	p = Start(t).Open(t, status.Address, Options{})
	return p, func(view, parts string, looks map[string]Options) {
		t.Helper()
		for name, o := range looks {
			if o.Width == 0 {
				o.Width, o.Height = 1280, 800
				p.Look(t, o)
				p.Settle(t)
				o.Height = Eval[int](t, p, fmt.Sprintf(lowest, quote(parts))) + 8
			}
			p.Look(t, o)
			p.Settle(t)
			p.PictureTo(t, filepath.Join(dir, "page-"+view+name+".png"))
		}
		p.Look(t, Options{})
	}
}

// all are the parts of every view.
const all = ".card, .section, .table-box"

// lowest is where such parts end, in pixels from the top of the window.
const lowest = `Math.ceil(Math.max(...[...document.querySelectorAll('#panel :is(' + %s + ')')]
	.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().bottom)))`

// askSocket reads a route at a control socket.
func askSocket(t *testing.T, socket, route string, into any) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	resp, err := client.Get("http://lamplighter/global-dashboard/" + route)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", route, resp.Status, err)
	}
}

// useProject calls some tools of the demo's server of a project, as an
// assistant would, so that there is something to see.
func useProject(t *testing.T, socket, project string) {
	t.Helper()
	var answer struct {
		Instances []struct {
			Project *string `json:"project_name"`
			MCP     *string `json:"mcp_url"`
		}
	}
	askSocket(t, socket, "instances", &answer)
	for _, in := range answer.Instances {
		if in.Project == nil || *in.Project != project || in.MCP == nil {
			continue
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: *in.MCP, DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		for _, call := range []struct {
			tool  string
			times int
			args  map[string]any
		}{
			{"get_symbols_overview", 4, map[string]any{"relative_path": "main.go"}},
			{"find_symbol", 9, map[string]any{"name_path_pattern": "greet"}},
			{"find_referencing_symbols", 3, map[string]any{"name_path": "greet", "relative_path": "main.go"}},
			{"list_memories", 1, map[string]any{}},
		} {
			for range call.times {
				if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: call.args}); err != nil {
					t.Fatalf("calling %s: %v", call.tool, err)
				}
			}
		}
		return
	}
	t.Fatalf("the demo has no server of %s over HTTP", project)
}

//go:build real && linux

package launch

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// realLimit is for machines that are slow; the tests are not about time.
const realLimit = 60 * time.Second

// realEnv is a home of its own for a Serena, which has run there before.
func realEnv(t testing.TB) map[string]string {
	t.Helper()
	tools, home := serenatest.Tools(t), t.TempDir()
	serena := filepath.Join(home, ".serena")
	settings := "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: true\nprojects: []\n"
	if err := os.MkdirAll(serena, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(serena, serenaSettings), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"HOME": home, "SERENA_HOME": serena, "GOFLAGS": "-modcacherw",
		"PATH": filepath.Join(tools, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
}

// connect makes the test a client of a server.
func connect(t *testing.T, s *Server, sse bool) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realLimit)
	defer cancel()
	var connections http.Transport
	t.Cleanup(connections.CloseIdleConnections)
	client := &http.Client{Transport: &connections}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.MCPURL(), HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
	if sse {
		ctx = t.Context() // which carries the stream
		transport = &mcp.SSEClientTransport{Endpoint: s.MCPURL(), HTTPClient: client}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatalf("connecting to %s: %v", s.MCPURL(), err)
	}
	return session
}

func call(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || result.IsError {
		t.Fatalf("calling %s: %+v, %v", tool, result, err)
	}
	var text strings.Builder
	for _, c := range result.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	return text.String()
}

// TestRealSerenas starts each version with a project that it cannot open: then each
// goes on without one, and is not kept for all.
func TestRealSerenas(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			l, _, spec := realSerena(t, state, version)
			inTheWay := filepath.Join(spec.Project, ".serena") // a file, where its directory is to be
			if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			spec.Lifetime, spec.Key = Shared, "key"
			if s, err := l.Launch(t.Context(), spec); !errors.Is(err, ErrNoProject) || !strings.Contains(err.Error(), "Error activating project") || len(l.Servers()) != 0 {
				t.Fatalf("%v, %v", s, err)
			}
			nothingLeft(t, state)
		})
	}
}

// TestRealSerenaEnds calls a tool that needs a language server, and ends all of it.
// It is the oldest version, over the older transport: the newest, over the other,
// does the same for sessions in app/e2e/sharing.
func TestRealSerenaEnds(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l, events, spec := realSerena(t, state, serenatest.Version15)
	spec.Template.Transport, spec.Template.Arguments[1] = SSE, "desktop-app" // which has both tools
	s, err := l.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if s.DashboardPort() == 0 || l.dashboard.Heartbeat(t.Context(), s.DashboardPort()) != nil {
		t.Errorf("the dashboard's port is not %d", s.DashboardPort())
	}
	info, err := process.Read(s.Identity().PID)
	if err != nil || !strings.HasPrefix(filepath.Base(info.Exe), "python") {
		t.Errorf("the server is %+v, %v", info, err)
	}
	session := connect(t, s, true)
	if text := call(t, session, "get_current_config", nil); !strings.Contains(text, "alpha") {
		t.Error(text)
	}
	if text := call(t, session, "get_symbols_overview", map[string]any{"relative_path": "main.go"}); !strings.Contains(text, "main") {
		t.Error(text)
	}
	if !hasChildren(s.Identity()) {
		t.Error("it has no language server")
	}
	if err := s.End(t.Context(), "release"); err != nil {
		t.Error(err)
	}
	_ = session.Close() // the server has gone
	if got := strings.Join(*events, " "); got != "stop_ordered asked terminated ended" {
		t.Error(got)
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
	if answers(s.Port()) || answers(s.DashboardPort()) {
		t.Error("it still listens")
	}
}

// realSerena is what starts a version for a session, and what that will record.
func realSerena(t *testing.T, state, version string) (*Launcher, *[]string, Spec) {
	t.Helper()
	env, events := realEnv(t), []string{}
	l, _ := running(t, state, func(l *Launcher) {
		l.o.Record = func(e monitor.Event) { events = append(events, string(e.Kind)) }
		l.o.Limits.Keeper = realLimit // nothing is to be killed because the machine is slow
		l.finder = given{version}
		l.o.SerenaHome = env["SERENA_HOME"]
	})
	venv := "venv"
	if version != serenatest.Version {
		venv += "-" + version
	}
	return l, &events, Spec{
		Template: Template{
			Name: monitor.KindSerena, Command: []string{filepath.Join(serenatest.Tools(t), venv, "bin", "serena")}, Env: env,
			Arguments: []string{"--context", "ide", "--agent-interface", "tools"},
		},
		Project: serenatest.GoProject(t, "alpha"), Lifetime: Session, Limit: realLimit,
	}
}

// TestRealTemplate starts another real MCP server from a template.
func TestRealTemplate(t *testing.T) {
	t.Parallel()
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	script, err := filepath.Abs("testdata/notes.py")
	if err != nil {
		t.Fatal(err)
	}
	project, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "a note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, _ := running(t, state, nil)
	s, err := l.Launch(t.Context(), Spec{
		Template: Template{Name: "notes", Command: []string{python, "-P", script, projectMark, "--port-file", portFileMark, "--json"}},
		Project:  project, Lifetime: Session, Limit: realLimit,
	})
	if err != nil {
		t.Fatal(err)
	}
	session := connect(t, s, false)
	if text := call(t, session, "names", nil); !strings.Contains(text, "a note") {
		t.Error(text)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := s.End(t.Context(), "the test"); err != nil {
		t.Error(err)
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
}

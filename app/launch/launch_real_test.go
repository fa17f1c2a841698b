//go:build real && linux

package launch

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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

// realEnv is a home of its own for a Serena, which has run there before, and no
// way to the network.
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
	constraint := url.URL{Scheme: "file", Path: filepath.Join(tools, "requirements.txt")}
	return map[string]string{
		"HOME": home, "SERENA_HOME": serena, "GOFLAGS": "-modcacherw",
		"PATH":         filepath.Join(tools, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"UV_CACHE_DIR": filepath.Join(tools, "uv"), "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_CONSTRAINT": constraint.String(),
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

// TestRealSerenas starts each version in each way, calls a tool that needs its
// language server, and ends all of it.
func TestRealSerenas(t *testing.T) {
	tools := serenatest.Tools(t)
	venv := func(name string) []string { return []string{filepath.Join(tools, name, "bin", "serena")} }
	uvx := []string{filepath.Join(tools, "venv", "bin", "uvx"), "--python", "3.11", "--from", "serena-agent==" + serenatest.Version, "serena"}
	for _, test := range []struct {
		name, version, transport string
		command                  []string
	}{
		{"2.1.0", serenatest.Version, StreamableHTTP, venv("venv")},
		{"2.1.0 sse", serenatest.Version, SSE, venv("venv")},
		{"2.1.0 uvx", serenatest.Version, StreamableHTTP, uvx},
		{"2.1.0 uvx sse", serenatest.Version, SSE, uvx},
		{"1.7.0", serenatest.Version17, StreamableHTTP, venv("venv-1.7.0")},
		{"1.7.0 sse", serenatest.Version17, SSE, venv("venv-1.7.0")},
		{"1.5.3", serenatest.Version15, StreamableHTTP, venv("venv-1.5.3")},
		{"1.5.3 sse", serenatest.Version15, SSE, venv("venv-1.5.3")},
	} {
		t.Run(test.name, func(t *testing.T) {
			state, env := t.TempDir(), realEnv(t)
			var events []string
			l, _ := running(t, state, func(l *Launcher) {
				l.o.Record = func(e monitor.Event) { events = append(events, string(e.Kind)) }
				l.keeping = realLimit // nothing is to be killed because the machine is slow
				l.finder = given{test.version}
				l.o.SerenaHome = env["SERENA_HOME"]
			})
			s, err := l.Launch(t.Context(), Spec{
				Template: Template{
					Name: monitor.KindSerena, Command: test.command, Transport: test.transport, Env: env,
					Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"},
				},
				Project: serenatest.GoProject(t, "alpha"), Lifetime: Session, Limit: realLimit,
			})
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
			session := connect(t, s, test.transport == SSE)
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
			if got := strings.Join(events, " "); got != "stop_ordered asked terminated ended" {
				t.Error(got)
			}
			allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
			if answers(s.Port()) || answers(s.DashboardPort()) {
				t.Error("it still listens")
			}
		})
	}
}

// TestSerenaFoundByItself starts what the real finder finds, with the poor
// environment of a desktop process.
func TestSerenaFoundByItself(t *testing.T) {
	state, env := t.TempDir(), realEnv(t)
	local := filepath.Join(env["HOME"], ".local", "bin")
	if err := os.MkdirAll(local, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(serenatest.Tools(t), "venv", "bin", "serena"), filepath.Join(local, "serena")); err != nil {
		t.Fatal(err)
	}
	finder := NewFinder(FinderOptions{Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + env["HOME"], "LANG=C.UTF-8"}, Home: env["HOME"], StateDir: state})
	l, _ := running(t, state, func(l *Launcher) {
		l.finder = finder
		l.o.SerenaHome = env["SERENA_HOME"]
	})
	for range 2 { // the second knows the verdict
		s, err := l.Launch(t.Context(), Spec{
			Template: Template{Name: monitor.KindSerena, Env: map[string]string{"SERENA_USAGE_REPORTING": "false"}},
			Project:  serenatest.GoProject(t, "alpha"), Lifetime: Session, Limit: realLimit,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.command()[0]; got != filepath.Join(local, "serena") {
			t.Error(got)
		}
		if err := s.End(t.Context(), "the test"); err != nil {
			t.Error(err)
		}
	}
}

// TestFirstStartsAreMadeOneAtATime starts several Serenas where none has run.
func TestFirstStartsAreMadeOneAtATime(t *testing.T) {
	state, env := t.TempDir(), realEnv(t)
	if err := os.Remove(filepath.Join(env["SERENA_HOME"], serenaSettings)); err != nil {
		t.Fatal(err)
	}
	l, stop := running(t, state, func(l *Launcher) {
		l.finder = given{serenatest.Version}
		l.o.SerenaHome = env["SERENA_HOME"]
	})
	project := serenatest.GoProject(t, "alpha")
	failed := make(chan error)
	const many = 3
	for range many {
		go func() {
			_, err := l.Launch(t.Context(), Spec{
				Template: Template{
					Name: monitor.KindSerena, Command: []string{filepath.Join(serenatest.Tools(t), "venv", "bin", "serena")}, Env: env,
					Arguments: []string{"--context", "desktop-app"},
				},
				Project: project, Lifetime: Session, Limit: realLimit,
			})
			failed <- err
		}()
	}
	for range many {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(env["SERENA_HOME"], serenaSettings)); err != nil {
		t.Error(err)
	}
	servers := l.Servers()
	stop()
	for _, s := range servers {
		allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
	}
}

// TestRealTemplates starts another real MCP server from templates.
func TestRealTemplates(t *testing.T) {
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	script, err := filepath.Abs("testdata/notes.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"port": {"--port", portMark}, "port file": {"--port-file", portFileMark}, "json": {"--port-file", portFileMark, "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			if err := os.WriteFile(filepath.Join(project, "a note"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			state := t.TempDir()
			l, _ := running(t, state, nil)
			s, err := l.Launch(t.Context(), Spec{
				Template: Template{Name: "notes", Command: slices.Concat([]string{python, "-P", script, projectMark}, args)},
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
		})
	}
}

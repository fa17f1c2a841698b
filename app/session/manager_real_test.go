//go:build real && linux

package session

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// realManager starts real Serenas under real keepers, in a home of their own,
// until the function that it returns is called.
func realManager(t *testing.T) (m *Manager, end func()) {
	t.Helper()
	tools, home := serenatest.Tools(t), t.TempDir()
	serena, keeper := filepath.Join(home, ".serena"), filepath.Join(home, "lamplighter-connect")
	settings := "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n"
	if err := errors.Join(os.MkdirAll(serena, 0o700), os.WriteFile(filepath.Join(serena, "serena_config.yml"), []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", keeper, "lamplighter/app/connect").CombinedOutput(); err != nil {
		t.Fatalf("the keeper was not built: %v\n%s", err, out)
	}
	environ := append(os.Environ(), "HOME="+home, "SERENA_HOME="+serena, "GOFLAGS=-modcacherw", "SERENA_USAGE_REPORTING=false",
		"PATH="+filepath.Join(tools, "bin")+":"+os.Getenv("PATH"))
	state := filepath.Join(home, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	l := launch.New(launch.Options{
		StateDir: state, Program: keeper, SerenaHome: serena, Log: quiet(),
		Finder: launch.NewFinder(launch.FinderOptions{Environ: environ, Home: home, Log: quiet()}),
		Tell:   func(monitor.Launch) {}, Record: func(monitor.Event) {},
	})
	ctx, cancel := context.WithCancel(context.Background())
	if err := l.Open(ctx); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	m = New(Options{
		Start: With(l), Limit: func() int { return 5 }, Log: quiet(),
		Spec: func(string, string) (launch.Spec, error) {
			return launch.Spec{Limit: time.Minute, Template: launch.Template{
				Name: monitor.KindSerena, Command: []string{filepath.Join(tools, "venv", "bin", "serena")},
				Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"},
			}}, nil
		},
	})
	endManager := serve(t, m)
	t.Cleanup(func() { cancel(); <-served })
	return m, endManager
}

// overview makes a call that needs the language server, and returns its answer.
func overview(t *testing.T, s Session) string {
	t.Helper()
	var connections http.Transport
	defer connections.CloseIdleConnections()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "session", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.MCPURL, HTTPClient: &http.Client{Transport: &connections}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var text strings.Builder
	for tool, args := range map[string]map[string]any{"get_current_config": {}, "get_symbols_overview": {"relative_path": "main.go"}} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		for _, c := range result.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text.WriteString(c.Text)
			}
		}
		if result.IsError {
			t.Fatalf("%s: %s", tool, text.String())
		}
	}
	return text.String()
}

// treeOf is the server of a session and what runs below it.
func treeOf(t *testing.T, s Session) []process.Stat {
	t.Helper()
	stat, err := process.ReadStat(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := process.Tree(stat.Identity)
	if err != nil || len(tree) < 2 {
		t.Fatalf("the tree of %d: %+v, %v", s.ID, tree, err)
	}
	return tree
}

// hasGone checks that nothing of a session is left.
func hasGone(t *testing.T, s Session, tree []process.Stat) {
	t.Helper()
	for _, p := range tree {
		if runs(p.Identity) {
			t.Errorf("process %d is left", p.PID)
		}
	}
	if conn, err := net.Dial("tcp4", "127.0.0.1:"+strconv.Itoa(s.Port)); err == nil {
		conn.Close()
		t.Errorf("port %d is open", s.Port)
	}
}

// Real servers on a real project: two at once, one of them released, one killed,
// one ended with the manager while another starts.
func TestRealSessions(t *testing.T) {
	m, end := realManager(t)
	project := serenatest.GoProject(t, "alpha")
	given := make(chan Session, 2)
	for range 2 {
		go func() {
			s, err := m.Request(context.Background(), Request{ProjectPath: project})
			if err != nil {
				t.Error(err)
			}
			given <- s
		}()
	}
	first, second := <-given, <-given
	if t.Failed() {
		t.FailNow()
	}
	for _, s := range []Session{first, second} {
		apptest.Contains(t, overview(t, s), "alpha", "greet")
		if s.ProjectPath != project || s.State != StateRunning || s.DashboardPort == 0 {
			t.Errorf("%+v", s)
		}
	}

	tree := treeOf(t, first)
	release(t, m, first.ID, Terminated, nil)
	hasGone(t, first, tree)
	release(t, m, first.ID, "", ErrUnknown)

	tree = treeOf(t, second)
	if err := syscall.Kill(second.ID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it has died", func() bool { return !runs(tree[0].Identity) })
	release(t, m, second.ID, AlreadyGone, nil)
	hasGone(t, second, tree)
	release(t, m, second.ID, "", ErrUnknown)

	third := request(t, m, project)
	overview(t, third)
	tree = treeOf(t, third)
	last := make(chan error, 1)
	go func() {
		_, err := m.Request(context.Background(), Request{ProjectPath: project})
		last <- err
	}()
	apptest.Eventually(t, "another one starts", func() bool { return len(m.List()) == 2 })
	end()
	if err := <-last; !errors.Is(err, ErrEnding) {
		t.Error(err)
	}
	hasGone(t, third, tree)
	if left := m.List(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

//go:build real && linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// serenaHome is a home in which Serena is on the PATH as users have it, with
// what its language server needs.
func serenaHome(t *testing.T) *manager {
	t.Helper()
	m := managerHome(t)
	tools := serenatest.Tools(t)
	if err := os.Symlink(filepath.Join(tools, "venv", "bin", "serena"), m.path("bin", "serena")); err != nil {
		t.Fatal(err)
	}
	goes, err := exec.LookPath("go")
	if err != nil {
		t.Fatalf("%v: install Go", err)
	}
	path := []string{m.path("bin"), filepath.Join(tools, "bin"), filepath.Dir(goes), "/usr/bin", "/bin"}
	m.env = append(m.env, "PATH="+strings.Join(path, ":"), "SERENA_USAGE_REPORTING=false", "CI=true",
		// What uvx starts comes from the tools, never from the network.
		"UV_CACHE_DIR="+filepath.Join(tools, "uv"), "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never",
		"UV_CONSTRAINT="+(&url.URL{Scheme: "file", Path: filepath.Join(tools, "requirements.txt")}).String())
	modules := "GOFLAGS=-modcacherw"
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "GOCACHE=") || strings.HasPrefix(kv, "GOPATH=") || strings.HasPrefix(kv, "GOMODCACHE=") {
			m.env, modules = append(m.env, kv), "GOPROXY=off"
		}
	}
	m.env = append(m.env, modules)
	return m
}

// initialised makes it a home in which Serena has run before.
func (m *manager) initialised(t *testing.T) {
	t.Helper()
	m.serenaSettings(t, "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n")
}

const patientStart = "session_start_seconds: 300\n"

// TestSessionAcceptance is R1's own, on its port: a real project, real calls on
// the returned port, and nothing left after the release.
func TestSessionAcceptance(t *testing.T) {
	m := serenaHome(t)
	m.initialised(t)
	m.port, m.page = 8888, 25282
	m.settings(t, patientStart)
	m.begin(t)
	project := serenatest.GoProject(t, "alpha")
	s := m.request(t, project)
	session := s.connect(t)
	apptest.Contains(t, calls(t, session, "get_current_config", nil), "alpha")
	apptest.Contains(t, calls(t, session, "get_symbols_overview", map[string]any{"relative_path": "main.go"}), "greet")

	// The id is the server's own pid.
	if ports, err := facts.NewPorts().Listeners([]int{s.ID}); err != nil || !slices.ContainsFunc(ports, func(l facts.Listener) bool { return int(l.Addr.Port()) == s.Port }) {
		t.Errorf("pid %d has %+v, %v; not port %d", s.ID, ports, err, s.Port)
	}
	tree := m.servers()
	if languageServers := m.running("gopls"); len(languageServers) == 0 || tree[s.ID] == "" {
		t.Fatalf("no language server in %v", tree)
	}
	m.showsManaged(t, s)

	m.release(t, s)
	for pid, line := range tree {
		if strings.Contains(line, "gopls") && alive(pid) {
			t.Errorf("left: %s", line)
		}
	}
	m.nothingLeft(t)
	m.expect(t, "/release-session", releaseBody(s.ID), http.StatusNotFound, noID)

	// One that ends by itself, as a crash would end it.
	s = m.request(t, project)
	calls(t, s.connect(t), "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	if err := syscall.Kill(s.ID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it has ended", func() bool { return !alive(s.ID) })
	m.expect(t, "/release-session", releaseBody(s.ID), http.StatusOK, released("already_gone", s.ID))
	m.nothingLeft(t) // its language servers neither
	if opened := m.opened(t); len(opened) > 0 {
		t.Errorf("a browser was opened at %q", opened)
	}
}

// showsManaged waits until everybody can see whose the session is.
func (m *manager) showsManaged(t *testing.T, s asked) {
	t.Helper()
	apptest.Eventually(t, "it is shown as managed, with who asked", func() bool {
		in := m.instance(t, s.ID)
		return in != nil && in.Managed && in.State == "live_with_project" && in.Kind == "serena" && in.Port != nil &&
			in.MCPURL != nil && *in.MCPURL == fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port) &&
			in.Client != nil && in.Client.PID == os.Getpid() && in.Client.Name != ""
	})
	name := m.instance(t, s.ID).Client.Name
	apptest.Eventually(t, "status and events have it", func() bool {
		_, status, _ := m.does(t, "status")
		_, events, _ := m.does(t, "events")
		return strings.Contains(status, name) && strings.Contains(events, "asked for by "+name)
	})
}

// Five at once on one project, where Serena has never run before.
func TestSessionFiveSerenasAtOnce(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	m.set(t, patientStart)
	m.begin(t)
	project := serenatest.GoProject(t, "alpha")
	all := make([]asked, 5)
	together(len(all), func(i int) {
		var err error
		if all[i], err = m.tries(t.Context(), project); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	ids := make(map[int]bool)
	for _, s := range all {
		ids[s.ID] = true
		apptest.Contains(t, calls(t, s.connect(t), "get_current_config", nil), "alpha")
	}
	if len(ids) != len(all) {
		t.Errorf("%+v are not five", all)
	}
	together(len(all), func(i int) {
		status, answer, err := post(t.Context(), m.at("/release-session"), releaseBody(all[i].ID))
		if err != nil || status != http.StatusOK || answer != released("terminated", all[i].ID) {
			t.Errorf("%d %s, %v", status, answer, err)
		}
	})
	for _, s := range all {
		s.isGone(t)
	}
	m.nothingLeft(t)
}

// A Serena below uvx ends with a lamplighter that is killed. One that somebody
// else has started goes on.
func TestSessionByUVXEndsWithLamplighter(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	m.initialised(t)
	programs := filepath.Join(serenatest.Tools(t), "venv", "bin")
	command, err := json.Marshal([]string{
		filepath.Join(programs, "uvx"), "--python", filepath.Join(programs, "python"), "--from", "serena-agent==" + serenatest.Version, "serena",
	})
	if err != nil {
		t.Fatal(err)
	}
	m.set(t, patientStart+"session_command: "+string(command)+"\n")
	m.begin(t)
	found := serenatest.Start(t, serenatest.Options{HTTP: true, Project: serenatest.GoProject(t, "beta")})
	found.WaitReady(t)
	apptest.Eventually(t, "the found one is seen", func() bool { in := m.instance(t, found.ServerPID); return in != nil && !in.Managed })

	s := m.request(t, serenatest.GoProject(t, "alpha"))
	session := s.connect(t)
	apptest.Contains(t, calls(t, session, "get_current_config", nil), "alpha")
	calls(t, session, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	if wrappers := m.running("tool uvx"); len(wrappers) == 0 || slices.Contains(wrappers, s.ID) {
		t.Errorf("no uvx above the server %d in %v", s.ID, m.servers())
	}
	m.ends(t, syscall.SIGKILL)
	m.nothingLeft(t)
	s.goes(t)
	if !alive(found.ServerPID) {
		t.Error("a server that we did not start has ended")
	}
}

// Clients that only know the older transport.
func TestSessionOverSSE(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	m.initialised(t)
	m.set(t, patientStart+"session_transport: sse\n")
	m.begin(t)
	s := m.request(t, serenatest.GoProject(t, "alpha"))
	address := m.sessions(t)[0].MCPURL
	if want := fmt.Sprintf("http://127.0.0.1:%d/sse", s.Port); address != want {
		t.Errorf("MCP at %s, want %s", address, want)
	}
	var connections http.Transport
	session := connectBy(t, &mcp.SSEClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: &connections}}, connections.CloseIdleConnections)
	apptest.Contains(t, calls(t, session, "get_current_config", nil), "alpha")
	m.release(t, s)
	m.nothingLeft(t)
}

// pythonServer is one of the official Python SDK, as others write theirs.
const pythonServer = `
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("street")

@server.tool()
def lamps() -> str:
    "Counts the lamps of a project."
    return "seven lamps in " + sys.argv[2]

server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]), streamable_http_path="/street")
`

// Another real server than Serena, from a template.
func TestSessionOfAnotherServer(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	m.write(t, pythonServer, "street-server.py")
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	project := projectDir(t, "alpha")
	m.set(t, patientStart+"templates:\n"+template(t, "street", []string{python, m.path("street-server.py"), "{port}", "{project}"})+
		"    path: /street\n    directory: \"{project}\"\n    env: {LANTERN: lit}\n")
	m.begin(t)
	status, answer, err := post(t.Context(), m.at("/request-session"), requestOf(project, "street"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := given(status, answer)
	if err != nil {
		t.Fatal(err)
	}
	var connections http.Transport
	session := connectBy(t, &mcp.StreamableClientTransport{
		Endpoint: fmt.Sprintf("http://127.0.0.1:%d/street", s.Port), HTTPClient: &http.Client{Transport: &connections}, MaxRetries: -1,
	}, connections.CloseIdleConnections)
	apptest.Contains(t, calls(t, session, "lamps", nil), "seven lamps in "+project)
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.ID))
	env, errEnv := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.ID))
	if errors.Join(err, errEnv) != nil || dir != project || !strings.Contains(string(env), "\x00LANTERN=lit\x00") {
		t.Errorf("it runs in %s, %v, %v", dir, err, errEnv)
	}
	apptest.Eventually(t, "it is shown as managed", func() bool {
		in := m.instance(t, s.ID)
		return in != nil && in.Managed && in.Kind == "street" && in.Client != nil && in.Client.PID == os.Getpid()
	})
	m.release(t, s)
	m.nothingLeft(t)
}

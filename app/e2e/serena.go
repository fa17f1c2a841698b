//go:build real && linux

package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// SerenaHome is a home in which Serena is on the PATH as users have it, with
// what its language server needs.
func SerenaHome(t *testing.T) *Manager {
	t.Helper()
	m := ManagerHome(t)
	tools := serenatest.Tools(t)
	if err := os.Symlink(filepath.Join(tools, "venv", "bin", "serena"), m.Path("bin", "serena")); err != nil {
		t.Fatal(err)
	}
	goes, err := exec.LookPath("go")
	if err != nil {
		t.Fatalf("%v: install Go", err)
	}
	path := []string{m.Path("bin"), filepath.Join(tools, "bin"), filepath.Dir(goes), "/usr/bin", "/bin"}
	m.Env = append(m.Env, "PATH="+strings.Join(path, ":"), "SERENA_USAGE_REPORTING=false", "CI=true",
		// What uvx starts comes from the tools, never from the network.
		"UV_CACHE_DIR="+filepath.Join(tools, "uv"), "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never",
		"UV_CONSTRAINT="+(&url.URL{Scheme: "file", Path: filepath.Join(tools, "requirements.txt")}).String())
	modules := "GOFLAGS=-modcacherw"
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "GOCACHE=") || strings.HasPrefix(kv, "GOPATH=") || strings.HasPrefix(kv, "GOMODCACHE=") {
			m.Env, modules = append(m.Env, kv), "GOPROXY=off"
		}
	}
	m.Env = append(m.Env, modules)
	return m
}

// Initialised makes it a home in which Serena has run before.
func (m *Manager) Initialised(t *testing.T) {
	t.Helper()
	m.SerenaSettings(t, "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n")
}

const PatientStart = "session_start_seconds: 300\n"

// SharingHome is a home in which Serena has run before and lamplighter runs.
// What is in env is for lamplighter.
func SharingHome(t *testing.T, env ...string) *Manager {
	t.Helper()
	m := SerenaHome(t)
	m.Initialised(t)
	m.Set(t, PatientStart+"log_level: debug\n")
	clients := m.Env
	m.Env = append(clients[:len(clients):len(clients)], env...)
	m.Begin(t)
	m.TakesClients(t)
	m.Env = clients
	return m
}

// NamedProject is a Go project with a function of its own name.
func NamedProject(t *testing.T, name string) string {
	t.Helper()
	dir := serenatest.GoProject(t, name)
	text := "package main\n\nfunc of_" + name + "() string { return \"" + name + "\" }\n"
	if err := os.WriteFile(filepath.Join(dir, "own.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	return dir
}

// ClientsHome is a home with the clients of MCP that work without an account on
// its PATH.
func ClientsHome(t *testing.T) (m *Manager, env []string) {
	t.Helper()
	m = SharingHome(t)
	return m, WithClients(t, m.Env)
}

// WithClients is an environment with these clients on its PATH.
func WithClients(t *testing.T, of []string) (env []string) {
	t.Helper()
	tools := serenatest.Tools(t)
	for _, kv := range of {
		if path, is := strings.CutPrefix(kv, "PATH="); is {
			kv = "PATH=" + strings.Join([]string{filepath.Join(tools, "node", "bin"), filepath.Join(tools, "clients", "node_modules", ".bin"), path}, ":")
		}
		env = append(env, kv)
	}
	return env
}

// Tool runs a client's program to its end.
func Tool(t *testing.T, dir string, env []string, line ...string) string {
	t.Helper()
	program, err := exec.Command("env", append(slices.Clone(env), "sh", "-c", "command -v "+line[0])...).Output()
	if err != nil {
		t.Fatalf("%s is not there: %v", line[0], err)
	}
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(program)), line[1:]...)
	cmd.Env, cmd.Dir = env, dir
	var said apptest.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %v\n%s%s", line, err, out, said.String())
	}
	return string(out) + said.String()
}

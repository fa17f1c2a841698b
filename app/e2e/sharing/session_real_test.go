//go:build real && linux

package sharing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// sessions is a lamplighter as a desktop starts it, on the ports that R1 names:
// no Serena is on its PATH, no Python has it, and it has never run here.
type sessions struct {
	*e2e.Manager
	project string
	mark    string // what lies in the project leaves this file when it runs
}

// The parts go on where the one before has ended.
func TestSession(t *testing.T) {
	t.Parallel()
	s := sessions{Manager: e2e.SerenaHome(t)}
	s.project, s.mark = trapped(t)
	if err := os.Remove(s.Path("bin", "serena")); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "SHELL=/bin/sh", "PYTHONPATH=src:.")
	s.Port, s.Page = 8888, 25282
	s.Settings(t, sessionSettings)
	other, err := net.Listen("tcp4", "127.0.0.1:8888")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() }) // it may be closed
	home := s.Dir
	s.Dir = s.project // where it is started
	s.Run = s.Start(t, "run")
	s.Dir = home
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"another program has its port", func(t *testing.T) { s.portTaken(t, other) }},
		{"nothing works", s.nothingWorks},
		{"from request to release", s.released},
		{"as its document says", s.asDocumented},
		{"another port, and none", s.otherPorts},
		{"lamplighter is killed", s.killed},
	} {
		if !t.Run(part.name, part.test) {
			t.FailNow()
		}
	}
	if text, err := os.ReadFile(s.mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what lies in the project has run: %s, %v", text, err)
	}
	if opened := s.Opened(t); len(opened) > 0 {
		t.Errorf("a browser was opened at %q", opened)
	}
}

const (
	sessionSettings = e2e.PatientStart + e2e.AcmeRule
	noPath          = `{"error":"Invalid or missing 'project_path'"}`
)

// While another program has its port it says so, and the page's port serves
// sessions; when the port is free it is taken.
func (s sessions) portTaken(t *testing.T, other net.Listener) {
	e2e.Serves(t, e2e.PageAt(s.Page))
	apptest.Eventually(t, "status says so", func() bool {
		_, _, said := s.Does(t, "status")
		return strings.Contains(said, "8888") && strings.Contains(said, fmt.Sprintf("(pid %d)", os.Getpid()))
	})
	s.Port = s.Page
	s.Expect(t, "/request-session", "{}", http.StatusBadRequest, noPath)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	s.Port = 8888
	s.Ready(t)
	apptest.Eventually(t, "nothing is said any more", func() bool { _, _, said := s.Does(t, "status"); return said == "" })
}

// The setting counts at once.
func (s sessions) otherPorts(t *testing.T) {
	shut := func(address string) {
		t.Helper()
		apptest.Eventually(t, address+" is shut", func() bool { status, _, _ := e2e.Fetch(t, address); return status == 0 })
	}
	usual := s.At("/health")
	s.Port = apptest.FreePort(t)
	s.Settings(t, fmt.Sprintf("session_port: %d\n%s", s.Port, sessionSettings))
	s.Ready(t)
	shut(usual)
	another := s.At("/health")
	s.Settings(t, "session_port: 0\n"+sessionSettings)
	shut(another)
	s.Port = s.Page
	s.Expect(t, "/request-session", "{}", http.StatusBadRequest, noPath)
	s.Port = 8888
	s.Settings(t, sessionSettings)
	s.Ready(t)
}

// trapped makes a Go project in which Python modules of the names that a server
// imports lie about, each of which leaves a mark when it runs.
func trapped(t *testing.T) (project, mark string) {
	t.Helper()
	project, mark = serenatest.GoProject(t, "alpha"), filepath.Join(t.TempDir(), "ran")
	code := fmt.Sprintf("open(%q, 'a').write(__file__ + '\\n')\n", mark)
	for _, name := range []string{"mcp.py", "click.py", "sitecustomize.py", "serena/__init__.py", "serena/mcp.py", "serena/cli.py", "src/serena/__init__.py", "src/serena/mcp.py", "src/mcp.py"} {
		path := filepath.Join(project, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(code), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	// There is more Python than Go now.
	settings := "project_name: alpha\nlanguage_servers: [go]\n"
	if err := errors.Join(os.Mkdir(filepath.Join(project, ".serena"), 0o755), os.WriteFile(filepath.Join(project, ".serena", "project.yml"), []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	return project, mark
}

// What cannot work is explained, each candidate with its own reason, to who asks
// and by doctor.
func (s sessions) nothingWorks(t *testing.T) {
	reasons := []string{"is in none of the", "uvx", "/usr/bin/python3", `it has no module "serena"`}
	status, answer, err := e2e.Post(t.Context(), s.At("/request-session"), e2e.RequestBody(s.project))
	var failure map[string]string
	if err != nil || status != http.StatusInternalServerError || json.Unmarshal([]byte(answer), &failure) != nil || len(failure) != 1 {
		t.Fatalf("%d %s, %v", status, answer, err)
	}
	apptest.Contains(t, failure["error"], append(reasons, "PATH of this process: ", "PATH of the login shell")...)
	s.NothingLeft(t)
	code, out, said := s.Does(t, "doctor")
	if code != 1 || said != "" {
		t.Errorf("doctor: %d, %q", code, said)
	}
	apptest.Contains(t, out, append(reasons, "✗", "PATH of the background process", "session_command")...)
}

// Where uv's own installer puts uvx it is found, and R1's own follows: a real
// project, real calls on the returned port, and nothing left after the release
// but what people work in.
func (s sessions) released(t *testing.T) {
	programs, local := filepath.Join(serenatest.Tools(t), "venv", "bin"), s.Path(".local", "bin")
	if err := errors.Join(os.MkdirAll(local, 0o700), os.Symlink(filepath.Join(programs, "uv"), filepath.Join(local, "uv")),
		os.Symlink(filepath.Join(programs, "python3"), s.Path("bin", "python3")), // for which uv's cache was filled
		os.Symlink(filepath.Join(programs, "uvx"), filepath.Join(local, "uvx"))); err != nil {
		t.Fatal(err)
	}
	given := s.Request(t, s.project)
	// The id is the server's own pid, not that of uvx above it.
	if ports, err := facts.Listeners([]int{given.ID}); err != nil || !slices.ContainsFunc(ports, func(l facts.Listener) bool { return int(l.Addr.Port()) == given.Port }) {
		t.Errorf("pid %d has %+v, %v; not port %d", given.ID, ports, err, given.Port)
	}
	ended := s.works(t, given)
	if wrappers := s.Running("tool uvx"); len(wrappers) == 0 || slices.Contains(wrappers, given.ID) {
		t.Errorf("no uvx above the server %d in %v", given.ID, s.Servers())
	}
	apptest.Eventually(t, "it is shown as managed, with who asked", func() bool {
		in := s.Instance(t, given.ID)
		return in != nil && in.Managed && in.State == "live_with_project" && in.Kind == "serena" && in.Port != nil &&
			in.MCPURL != nil && *in.MCPURL == fmt.Sprintf("http://127.0.0.1:%d/mcp", given.Port) &&
			in.Client != nil && in.Client.PID == os.Getpid() && in.Client.Name != ""
	})
	code, out, said := s.Does(t, "doctor")
	if code != 0 || said != "" {
		t.Errorf("doctor: %d, %q\n%s", code, said, out)
	}
	apptest.Contains(t, out, "✓", filepath.Join(local, "uvx"), serenatest.Version)

	s.Release(t, given)
	ended(t)
	s.Expect(t, "/release-session", e2e.ReleaseBody(given.ID), http.StatusNotFound, `{"error":"Invalid or missing 'session_id'"}`)
}

// works makes calls, one of which needs the language server, and has shell
// commands start browsers and other programs. What it returns waits until the
// browsers are all that is left, and ends them.
func (s sessions) works(t *testing.T, given e2e.Asked) (ended func(*testing.T)) {
	t.Helper()
	session := given.Connect(t)
	apptest.Contains(t, e2e.Calls(t, session, "get_current_config", nil), "alpha")
	apptest.Contains(t, e2e.Calls(t, session, "get_symbols_overview", map[string]any{"relative_path": "main.go"}), "greet")
	if languageServers := s.Running("gopls"); len(languageServers) == 0 {
		t.Fatalf("no language server in %v", s.Servers())
	}
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	browser, ordinary := filepath.Join(dir, "firefox"), filepath.Join(dir, "ordinary")
	if err := errors.Join(programtest.WriteFile(browser, program, 0o700), programtest.WriteFile(ordinary, program, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{browser, ordinary} {
		for _, how := range []string{"", "setsid "} {
			e2e.Calls(t, session, "execute_shell_command", map[string]any{"command": fmt.Sprintf("%s%s 600 >/dev/null 2>&1 &", how, path)})
		}
	}
	// The shells that become them have their names on the command line, too.
	runs := func(path string) (pids []int) {
		for pid, line := range s.Servers() {
			if strings.HasPrefix(line, path) {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	apptest.Eventually(t, "the shells have become two and two of them", func() bool { return len(runs(browser)) == 2 && len(runs(ordinary)) == 2 })
	browsers := runs(browser)
	return func(t *testing.T) {
		t.Helper()
		apptest.Eventually(t, "only the browsers are left", func() bool { return len(s.Servers()) <= len(browsers) && !e2e.Alive(given.ID) })
		for _, pid := range browsers {
			if !e2e.Alive(pid) {
				t.Errorf("the browser with pid %d has ended", pid)
			} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		s.NothingLeft(t)
		given.IsGone(t)
	}
}

// The whole life of a session as docs/sessions.md has it, to be typed into a
// shell.
func (s sessions) asDocumented(t *testing.T) {
	block := commandsBelow(t, "../../../docs/sessions.md", "\nThe whole life of one, ")
	shell := exec.Command("/bin/sh", "-c", block)
	shell.Dir = s.project
	out, err := shell.CombinedOutput()
	if err == nil {
		t.Error("the port still answers")
	}
	apptest.Contains(t, string(out), "Active project: alpha", `"status":"terminated"`, "curl: (7)")
	if pid := regexp.MustCompile(`"session_id":(\d+)`).FindStringSubmatch(string(out)); pid == nil || regexp.MustCompile(`(?m)^ *`+pid[1]+` `).Match(out) {
		t.Error("the process is there")
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
	s.NothingLeft(t)
}

// commandsBelow are the first commands that a document has below some words.
func commandsBelow(t *testing.T, document, words string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), words)
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatalf("%s has no such commands", document)
	}
	return block
}

// However lamplighter ends, its sessions end, below uvx and with their language
// servers; what others have started goes on. The session is asked for as the
// README says, and the answer is what it promises, to the letter.
func (s sessions) killed(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(commandsBelow(t, "../../../README.md", "\n## A server of its own for each client\n")), "\n")
	if len(lines) != 5 {
		t.Fatalf("the README has other commands: %q", lines)
	}
	out, err := exec.Command("/bin/sh", "-c", lines[0]+"\n"+strings.Replace(strings.Replace(lines[1], "/home/me/alpha", s.project, 1), "curl", "curl -sS", 1)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := strings.TrimSpace(string(out))
	given, err := e2e.Given(http.StatusCreated, got)
	if err != nil {
		t.Fatal(err)
	}
	promised, _, _ := strings.Cut(strings.TrimPrefix(lines[2], "# "), "     ")
	if want := strings.NewReplacer("4711", strconv.Itoa(given.ID), "40123", strconv.Itoa(given.Port)).Replace(promised); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var bystander int
	if _, err := fmt.Sscanf(s.Acme(t), "%d", &bystander); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "what somebody else has started is seen", func() bool { in := s.Instance(t, bystander); return in != nil && !in.Managed })
	ended := s.works(t, given)
	s.Ends(t, syscall.SIGKILL)
	ended(t)
	if !e2e.Alive(bystander) {
		t.Error("a server that we did not start has ended")
	}
}

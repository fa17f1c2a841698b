//go:build contract && linux

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The two errors of R1, to the letter.
const (
	noPath = `{"error":"Invalid or missing 'project_path'"}`
	noID   = `{"error":"Invalid or missing 'session_id'"}`
)

// granted is a session as it was given.
type granted struct {
	ID   int    `json:"session_id"`
	Host string `json:"host"`
	Port int    `json:"port"`
}

func requestBody(project string) string {
	path, _ := json.Marshal(project) // of a string there is always one
	return `{"project_path": ` + string(path) + `}`
}

func releaseBody(id any) string { return fmt.Sprintf(`{"session_id": %v}`, id) }

// request asks for a session, which must be given.
func (w *world) request(t testing.TB, project string) (s granted) {
	t.Helper()
	a := w.ask(t, sessions, "POST", "/request-session", requestBody(project), nil)
	a.into(t, &s)
	want := fmt.Sprintf(`{"session_id":%d,"host":"127.0.0.1","port":%d}`, s.ID, s.Port)
	if a.status != http.StatusCreated || string(bytes.TrimSpace(a.body)) != want || !alive(s.ID) {
		t.Errorf("%d %s", a.status, a.body)
	}
	return s
}

// exactly asks and wants this answer to the letter.
func (w *world) exactly(t testing.TB, d door, path, body string, status int, want string) {
	t.Helper()
	if a := w.ask(t, d, "POST", path, body, nil); a.status != status || string(bytes.TrimSpace(a.body)) != want {
		t.Errorf("%s with %.200s: %d %s, want %d %s", path, body, a.status, a.body, status, want)
	}
}

func (w *world) release(t testing.TB, s granted) {
	t.Helper()
	w.exactly(t, sessions, "/release-session", releaseBody(s.ID), http.StatusOK, fmt.Sprintf(`{"status":"terminated","session_id":%d}`, s.ID))
}

// refuses reports whether a port takes no connection.
func refuses(port int) bool {
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		c.Close()
	}
	return err != nil
}

// From request to release, with several for one project at once and children
// that ignore SIGTERM.
func TestSessions(t *testing.T) {
	project := home.project("sessions")
	habits(t, project, "child")
	given := make([]granted, 3)
	var all sync.WaitGroup
	for i := range given {
		all.Go(func() { given[i] = home.request(t, project) })
	}
	all.Wait()
	seen := map[int]bool{}
	for _, s := range given {
		if seen[s.ID] || seen[s.Port] {
			t.Fatalf("two sessions have something in common: %v", given)
		}
		seen[s.ID], seen[s.Port] = true, true
		resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_current_config"}}`))
		must(t, err)
		said, _ := io.ReadAll(resp.Body) // what is missing is missed below
		resp.Body.Close()
		if !strings.Contains(string(said), fmt.Sprintf("%s, process %d", project, s.ID)) {
			t.Errorf("session %v answers %s", s, said)
		}
	}
	for _, d := range []door{sessions, page, socket} {
		a := ask(t, d, "GET", "/sessions", "", nil)
		shape(`{"sessions": [`+session1+`]}`).check(t, "/sessions", a.body)
		var list struct{ Sessions []object }
		a.into(t, &list)
		for _, s := range list.Sessions {
			if id, _ := s["session_id"].(float64); !seen[int(id)] || s["state"] != "running" || s["project_path"] != project {
				t.Errorf("%v lists %v", d, s)
			}
		}
		if len(list.Sessions) != len(given) {
			t.Errorf("%v lists %s", d, a.body)
		}
	}
	for i, s := range given {
		tree := treeOf(s.ID)
		if len(tree) < 2 {
			t.Errorf("session %d has no child: %v", s.ID, tree)
		}
		if i == 1 { // by itself
			must(t, syscall.Kill(s.ID, syscall.SIGKILL))
			gone(t, tree...) // else its child is what is terminated
			home.exactly(t, page, "/release-session", releaseBody(s.ID), http.StatusOK, fmt.Sprintf(`{"status":"already_gone","session_id":%d}`, s.ID))
		} else {
			home.release(t, s)
		}
		// All has gone when the answer is there; nothing is waited for.
		for _, pid := range tree {
			if alive(pid) {
				t.Errorf("%d of session %d runs still", pid, s.ID)
			}
		}
		if !refuses(s.Port) {
			t.Errorf("session %d: port %d still takes connections", s.ID, s.Port)
		}
		home.exactly(t, sessions, "/release-session", releaseBody(s.ID), http.StatusNotFound, noID)
		for _, other := range given[i+1:] {
			if !alive(other.ID) || refuses(other.Port) {
				t.Errorf("session %d went with %d", other.ID, s.ID)
			}
		}
	}
	if left := servers(project); len(left) != 0 {
		t.Errorf("these run still: %v", left)
	}
}

// What is wrong is refused with R1's words, whatever is wrong about it.
func TestSessionsRefused(t *testing.T) {
	project := home.project("refused")
	file := filepath.Join(project, "file")
	write(t, file, "")
	body := requestBody(project)
	for _, bad := range []string{
		``, `null`, `[]`, `{}`, `{`, `"x"`, `{"project_path": null}`, `{"project_path": ""}`, `{"project_path": 5}`, `{"project_path": [` + body + `]}`,
		body + ` {}`, strings.Replace(body, "project_path", "Project_Path", 1), strings.TrimSuffix(body, "}") + `, "project_path": "/"}`,
		requestBody("relative"), requestBody("~"), requestBody("."), requestBody(file), requestBody(project + "/none"), requestBody("/dev/null"),
	} {
		for _, d := range []door{sessions, page} {
			home.exactly(t, d, "/request-session", bad, http.StatusBadRequest, noPath)
		}
	}
	for _, bad := range []string{
		``, `null`, `[]`, `{}`, `{`, releaseBody("null"), releaseBody(`"1"`), releaseBody("1.5"), releaseBody("-1"), releaseBody("0"), releaseBody("1"),
		releaseBody("99999999999999999999"), releaseBody(os.Getpid()), releaseBody(home.daemon.pid()), releaseBody(alpha.pid), `{"session_id": 1, "session_id": 2}`,
	} {
		for _, d := range []door{sessions, page} {
			home.exactly(t, d, "/release-session", bad, http.StatusNotFound, noID)
		}
	}
	checkFailure(t, ask(t, sessions, "POST", "/request-session", strings.TrimSuffix(body, "}")+`, "server": "none"}`, nil), http.StatusNotFound, "a server that no settings have")
	if !alive(alpha.pid) || len(servers(project)) != 0 {
		t.Error("something was started or ended")
	}
}

// The path arrives as it is, whatever is in it.
func TestSessionsOfStrangeProjects(t *testing.T) {
	for _, name := range []string{"-rf", "two  words", "é🔥", `a"b\c`, "$HOME", "*", "{project}"} {
		s := home.request(t, home.project(name))
		if pid := only(t, home.project(name)); pid != s.ID {
			t.Errorf("%q is served by %d, want %d", name, pid, s.ID)
		}
		home.release(t, s)
	}
}

// A server that does not start leaves nothing, and the answer has what was
// tried and what it printed.
func TestSessionsThatFail(t *testing.T) {
	project := home.project("fails")
	habits(t, project, "fail child")
	a := ask(t, sessions, "POST", "/request-session", requestBody(project), nil)
	checkFailure(t, a, http.StatusInternalServerError, "a server that fails")
	for _, part := range []string{"the stand-in was told to fail", home.path("bin", serena)} {
		if !strings.Contains(string(a.body), part) {
			t.Errorf("%q is not in %s", part, a.body)
		}
	}
	if left, list := servers(project), get(t, "/sessions"); len(left) != 0 || strings.Contains(string(list.body), project) {
		t.Errorf("these run still: %v; listed are %s", left, list.body)
	}
}

// So does one that reports no port in time.
func TestSessionsThatTimeOut(t *testing.T) {
	w := another(t, "session_start_seconds: 1\n")
	mute := w.project("mute")
	habits(t, mute, "mute child")
	must(t, w.startDaemon(sessions))
	children := func() []int { return processesOf("\x00/bin/sleep\x001000\x00") }
	before := children()
	checkFailure(t, w.ask(t, sessions, "POST", "/request-session", requestBody(mute), nil), http.StatusInternalServerError, "a server that never listens")
	if left := servers(mute); len(left) != 0 || !slices.Equal(before, children()) {
		t.Errorf("after the time-out these run still: %v %v", left, children())
	}
}

// While another program has 8888, sessions are had on the page's port alone, and
// the user is told.
func TestSessionPortTaken(t *testing.T) {
	w := another(t, "")
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.sessions)))
	must(t, err)
	defer l.Close()
	must(t, w.startDaemon(page))
	eventually(t, "it is told", func() bool { return strings.Contains(w.warnings(t), strconv.Itoa(w.sessions)) })
	w.sessions = w.page
	w.release(t, w.request(t, w.project("taken")))
}

// All sessions end with the daemon, however that ends. There is a limit.
func TestSessionsEndWithTheDaemon(t *testing.T) {
	w := another(t, "session_limit: 2\n")
	project := w.project("plain")
	habits(t, project, "child stubborn")
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		must(t, w.startDaemon(sessions))
		one, two := w.request(t, project), w.request(t, project)
		checkFailure(t, w.ask(t, sessions, "POST", "/request-session", requestBody(project), nil), http.StatusTooManyRequests, "one too many")
		trees := append(treeOf(one.ID), treeOf(two.ID)...)
		if len(trees) != 4 {
			t.Errorf("the trees are %v", trees)
		}
		must(t, w.daemon.cmd.Process.Signal(end))
		w.daemon.ends(t, map[syscall.Signal]int{syscall.SIGTERM: fine, syscall.SIGKILL: -1}[end])
		gone(t, trees...)
		eventually(t, "the ports refuse connections", func() bool { return refuses(one.Port) && refuses(two.Port) })
	}
}

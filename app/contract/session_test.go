//go:build contract && linux

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// The two errors of R1, to the letter.
const (
	noPath = `{"error":"Invalid or missing 'project_path'"}`
	noID   = `{"error":"Invalid or missing 'session_id'"}`
)

// granted is a session as it was given.
type granted struct {
	ID   int `json:"session_id"`
	Port int
}

func pathBody(project string) string { return `{"project_path": ` + jsonOf(project) + `}` }
func idBody(id any) string           { return fmt.Sprintf(`{"session_id": %v}`, id) }

// exactly asks and wants this answer to the letter.
func (w *world) exactly(t testing.TB, d door, path, body string, status int, want string) {
	t.Helper()
	a := w.ask(d, "POST", path, body, nil)
	got := string(bytes.TrimSpace(a.body))
	check(t, a.status == status && got == want, "%s with %.200s: %d %s, want %d %s", path, body, a.status, got, status, want)
}

// request asks for a session, which must be given.
func (w *world) request(t testing.TB, d door, project string) (s granted) {
	t.Helper()
	a := w.ask(d, "POST", "/request-session", pathBody(project), nil)
	_ = json.Unmarshal(a.body, &s) // then it is not what is wanted
	want := fmt.Sprintf(`{"session_id":%d,"host":"127.0.0.1","port":%d}`, s.ID, s.Port)
	if a.status != 201 || string(bytes.TrimSpace(a.body)) != want || !alive(s.ID) {
		t.Errorf("%d %s", a.status, a.body)
	}
	return s
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
// that ignore SIGTERM. The path arrives as it is, whatever is in it.
func TestSessions(t *testing.T) {
	project := home.project(t, `-rf two  words é🔥 a"b\c $HOME * {project}`, "child")
	given := make([]granted, 3)
	var all sync.WaitGroup
	for i, d := range []door{sessions, sessions, page} {
		all.Go(func() { given[i] = home.request(t, d, project) })
	}
	all.Wait()
	ids, ports := map[float64]bool{}, map[int]bool{}
	for _, s := range given {
		ids[float64(s.ID)], ports[s.Port] = true, true
		a := (&world{page: s.Port}).ask(page, "POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_current_config"}}`, nil)
		config := jsonOf(fmt.Sprintf("Active project: %s, process %d", project, s.ID))
		apptest.Contains(t, string(a.body), config)
	}
	if len(ids) != len(given) || len(ports) != len(given) {
		t.Fatalf("two sessions have something in common: %v", given)
	}
	for _, d := range []door{sessions, page, control} {
		a := home.ask(d, "GET", "/sessions", "", nil)
		fits(t, "/sessions", "sessions", a.body)
		list := a.list("sessions")
		same(t, "so many are listed", len(list), len(given))
		for _, s := range list {
			id, _ := s["session_id"].(float64)
			check(t, ids[id] && s["state"] == "running" && s["project_path"] == project, "%s lists %v", d, s)
		}
	}
	for i, s := range given {
		tree := treeOf(s.ID)
		same(t, "so many processes are in the tree", len(tree), 2)
		status := "terminated"
		if i == 1 { // it has ended by itself
			status = "already_gone"
			must(t, syscall.Kill(s.ID, syscall.SIGKILL))
			gone(t, tree...) // else its child is what is terminated
		}
		home.exactly(t, []door{sessions, page, page}[i], "/release-session", idBody(s.ID), 200, fmt.Sprintf(`{"status":%q,"session_id":%d}`, status, s.ID))
		// All has gone when the answer is there; nothing is waited for.
		living(t, false, "after its release", tree...)
		check(t, refuses(s.Port), "port %d still takes connections", s.Port)
		home.exactly(t, sessions, "/release-session", idBody(s.ID), 404, noID)
		for _, other := range given[i+1:] {
			check(t, alive(other.ID) && !refuses(other.Port), "session %d went with %d", other.ID, s.ID)
		}
	}
	living(t, false, "in the end", servers(project)...)
}

// What is wrong is refused with R1's words, whatever is wrong about it.
func TestSessionsRefused(t *testing.T) {
	project := home.project(t, "refused")
	file := filepath.Join(project, "file")
	write(t, file, "")
	body := pathBody(project)
	open := strings.TrimSuffix(body, "}")
	for _, d := range []door{sessions, page} {
		for _, bad := range []string{
			``, `null`, `[]`, `{}`, `{`, `"x"`, `{"project_path": null}`, `{"project_path": ""}`, `{"project_path": 5}`, `{"project_path": [` + body + `]}`,
			body + ` {}`, strings.Replace(body, "project_path", "Project_Path", 1), open + `, "project_path": "/"}`,
			pathBody("relative"), pathBody("~"), pathBody("."), pathBody(file), pathBody(project + "/none"), pathBody("/dev/null"),
		} {
			home.exactly(t, d, "/request-session", bad, 400, noPath)
		}
		for _, bad := range []string{
			``, `null`, `[]`, `{}`, `{`, idBody("null"), idBody(`"1"`), idBody("1.5"), idBody("-1"), idBody("0"), idBody("1"),
			idBody("99999999999999999999"), idBody(os.Getpid()), idBody(home.daemon.pid()), idBody(alpha.pid()), `{"session_id": 1, "session_id": 2}`,
		} {
			home.exactly(t, d, "/release-session", bad, 404, noID)
		}
	}
	home.ask(sessions, "POST", "/request-session", open+`, "server": "none"}`, nil).fails(t, 404, "a server that no settings have")
	check(t, alpha.running() && len(servers(project)) == 0, "something was started or ended")
}

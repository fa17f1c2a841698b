package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// The life of a session, with each answer to the letter.
func TestSessionFromRequestToRelease(t *testing.T) {
	t.Parallel()
	m := newManager(t, acmeSettings(t))
	project := projectDir(t, "alpha")
	first, second := m.request(t, project), m.request(t, project)
	if first.ID == second.ID || first.Port == second.Port {
		t.Fatalf("%+v and %+v are the same", first, second)
	}
	for _, s := range []asked{first, second} {
		if w := s.where(t); w.PID != s.ID || w.Dir == project || !slices.Contains(w.Args, project) {
			t.Errorf("session %d is %d, in %s, with %q", s.ID, w.PID, w.Dir, w.Args)
		}
	}
	list := m.sessions(t)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for i, s := range []asked{first, second} {
		got := list[i]
		if got.SessionID == nil || *got.SessionID != s.ID || got.Port == nil || *got.Port != s.Port || got.Host != "127.0.0.1" || got.State != "running" ||
			got.ProjectPath != project || got.Server != "acme" || got.MCPURL != fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port) {
			t.Errorf("%+v is listed as %+v", s, got)
		}
		if _, err := time.Parse(time.RFC3339, got.StartedAt); err != nil || got.AskedBy == nil || got.AskedBy.PID != os.Getpid() || got.AskedBy.Name == "" {
			t.Errorf("started %s, asked by %+v", got.StartedAt, got.AskedBy)
		}
	}
	// The same by the global dashboard's port.
	if status, _, body := fetch(t, strings.TrimSuffix(pageAt(m.page), "global-dashboard/")+"sessions"); status != http.StatusOK || strings.Count(body, `"session_id"`) != 2 {
		t.Errorf("%d %s", status, body)
	}

	m.release(t, first)
	m.expect(t, "/release-session", releaseBody(first.ID), http.StatusNotFound, noID)
	if !alive(second.ID) || !second.listens() {
		t.Error("the other one has gone too")
	}
	// One that has ended by itself.
	if err := syscall.Kill(second.ID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it has ended", func() bool { return !alive(second.ID) })
	m.expect(t, "/release-session", releaseBody(second.ID), http.StatusOK, released("already_gone", second.ID))
	// What is no session is left alone, whoever it is.
	for _, pid := range []int{os.Getpid(), os.Getppid(), m.run.cmd.Process.Pid, 1, 0, -1, 1 << 30} {
		m.expect(t, "/release-session", releaseBody(pid), http.StatusNotFound, noID)
	}
	if !m.run.running() || len(m.sessions(t)) != 0 {
		t.Error("lamplighter has gone, or lists what has")
	}
	m.nothingLeft(t)
}

func TestSessionBadInput(t *testing.T) {
	t.Parallel()
	m := newManager(t, acmeSettings(t))
	dir := projectDir(t, "here")
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink("nowhere", filepath.Join(dir, "dangling")), os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(dir)
	path := string(quoted)
	for _, body := range []string{
		``, ` `, `null`, `[]`, `"` + dir + `"`, `42`, `true`, `{}`, `{`, `}`, `{"project_path"`, `{"project_path":`, `{"project_path":}`, "\x00", "\xff\xfe",
		`{"project_path":null}`, `{"project_path":""}`, `{"project_path":" "}`, `{"project_path":5}`, `{"project_path":[` + path + `]}`, `{"project_path":{}}`, `{"project_path":true}`,
		`{"project_path":` + path + `} {}`, `{"project_path":` + path + `}x`, `{"project_path":` + path + `,}`,
		`{"project_path":` + path + `,"colour":"red","project_path":` + path + `}`, `{"Project_Path":` + path + `}`,
		`{"project_path":` + path + `,"server":7}`,
		`{"projectPath":` + path + `}`, `{'project_path':'/'}`, `project_path=/`,
		requestBody("."), requestBody("./here"), requestBody("here"), requestBody(".."), requestBody("~"), requestBody("$HOME"), requestBody("file://" + dir),
		requestBody(dir + "/none"), requestBody(file), requestBody(file + "/"), requestBody(dir + "/dangling"), requestBody(dir + "/loop"), requestBody("/dev/null"), requestBody("/proc/self/fd/0"),
		requestBody(dir + "\x00"), requestBody(dir + "\n"), requestBody(dir + strings.Repeat("/x", 5000)), requestBody("/" + strings.Repeat("x", 300)), requestBody(strings.Repeat("/", 5000)),
		strings.Repeat("[", 100_000), requestBody(strings.Repeat("x", 900_000)),
	} {
		m.expect(t, "/request-session", body, http.StatusBadRequest, noPath)
	}
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `{`, `{"session_id":null}`, `{"session_id":"1"}`, `{"session_id":1.5}`, `{"session_id":1e99}`, `{"session_id":99999999999999999999}`, `{"session_id":[1]}`,
		`{"session_id":-1}`, `{"session_id":0}`, `{"session_id":true}`, `{"session_id":1,"session_id":1}`, `{"session_id":1} {}`, `{"session_id":1,"force":true}`, `{"Session_ID":1}`, "\x00",
	} {
		m.expect(t, "/release-session", body, http.StatusNotFound, noID)
	}
	if list := m.sessions(t); len(list) != 0 || len(m.servers()) != 0 {
		t.Errorf("%+v, and these run: %v", list, m.servers())
	}
	// It is none the worse for that, and passes over what it does not know.
	m.release(t, m.request(t, dir))
	status, answer, err := post(t.Context(), m.at("/request-session"), `{"colour":"red","project_path":`+path+`,"Project_Path":"/"}`)
	s, why := given(status, answer)
	if err != nil || why != nil {
		t.Fatalf("%v, %v", err, why)
	}
	m.expect(t, "/release-session", fmt.Sprintf(`{"session_id":%d,"force":true}`, s.ID), http.StatusOK, released("terminated", s.ID))
}

// Directories that exist are taken, whatever they are called, and the server
// gets their name unharmed.
func TestSessionStrangeProjects(t *testing.T) {
	t.Parallel()
	m := newManager(t, acmeSettings(t))
	top := t.TempDir()
	deep := top
	for len(deep) < 3800 {
		deep = filepath.Join(deep, strings.Repeat("d", 100))
	}
	names := []string{"with two  spaces", ` lead and trail `, `quo'te"s`, "new\nline", "tab\t", "ünï 街の灯り 🏮", "-rf", "--project", "$HOME `id` $(id)", "{port}", "a;b&c|d", `back\slash`, "%41", "\x7f\x1b[31m"}
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(top, name))
	}
	paths = append(paths, deep)
	for _, path := range paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink("-rf", link); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{link + "/": link, top + "/./-rf//../link": link}
	for _, path := range append(paths, link, link+"/", top+"/./-rf//../link") {
		s := m.request(t, path)
		cleaned := path
		if to, different := want[path]; different {
			cleaned = to
		}
		if w := s.where(t); !slices.Contains(w.Args, cleaned) {
			t.Errorf("%q: the server got %q", path, w.Args)
		}
		if list := m.sessions(t); len(list) != 1 || list[0].ProjectPath != cleaned {
			t.Errorf("%q: listed as %+v", path, list)
		}
		m.release(t, s)
	}
}

// raw sends a request as it is, and returns the status of the answer.
func raw(t *testing.T, port int, text string) int {
	t.Helper()
	conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%v to %s", err, excerptOf(text))
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Pages of others, other names and other users are refused, and there is
// nothing here but sessions.
func TestSessionGuards(t *testing.T) {
	t.Parallel()
	m := newManager(t, acmeSettings(t))
	body := requestBody(projectDir(t, "alpha"))
	asks := func(host string, header ...string) string {
		lines := append([]string{"POST /request-session HTTP/1.1", "Host: " + host, fmt.Sprintf("Content-Length: %d", len(body))}, header...)
		return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
	}
	ours := fmt.Sprintf("127.0.0.1:%d", m.port)
	const isJSON = "Content-Type: application/json"
	for _, test := range []struct {
		text string
		want int
	}{
		{asks("evil.example", isJSON), 403},
		{asks(fmt.Sprintf("evil.example:%d", m.port), isJSON), 403},
		{asks("127.0.0.1", isJSON), 403},
		{asks(fmt.Sprintf("127.0.0.1:%d", m.page), isJSON), 403},
		{asks(ours, isJSON, "Origin: http://evil.example"), 403},
		{asks(ours, isJSON, "Origin: null"), 403},
		{asks(ours, isJSON, fmt.Sprintf("Origin: http://127.0.0.1:%d", m.page)), 403},
		{asks(ours, isJSON, "Sec-Fetch-Site: cross-site"), 403},
		{asks(ours, isJSON, "Sec-Fetch-Site: same-site"), 403},
		{asks(ours, "Content-Type: text/plain"), 400},
		{asks(ours, "Content-Type: application/x-www-form-urlencoded"), 400},
		{asks(ours), 400},
		{"GET /sessions HTTP/1.1\r\nHost: " + ours + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n", 403},
		{"POST /request-session HTTP/1.1\r\nHost: " + ours + "\r\n" + isJSON + "\r\nContent-Length: 2000000\r\n\r\n", 413},
		{"GET /request-session HTTP/1.1\r\nHost: " + ours + "\r\n\r\n", 405},
		{"PUT /release-session HTTP/1.1\r\nHost: " + ours + "\r\n\r\n", 405},
		{"OPTIONS /request-session HTTP/1.1\r\nHost: " + ours + "\r\nOrigin: http://evil.example\r\n\r\n", 403},
		{"GET /sessions HTTP/1.1\r\nHost: localhost:" + fmt.Sprint(m.port) + "\r\n\r\n", 200},
	} {
		if got := raw(t, m.port, test.text); got != test.want {
			t.Errorf("%d, want %d, for\n%s", got, test.want, test.text)
		}
	}
	for _, path := range []string{
		"/", "/global-dashboard", "/global-dashboard/", "/global-dashboard/instances", "/global-dashboard/stream", "/global-dashboard/events",
		"/global-dashboard/status", "/global-dashboard/assets/main.js", "/metrics", "/mcp", "/show", "/sessions/", "/favicon.ico", "/request-session/x",
	} {
		if status, _, body := fetch(t, m.at(path)); status != http.StatusNotFound {
			t.Errorf("GET %s: %d %s", path, status, excerptOf(body))
		}
	}
	if status, _, _ := post(t.Context(), m.at("/show"), ""); status != http.StatusNotFound {
		t.Errorf("POST /show: %d", status)
	}
	if status, _, answer := fetch(t, m.at("/health")); status != http.StatusOK || !strings.Contains(answer, `"program":"lamplighter"`) {
		t.Errorf("GET /health: %d %s", status, answer)
	}
	m.refusesOthers(t)
	if list := m.sessions(t); len(list) != 0 || len(m.servers()) != 0 {
		t.Errorf("%+v, and these run: %v", list, m.servers())
	}
}

// refusesOthers tries as a real other user. Only root can become one.
func (m *manager) refusesOthers(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const asks = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).status)"
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("%v: install python3", err)
	}
	other := exec.Command(python, "-I", "-c", asks, m.at("/sessions"))
	other.Dir, other.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := other.CombinedOutput(); err == nil || strings.Contains(string(out), "200") {
		t.Errorf("another user got %v %s", err, out)
	}
	ours := exec.Command(python, "-I", "-c", asks, m.at("/sessions"))
	if out, err := ours.CombinedOutput(); err != nil || string(out) != "200\n" {
		t.Errorf("we got %v %s", err, out)
	}
}

// together does something n times at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func TestSessionLimit(t *testing.T) {
	t.Parallel()
	const limit, requests = 3, 9
	m := newManager(t, fmt.Sprintf("session_limit: %d\n", limit)+acmeSettings(t))
	project := projectDir(t, "alpha")
	var mu sync.Mutex
	var got []asked
	together(requests, func(int) {
		status, answer, err := post(t.Context(), m.at("/request-session"), requestBody(project))
		mu.Lock()
		defer mu.Unlock()
		s, why := given(status, answer)
		switch {
		case why == nil:
			got = append(got, s)
		case err != nil || status != http.StatusTooManyRequests || !strings.Contains(answer, fmt.Sprint(limit)) || !strings.Contains(answer, "session_limit"):
			t.Errorf("%v, %v", why, err)
		}
	})
	if len(got) != limit || len(m.sessions(t)) != limit {
		t.Fatalf("%d sessions, %d listed", len(got), len(m.sessions(t)))
	}
	m.release(t, got[0])
	m.request(t, project)
}

func TestSessionFiftyAtOnce(t *testing.T) {
	t.Parallel()
	const n = 50
	m := newManager(t, fmt.Sprintf("session_limit: %d\n", n)+acmeSettings(t))
	project := projectDir(t, "alpha")
	all := make([]asked, n)
	together(n, func(i int) {
		var err error
		if all[i], err = m.tries(t.Context(), project); err != nil {
			t.Error(err)
		}
	})
	pids, ports := make(map[int]bool), make(map[int]bool)
	for _, s := range all {
		pids[s.ID], ports[s.Port] = true, true
	}
	if t.Failed() || len(pids) != n || len(ports) != n || len(m.sessions(t)) != n {
		t.Fatalf("%d pids, %d ports, %d listed", len(pids), len(ports), len(m.sessions(t)))
	}
	together(n, func(i int) {
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

// starting is a request that waits: the server holds on until open is called.
func (m *manager) starting(t *testing.T, ctx context.Context, project string) (pid int, answer <-chan error, got *asked) {
	t.Helper()
	done, s := make(chan error, 1), new(asked)
	go func() {
		var err error
		*s, err = m.tries(ctx, project)
		done <- err
	}()
	apptest.Eventually(t, "a session starts", func() bool {
		list, pids := m.sessions(t), m.running("--gate")
		if len(list) != 1 || list[0].State != "starting" || list[0].SessionID != nil {
			return false
		}
		for _, candidate := range pids {
			if strings.HasSuffix(strings.Fields(commandLine(candidate) + " x")[0], ".test") {
				pid = candidate
			}
		}
		return pid != 0
	})
	return pid, done, s
}

func TestSessionWhileItStarts(t *testing.T) {
	t.Parallel()
	project := projectDir(t, "alpha")
	gate := filepath.Join(t.TempDir(), "gate")
	m := newManager(t, acmeSettings(t, "--gate", gate))

	// It has no id yet, so nobody can release it.
	pid, answer, s := m.starting(t, t.Context(), project)
	m.expect(t, "/release-session", releaseBody(pid), http.StatusNotFound, noID)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil || s.ID != pid {
		t.Fatalf("%v, session %d, want %d", err, s.ID, pid)
	}
	m.release(t, *s)
	m.nothingLeft(t)

	// Who asked goes away: nobody would ever know of it.
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	_, answer, _ = m.starting(t, ctx, project)
	leave()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m.nothingLeft(t)
	apptest.Eventually(t, "none is listed", func() bool { return len(m.sessions(t)) == 0 })

	// Lamplighter ends.
	_, answer, _ = m.starting(t, t.Context(), project)
	m.ends(t, syscall.SIGTERM)
	if err := <-answer; err == nil {
		t.Error("a session was given")
	}
	if code := m.run.status(t); code != 0 {
		t.Errorf("exit status %d: %s", code, m.run.err.String())
	}
	m.nothingLeft(t)
}

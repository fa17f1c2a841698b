package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/app/payload"
	"lamplighter/app/session"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// sessions is a SessionManager that answers as it is told and notes what it is
// asked.
type sessions struct {
	given  session.Session
	status session.Status
	err    error
	list   []session.Session
	held   chan struct{} // if not nil, Request waits for it or its client's end

	mu       sync.Mutex
	asked    []session.Request
	askers   []monitor.Client
	released []int
	by       []string
	gone     int // clients that went away
}

func (s *sessions) Request(ctx context.Context, r session.Request) (session.Session, error) {
	asker := r.AskedBy()
	s.mu.Lock()
	s.asked, s.askers = append(s.asked, r), append(s.askers, asker)
	s.mu.Unlock()
	if s.held != nil {
		select {
		case <-s.held:
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			s.gone++
			return session.Session{}, session.ErrNotWanted
		}
	}
	return s.given, s.err
}

func (s *sessions) Release(_ context.Context, id int, by string) (session.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released, s.by = append(s.released, id), append(s.by, by)
	return s.status, s.err
}

func (s *sessions) List() []session.Session { return s.list }

func (s *sessions) count() (asked, released, gone int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked), len(s.released), s.gone
}

// withSessions are the routes with a manager.
func withSessions(s *sessions) Parts {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	if s != nil {
		p.Sessions = s
	}
	return p
}

const isJSON = "application/json"

// Users gave the answers to the letter.
func TestSessionAnswers(t *testing.T) {
	const request, release = "/request-session", "/release-session"
	const path, id = `{"project_path":"/p"}`, `{"session_id":4711}`
	noPath, noID := `{"error":"Invalid or missing 'project_path'"}`, `{"error":"Invalid or missing 'session_id'"}`
	for name, test := range map[string]struct {
		route, body string
		manager     *sessions
		status      int
		answer      string
	}{
		"given":         {request, path, &sessions{given: session.Session{ID: 4711, Port: 40000, MCPURL: "x"}}, 201, `{"session_id":4711,"host":"127.0.0.1","port":40000}`},
		"bad path":      {request, path, &sessions{err: fmt.Errorf("%w: it is a file", session.ErrBadPath)}, 400, noPath},
		"no path":       {request, `{}`, &sessions{}, 400, noPath},
		"no body":       {request, ``, &sessions{}, 400, noPath},
		"start fails":   {request, path, &sessions{err: &launch.StartError{Server: "serena", Why: "it said \u202e"}}, 500, `{"error":"starting serena: it said \u202e"}`},
		"no such":       {request, path, &sessions{err: fmt.Errorf("%w: %q", session.ErrNoServer, "x")}, 404, `{"error":"no such server in the settings: \"x\""}`},
		"too many":      {request, path, &sessions{err: &session.TooMany{Live: 20, Limit: 20}}, 429, `{"error":"the limit of 20 sessions is reached; release one, or set session_limit to more"}`},
		"ending":        {request, path, &sessions{err: session.ErrEnding}, 503, `{"error":"lamplighter is ending; ask again when it runs"}`},
		"given up":      {request, path, &sessions{err: session.ErrNotWanted}, 503, `{"error":"the connection was closed before the server was ready, so it is not started, or ended again; keep it open until the answer"}`},
		"terminated":    {release, id, &sessions{status: session.Terminated}, 200, `{"status":"terminated","session_id":4711}`},
		"already gone":  {release, id, &sessions{status: session.AlreadyGone}, 200, `{"status":"already_gone","session_id":4711}`},
		"unknown":       {release, id, &sessions{err: session.ErrUnknown}, 404, noID},
		"no id":         {release, `{}`, &sessions{}, 404, noID},
		"no body at it": {release, ``, &sessions{}, 404, noID},
		"survived":      {release, id, &sessions{err: errors.New("something of it still runs")}, 500, `{"error":"releasing session 4711: something of it still runs"}`},
		"closed":        {release, id, &sessions{err: context.Canceled}, 503, `{"error":"the connection was closed before all of session 4711 had gone; it is ended all the same"}`},
		"ending then":   {release, id, &sessions{err: session.ErrEnding}, 503, `{"error":"lamplighter is ending; ask again when it runs"}`},
		"too long":      {request, `{"project_path":"` + strings.Repeat("x", payload.Max) + `"}`, &sessions{}, 413, `{"error":"the body is longer than 1048576 bytes"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for place, h := range map[string]http.Handler{"beside all others": Handler(withSessions(test.manager)), "alone": SessionHandler(withSessions(test.manager))} {
				w := httptest.NewRecorder()
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, test.route, strings.NewReader(test.body))
				req.Header.Set("Content-Type", isJSON)
				h.ServeHTTP(w, req)
				want := strings.ReplaceAll(test.answer, "\u202e", `\u202e`) + "\n"
				if w.Code != test.status || w.Body.String() != want || w.Header().Get("Content-Type") != isJSON {
					t.Errorf("%s: %d %s\nwant %d %s", place, w.Code, w.Body, test.status, want)
				}
			}
		})
	}
}

func TestSessionsAreListed(t *testing.T) {
	client := monitor.Client{Identity: monitor.Identity{PID: 7, Start: 8}, Name: "Claude Code"}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	list := []session.Session{
		{State: session.StateStarting, ProjectPath: "/a", Server: "serena", StartedAt: at},
		{ID: 5, State: session.StateRunning, ProjectPath: "/b\u202e", Server: "x", Port: 40000, DashboardPort: 24282, MCPURL: "http://127.0.0.1:40000/mcp", StartedAt: at, AskedBy: &client},
	}
	const want = `{"sessions":[` +
		`{"session_id":null,"host":"127.0.0.1","port":null,"state":"starting","project_path":"/a","server":"serena","mcp_url":null,"dashboard_url":null,"started_at":"2026-11-20T12:00:00Z","asked_by":null},` +
		`{"session_id":5,"host":"127.0.0.1","port":40000,"state":"running","project_path":"/b\u202e","server":"x","mcp_url":"http://127.0.0.1:40000/mcp",` +
		`"dashboard_url":"http://127.0.0.1:24282/dashboard/index.html","started_at":"2026-11-20T12:00:00Z","asked_by":{"pid":7,"name":"Claude Code"}}]}` + "\n"
	for _, h := range []http.Handler{Handler(withSessions(&sessions{list: list})), SessionHandler(withSessions(&sessions{list: list}))} {
		if w := try(t, h, http.MethodGet, "/sessions", ""); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%d %s\nwant %s", w.Code, w.Body, want)
		}
	}
	if w := try(t, Handler(withSessions(&sessions{})), http.MethodGet, "/sessions", ""); w.Body.String() != `{"sessions":[]}`+"\n" {
		t.Errorf("none: %s", w.Body)
	}
	w := try(t, Handler(withSessions(&sessions{list: list})), http.MethodGet, "/metrics", "")
	apptest.Contains(t, w.Body.String(), `lamplighter_sessions{state="starting"} 1`, `lamplighter_sessions{state="running"} 1`, `lamplighter_sessions{state="ending"} 0`)
}

// Who asks is the process at the other end, over both listeners, under the name
// that people call it.
func TestWhoAsksForASession(t *testing.T) {
	manager := &sessions{given: session.Session{ID: 1, Port: 2}}
	h := Handler(withSessions(manager))
	site := serveWeb(t, h, nil)
	cmd := helper(t, "request", "http://"+site.at(t)+"/request-session")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "201\n" {
		t.Fatalf("%v: %s", err, out)
	}
	srv := serve(t, newModel(), shower{}, func(o *Options) { o.Handler = h })
	if _, err := srv.dial(t).RequestSession(t.Context(), SessionOrder{ProjectPath: "/p", Server: "s"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	self, err := process.Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	first, second := manager.asked[0], manager.asked[1]
	if c := manager.askers[0]; c.PID != cmd.Process.Pid || c.Start == 0 || !strings.HasPrefix(c.Name, "api.test") || first.ProjectPath != "/p" {
		t.Errorf("by TCP: %+v, %+v", first, c)
	}
	if c := manager.askers[1]; c.Identity != self.Identity || second.ProjectPath != "/p" || second.Server != "s" {
		t.Errorf("by the socket: %+v, %+v", second, c)
	}
}

// openRequest sends a request over a connection of its own, and no more.
func openRequest(t *testing.T, address, route, body string) net.Conn {
	t.Helper()
	conn := connect(t, address)
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", route, address, len(body), body)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A client that goes away while its server starts is noticed.
func TestSessionClientGoesAway(t *testing.T) {
	manager := &sessions{held: make(chan struct{})}
	s := serveWeb(t, SessionHandler(withSessions(manager)), nil)
	conn := openRequest(t, s.at(t), "/request-session", `{"project_path":"/p"}`)
	apptest.Eventually(t, "it is asked", func() bool { asked, _, _ := manager.count(); return asked == 1 })
	conn.Close()
	apptest.Eventually(t, "it is given up", func() bool { _, _, gone := manager.count(); return gone == 1 })
}

// unwritable is a connection that has gone when the answer is written.
type unwritable struct{ *httptest.ResponseRecorder }

func (unwritable) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A session whose answer is not taken is released: nobody knows of it.
func TestSessionAnswerNotTaken(t *testing.T) {
	manager := &sessions{given: session.Session{ID: 4711, Port: 1}}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/request-session", strings.NewReader(`{"project_path":"/p"}`))
	req.Header.Set("Content-Type", isJSON)
	SessionHandler(withSessions(manager)).ServeHTTP(unwritable{httptest.NewRecorder()}, req)
	if !slices.Equal(manager.released, []int{4711}) || manager.by[0] != "its client has gone" {
		t.Errorf("released %v by %q", manager.released, manager.by)
	}
	// One that takes it and goes at once keeps it.
	s := serveWeb(t, SessionHandler(withSessions(manager)), nil)
	conn := openRequest(t, s.at(t), "/request-session", `{"project_path":"/p"}`)
	resp, body := receive(t, bufio.NewReader(conn))
	conn.Close()
	s.stop()
	if resp.StatusCode != http.StatusCreated || resp.ContentLength != int64(len(body)) || len(manager.released) != 1 {
		t.Errorf("%d %s, length %d, released %v", resp.StatusCode, body, resp.ContentLength, manager.released)
	}
}

// Fifty clients are served at once, each with a connection of its own.
func TestFiftySessionRequests(t *testing.T) {
	const n = 50
	manager := &sessions{given: session.Session{ID: 4711, Port: 1}, held: make(chan struct{})}
	s := serveWeb(t, SessionHandler(withSessions(manager)), nil)
	var conns []net.Conn
	for range n {
		conns = append(conns, openRequest(t, s.at(t), "/request-session", `{"project_path":"/p"}`))
	}
	apptest.Eventually(t, "all are asked", func() bool { asked, _, _ := manager.count(); return asked == n })
	if resp, _ := s.send(t, get("/sessions")); resp.StatusCode != 200 { // meanwhile
		t.Errorf("status %d", resp.StatusCode)
	}
	close(manager.held)
	for _, conn := range conns {
		if resp, body := receive(t, bufio.NewReader(conn)); resp.StatusCode != http.StatusCreated {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
}

func TestSessionClient(t *testing.T) {
	manager := &sessions{given: session.Session{ID: 5, Port: 6}, status: session.Terminated, list: []session.Session{{ID: 5, State: session.StateRunning}}}
	srv := serve(t, newModel(), shower{}, func(o *Options) { o.Handler = Handler(withSessions(manager)) })
	c := srv.dial(t)
	given, err := c.RequestSession(t.Context(), SessionOrder{ProjectPath: "/p"}, time.Minute)
	if err != nil || given != (SessionGiven{5, "127.0.0.1", 6}) {
		t.Errorf("%+v, %v", given, err)
	}
	list, err := c.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 1 || *list.Sessions[0].SessionID != 5 || list.Sessions[0].Port != nil {
		t.Errorf("%+v, %v", list, err)
	}
	released, err := c.ReleaseSession(t.Context(), 5)
	if err != nil || released != (SessionReleased{session.Terminated, 5}) || manager.by[0] != "the command line" {
		t.Errorf("%+v by %q, %v", released, manager.by, err)
	}
	manager.err = errors.New("it burnt")
	if _, err := c.RequestSession(t.Context(), SessionOrder{ProjectPath: "/p"}, time.Minute); err == nil || err.Error() != "it burnt" {
		t.Errorf("%v", err)
	}
	if _, err := c.ReleaseSession(t.Context(), 5); err == nil || err.Error() != "releasing session 5: it burnt" {
		t.Errorf("%v", err)
	}
	manager.err = session.ErrUnknown
	if _, err := c.ReleaseSession(t.Context(), 5); !errors.Is(err, ErrNoSession) {
		t.Errorf("%v", err)
	}
	manager.err, manager.held = nil, make(chan struct{})
	_, err = c.RequestSession(t.Context(), SessionOrder{ProjectPath: "/p"}, 10*time.Millisecond)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "nothing answers on") {
		t.Errorf("%v", err)
	}
}

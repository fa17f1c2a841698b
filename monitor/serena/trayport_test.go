package serena

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
)

// sink is a log that can be read while it is written.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// tray is an endpoint that is served, on any free port.
type tray struct {
	*TrayEndpoint
	port int
	log  *sink

	mu     sync.Mutex
	events []string
}

func (t *tray) note(kind string) func(Registration) {
	return func(r Registration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events = append(t.events, fmt.Sprintf("%s %d:%d %q", kind, r.Identity.PID, r.Port, r.Project))
	}
}

// await waits until the log holds some words.
func (s *sink) await(t *testing.T, words string) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(s.String(), words) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the log never says %q:\n%s", words, s)
		}
	}
}

func (t *tray) told() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}

// claimed believes every claim, except those of 404, which does not exist, and
// of 503, which does not listen.
func claimed(pid, _ int) (monitor.Identity, error) {
	switch pid {
	case 404:
		return monitor.Identity{}, errors.New("there is no process 404")
	case 503:
		return monitor.Identity{}, fmt.Errorf("it %w", ErrNotListening)
	}
	return monitor.Identity{PID: pid, Start: 1}, nil
}

func serveTray(t *testing.T, change func(*tray)) *tray {
	t.Helper()
	e := &tray{log: &sink{}}
	e.TrayEndpoint = NewTrayEndpoint(TrayOptions{
		Register:      e.note("register"),
		UpdateProject: e.note("update"),
		Unregister:    e.note("unregister"),
		OpenViewer:    e.note("open"),
		Owner:         claimed,
		Log:           slog.New(slog.NewTextHandler(e.log, nil)),
	})
	e.limits.Settle = 50 * time.Millisecond
	e.limits.Header, e.limits.Write = time.Minute, 2*time.Minute // our requests come whole, however slowly, and may wait
	if change != nil {
		change(e)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.port = l.Addr().(*net.TCPAddr).Port
	e.listen = func(context.Context) (net.Listener, error) { return l, nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return e
}

// send makes a request as Serena does, changed by change.
func (e *tray) send(t *testing.T, method, path, body string, change func(*http.Request)) (int, map[string]string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://127.0.0.1:%d%s", e.port, path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(req)
	}
	status, answer, err := ask(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, answer
}

// ask makes a request in a connection of its own.
func ask(req *http.Request) (status int, answer map[string]string, err error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && req.Method != http.MethodHead {
		err = json.Unmarshal(text, &answer)
	}
	return resp.StatusCode, answer, err
}

func registerBody(pid, port int, more string) string {
	return fmt.Sprintf(`{"port": %d, "pid": %d, "dashboard_url": "http://127.0.0.1:%[1]d/dashboard/index.html", "project": null, "started_at": "2026-11-20T22:51:52", "open_viewer": false%[3]s}`, port, pid, more)
}

func TestTrayLifeOfAnInstance(t *testing.T) {
	e := serveTray(t, nil)
	for _, c := range []struct{ method, path, body, status string }{
		{http.MethodGet, "/health", "", "alive"},
		{http.MethodPost, "/register", registerBody(7, 24282, ""), "registered"},
		{http.MethodPost, "/register", registerBody(7, 24282, ""), "registered"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": "alpha"}`, "updated"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": "alpha"}`, "updated"},
		{http.MethodPost, "/update_project", `{"port": 24283, "project": "beta"}`, "updated"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": null}`, "updated"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": {"name": "x"}}`, "updated"},
		{http.MethodPost, "/unregister", `{"port": 24283}`, "unregistered"},
		{http.MethodPost, "/unregister", `{"port": 24282}`, "unregistered"},
		{http.MethodPost, "/unregister", `{"port": 24282}`, "unregistered"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": "late"}`, "updated"},
		{http.MethodPost, "/register", registerBody(8, 24282, `, "project": "gamma"`), "registered"},
	} {
		if status, answer := e.send(t, c.method, c.path, c.body, nil); status != http.StatusOK || answer["status"] != c.status {
			t.Errorf("%s %s: %d %v", c.path, c.body, status, answer)
		}
	}
	want := []string{
		`register 7:24282 ""`, `update 7:24282 "alpha"`, `update 7:24282 ""`, `unregister 7:24282 ""`, `register 8:24282 "gamma"`,
	}
	if got := e.told(); !slices.Equal(got, want) {
		t.Errorf("told\n%q, want\n%q", got, want)
	}
}

func TestTrayRefuses(t *testing.T) {
	e := serveTray(t, nil)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	good := registerBody(7, 24282, "")
	const other = `{"port": 24282, "pid": 7, "dashboard_url": "%s", "started_at": ""}`
	for _, c := range []struct {
		name               string
		method, path, body string
		change             func(*http.Request)
		status             int
		why                string
	}{
		{"no such process", http.MethodPost, "/register", registerBody(404, 24282, ""), nil, 400, "no process 404"},
		{"port of somebody else", http.MethodPost, "/register", registerBody(503, 24282, ""), nil, 400, "does not listen there"},
		{"our own port", http.MethodPost, "/register", registerBody(7, e.port, ""), nil, 400, "own port"},
		{"address elsewhere", http.MethodPost, "/register", fmt.Sprintf(other, "http://evil.example:24282/"), nil, 400, "dashboard_url"},
		{"address with another port", http.MethodPost, "/register", fmt.Sprintf(other, "http://127.0.0.1:80/"), nil, 400, "port 24282"},
		{"nothing", http.MethodPost, "/register", "", nil, 400, "one JSON object"},
		{"greater than 64 KiB", http.MethodPost, "/register", registerBody(7, 24282, strings.Repeat(" ", maxTrayBody)), nil, 413, "greater than"},
		{"no type", http.MethodPost, "/register", good, func(r *http.Request) { r.Header.Del("Content-Type") }, 400, "Content-Type"},
		{"form", http.MethodPost, "/register", good, header("Content-Type", "text/plain"), 400, "Content-Type"},
		{"form for update", http.MethodPost, "/update_project", `{"port":1}`, header("Content-Type", "text/plain"), 400, "Content-Type"},
		{"update without port", http.MethodPost, "/update_project", `{"project":"x"}`, nil, 400, "port must be"},
		{"unregister without port", http.MethodPost, "/unregister", `[]`, nil, 400, "one JSON object"},
		{"page", http.MethodPost, "/register", good, header("Origin", "http://127.0.0.1:24224"), 403, "web pages"},
		{"page without origin", http.MethodGet, "/health", "", header("Sec-Fetch-Site", "none"), 403, "web pages"},
		{"empty origin", http.MethodPost, "/register", good, header("Origin", ""), 403, "web pages"},
		{"rebound name", http.MethodPost, "/register", good, host("rebound.example"), 403, "Host must be"},
		{"rebound name with port", http.MethodGet, "/health", "", host(fmt.Sprintf("rebound.example:%d", e.port)), 403, "Host must be"},
		{"other port", http.MethodGet, "/health", "", host("127.0.0.1:1"), 403, "Host must be"},
		{"method", http.MethodGet, "/register", "", nil, 405, "use POST"},
		{"method of health", http.MethodPost, "/health", "{}", nil, 405, "use GET, HEAD"},
		{"path", http.MethodGet, "/dashboard", "", nil, 404, "nothing"},
	} {
		if status, answer := e.send(t, c.method, c.path, c.body, c.change); status != c.status || !strings.Contains(answer["error"], c.why) {
			t.Errorf("%s: %d %v", c.name, status, answer)
		}
	}
	for _, host := range []string{"localhost", "[::1]", "127.0.0.1"} {
		change := func(r *http.Request) { r.Host = fmt.Sprintf("%s:%d", host, e.port) }
		if status, _ := e.send(t, http.MethodHead, "/health", "", change); status != http.StatusOK {
			t.Errorf("Host %s: %d", host, status)
		}
	}
	if status, answer := e.send(t, http.MethodPost, "/register", good, header("Content-Type", "application/json; charset=utf-8")); status != http.StatusOK {
		t.Errorf("with a charset: %d %v", status, answer)
	}
	if got := e.told(); len(got) != 1 {
		t.Errorf("told %q", got)
	}
	if n := strings.Count(e.log.String(), "refused a request"); n == 0 || n > 5 {
		t.Errorf("%d lines about refusals", n)
	}
}

// TestTrayRefusesPeers: they are not even listened to.
func TestTrayRefusesPeers(t *testing.T) {
	e := serveTray(t, func(e *tray) {
		e.options.Peer = func(local, remote netip.AddrPort) error {
			if int(local.Port()) != e.port || !remote.Addr().IsLoopback() {
				t.Errorf("connection from %v to %v", remote, local)
			}
			return errors.New("another user's")
		}
	})
	resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/register", e.port), "application/json", strings.NewReader(registerBody(7, 24282, "")))
	if err == nil {
		resp.Body.Close()
		t.Errorf("answered: %s", resp.Status)
	}
	if got := e.told(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	// It is closed first, and then told of.
	e.log.await(t, "another user's") // after the connection was closed
}

// TestTrayWaitsForThePort: an instance registers while it opens its port.
func TestTrayWaitsForThePort(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	e := serveTray(t, func(e *tray) {
		e.limits.Settle = time.Minute
		e.options.Owner = func(pid, _ int) (monitor.Identity, error) {
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries < 3 {
				return monitor.Identity{}, ErrNotListening
			}
			return monitor.Identity{PID: pid, Start: 1}, nil
		}
	})
	if status, answer := e.send(t, http.MethodPost, "/register", registerBody(7, 24282, ""), nil); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
}

func TestPortOwner(t *testing.T) {
	if _, err := PortOwner(os.Getpid(), 24282); err == nil || errors.Is(err, ErrNotListening) {
		t.Errorf("ourselves: %v", err)
	}
	if _, err := PortOwner(1<<30, 24282); err == nil || errors.Is(err, ErrNotListening) {
		t.Errorf("nobody: %v", err)
	}
}

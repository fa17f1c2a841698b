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
	"lamplighter/monitor/loopback"
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

func (t *tray) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, fmt.Sprintf(format, args...))
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
		Heard:      func(id monitor.Identity, port int) { e.note("heard %d:%d", id.PID, port) },
		OpenViewer: func(port int) { e.note("open %d", port) },
		Owner:      claimed,
		Log:        slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		// Our requests come whole, however slowly, and may wait.
		Limits: TrayLimits{Settle: 50 * time.Millisecond, Header: time.Minute, Write: 2 * time.Minute},
	})
	e.alive = func(monitor.Identity) bool { return true }
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

func TestTrayLifeOfAServer(t *testing.T) {
	e := serveTray(t, nil)
	for _, c := range []struct{ method, path, body, status string }{
		{http.MethodGet, "/health", "", "alive"},
		{http.MethodPost, "/register", registerBody(7, 24282, ""), "registered"},
		{http.MethodPost, "/update_project", `{"port": 24282, "project": "alpha"}`, "updated"},
		{http.MethodPost, "/update_project", `{"port": 24283, "project": "beta"}`, "updated"},
		{http.MethodPost, "/unregister", `{"port": 24283}`, "unregistered"},
		{http.MethodPost, "/unregister", `{"port": 24282}`, "unregistered"},
		{http.MethodPost, "/register", registerBody(8, 24282, `, "project": {"name": "x"}, "open_viewer": true`), "registered"},
		{http.MethodPost, "/unregister", `{"port": 24282}`, "unregistered"},
	} {
		if status, answer := e.send(t, c.method, c.path, c.body, nil); status != http.StatusOK || answer["status"] != c.status {
			t.Errorf("%s %s: %d %v", c.path, c.body, status, answer)
		}
	}
	want := []string{"heard 7:24282", "heard 7:24282", "heard 7:24282", "heard 8:24282", "open 24282", "heard 8:24282"}
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
		{"nothing", http.MethodPost, "/register", "", nil, 400, "one JSON object"},
		{"two objects", http.MethodPost, "/register", good + good, nil, 400, "one JSON object"},
		{"a fraction", http.MethodPost, "/register", `{"port": 24282.5, "pid": 7}`, nil, 400, "one JSON object"},
		{"a huge pid", http.MethodPost, "/register", `{"port": 24282, "pid": 1e99}`, nil, 400, "one JSON object"},
		{"greater than 64 KiB", http.MethodPost, "/register", registerBody(7, 24282, strings.Repeat(" ", maxTrayBody)), nil, 400, "too large"},
		{"no type", http.MethodPost, "/register", good, func(r *http.Request) { r.Header.Del("Content-Type") }, 400, "Content-Type"},
		{"form", http.MethodPost, "/update_project", `{"port":1}`, header("Content-Type", "text/plain"), 400, "Content-Type"},
		{"update without port", http.MethodPost, "/update_project", `{"project":"x"}`, nil, 400, "port must be"},
		{"port 65536", http.MethodPost, "/update_project", `{"port":65536}`, nil, 400, "port must be"},
		{"unregister an array", http.MethodPost, "/unregister", `[]`, nil, 400, "one JSON object"},
		{"page", http.MethodPost, "/register", good, header("Origin", "http://127.0.0.1:24224"), 403, "web pages"},
		{"page without origin", http.MethodGet, "/health", "", header("Sec-Fetch-Site", "none"), 403, "web pages"},
		{"empty origin", http.MethodPost, "/register", good, header("Origin", ""), 403, "web pages"},
		{"rebound name", http.MethodPost, "/register", good, host("rebound.example"), 403, "host must be"},
		{"rebound name with port", http.MethodGet, "/health", "", host(fmt.Sprintf("rebound.example:%d", e.port)), 403, "host must be"},
		{"other port", http.MethodGet, "/health", "", host("127.0.0.1:1"), 403, "host must be"},
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
}

// TestTrayRefusesPeers: they are not even listened to, and take no places, however
// many there are.
func TestTrayRefusesPeers(t *testing.T) {
	var mu sync.Mutex
	others := map[uint16]bool{}
	e := serveTray(t, func(e *tray) {
		e.options.Peer = func(local, remote netip.AddrPort) error {
			mu.Lock()
			defer mu.Unlock()
			if int(local.Port()) != e.port || !remote.Addr().IsLoopback() {
				t.Errorf("connection from %v to %v", remote, local)
			}
			if others[remote.Port()] {
				return errors.New("another user's")
			}
			return nil
		}
	})
	for range 3 * mostConnections {
		mu.Lock() // it is not asked about before it is known
		c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", e.port))
		if err != nil {
			t.Fatal(err)
		}
		others[uint16(c.LocalAddr().(*net.TCPAddr).Port)] = true
		mu.Unlock()
		defer c.Close()
	}
	if status, answer := e.send(t, http.MethodPost, "/register", registerBody(7, 24282, ""), nil); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
	e.log.await(t, "another user's")
}

// TestTrayWaitsForThePort: a server registers while it opens its port.
func TestTrayWaitsForThePort(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	e := serveTray(t, func(e *tray) {
		e.options.Limits.Settle = time.Minute
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

// TestOpensOnce follows one endpoint through a day.
func TestOpensOnce(t *testing.T) {
	e := NewTrayEndpoint(TrayOptions{})
	alive := map[int]bool{}
	e.alive = func(id monitor.Identity) bool { return alive[id.PID] }
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		at    time.Duration
		pid   int
		opens bool
		ended []int
		want  bool
	}{
		{0, 1, false, nil, false},
		{time.Second, 2, true, nil, true},
		{2 * time.Second, 2, true, nil, false},                          // again
		{3 * time.Second, 3, true, nil, false},                          // beside
		{time.Hour, 2, false, nil, false},                               // again, and wants none
		{time.Hour, 4, true, []int{3}, false},                           // beside, much later
		{2 * time.Hour, 5, true, []int{2, 4}, true},                     // nobody of those who asked is left
		{2*time.Hour + time.Minute, 6, true, []int{5}, false},           // too soon
		{2*time.Hour + 11*time.Minute, 6, true, nil, false},             // it has asked before
		{2*time.Hour + 12*time.Minute, 7, true, []int{6}, true},         // a new one
		{2*time.Hour + 12*time.Minute + 1, 8, true, []int{7, 1}, false}, // too soon
	} {
		alive[c.pid] = true
		for _, pid := range c.ended {
			delete(alive, pid)
		}
		m := trayMessage{Port: 24282 + c.pid, PID: c.pid, OpenViewer: c.opens}
		if opens := e.remember(monitor.Identity{PID: c.pid, Start: 1}, m, start.Add(c.at)); opens != c.want {
			t.Errorf("step %d: opens %v", i, opens)
		}
		if len(e.known) > len(alive) {
			t.Errorf("step %d: %d are remembered, %d live", i, len(e.known), len(alive))
		}
	}
}

// TestTrayLeavesThePort: held by another it is left alone, told of once, and
// taken when it is free; given back when Serve ends, with requests at work.
func TestTrayLeavesThePort(t *testing.T) {
	holder, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := holder.Addr().(*net.TCPAddr).Port
	log := &sink{}
	waiting := make(chan struct{}, 1000)
	e := NewTrayEndpoint(TrayOptions{
		Log: slog.New(slog.NewTextHandler(log, nil)),
		Owner: func(int, int) (monitor.Identity, error) {
			waiting <- struct{}{}
			return monitor.Identity{}, ErrNotListening
		},
		Limits: TrayLimits{Retry: time.Millisecond, Settle: time.Hour, Header: time.Minute, Write: time.Hour},
	})
	tries := make(chan error, 100)
	e.listen = func(ctx context.Context) (net.Listener, error) {
		l, err := loopback.Listen(ctx, port)
		tries <- err
		return l, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	for range 5 {
		if err := <-tries; err == nil {
			t.Fatal("the port was taken although it is held")
		}
	}
	if n := strings.Count(log.String(), "found by looking"); n != 1 {
		t.Errorf("told %d times: %s", n, log)
	}
	holder.Close()
	for err := range tries {
		if err == nil {
			break
		}
	}
	var requests sync.WaitGroup
	requests.Go(func() {
		resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/register", port), "application/json", strings.NewReader(registerBody(7, 24282, "")))
		if err == nil { // it may have taken longer than requests get to end
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d", resp.StatusCode)
			}
		}
	})
	<-waiting
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve returned %v", err)
	}
	requests.Wait()
	again, err := loopback.Listen(t.Context(), port)
	if err != nil {
		t.Fatalf("not given back: %v", err)
	}
	again.Close()
}

func TestTrayListensOnItsPort(t *testing.T) {
	l, err := NewTrayEndpoint(TrayOptions{}).listen(t.Context())
	if err != nil {
		t.Fatalf("somebody has the port; run this where nobody can, with -exec build/isolated.sh: %v", err)
	}
	defer l.Close()
	if got := l.Addr().String(); got != "127.0.0.1:24224" {
		t.Errorf("listens on %s", got)
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

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// claimed believes every claim, except those of 404, which does not exist, and
// of 503, which does not listen.
func claimed(pid, _ int) (monitor.Identity, error) {
	switch pid {
	case 404:
		return monitor.Identity{}, errors.New("there is no process 404")
	case 503:
		return monitor.Identity{}, fmt.Errorf("it %w", process.ErrNotListening)
	}
	return monitor.Identity{PID: pid, Start: 1}, nil
}

// trayUnderTest notes what it tells. One server is known, 7 on port 24282.
func trayUnderTest(told *[]string) *trayManager {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	note := func(format string, args ...any) { *told = append(*told, fmt.Sprintf(format, args...)) }
	tray := newTrayManager(parts(m, shower{}), func(pid, port int) { note("heard %d:%d", pid, port) }, func(port int) { note("open %d", port) })
	tray.owner, tray.settle = claimed, time.Millisecond
	tray.alive = func(monitor.Identity) bool { return true }
	return tray
}

func (t *trayManager) send(method, path, body string) (status int, answer string) {
	w, req := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", isJSON)
	}
	t.handler(newRoutes(parts(t.source, shower{}), 0)).ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

func registration(pid, port int, more string) string {
	return fmt.Sprintf(`{"port": %d, "pid": %d, "dashboard_url": "http://127.0.0.1:%[1]d/dashboard/index.html", "project": null, "started_at": "2026-11-20T22:51:52"%[3]s}`, port, pid, more)
}

func TestTrayAnswers(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		status             int
		answer             string // a part of it
		told               []string
	}{
		{"GET", "/health", "", 200, `"status":"ok"`, nil},
		{"POST", "/register", registration(7, 24282, ""), 200, "", []string{"heard 7:24282"}},
		{"POST", "/register", registration(8, 24283, `, "open_viewer": true`), 200, "", []string{"heard 8:24283", "open 24283"}},
		{"POST", "/register", registration(404, 24282, ""), 400, "no process 404", nil},
		{"POST", "/register", registration(503, 24282, ""), 400, "does not listen there", nil},
		{"POST", "/register", "", 400, "not a JSON object", nil},
		{"POST", "/register", registration(7, 65536, ""), 400, "port must be", nil},
		{"POST", "/register", `{"port": 24282.5, "pid": 7}`, 400, "port", nil},
		{"POST", "/update_project", `{"port": 24282, "project": "alpha"}`, 200, "", []string{"heard 7:24282"}},
		{"POST", "/update_project", `{"port": 24283, "project": "beta"}`, 200, "", nil},
		{"POST", "/update_project", `{"project": "alpha"}`, 400, "port must be", nil},
		{"POST", "/unregister", `{"port": 24282}`, 200, "", []string{"heard 7:24282"}},
		{"POST", "/unregister", `[]`, 400, "not a JSON object", nil},
		{"GET", "/register", "", 405, "POST", nil},
		{"GET", "/global-dashboard/instances", "", 404, "", nil},
	} {
		var told []string
		status, answer := trayUnderTest(&told).send(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(answer, c.answer) || !slices.Equal(told, c.told) {
			t.Errorf("%s %s %s: %d %s, told %q", c.method, c.path, c.body, status, answer, told)
		}
	}
}

// A server registers while it opens its port.
func TestTrayWaitsForThePort(t *testing.T) {
	var told []string
	tray := trayUnderTest(&told)
	tray.settle = time.Minute
	tries := 0
	tray.owner = func(pid, _ int) (monitor.Identity, error) {
		if tries++; tries < 3 {
			return monitor.Identity{}, process.ErrNotListening
		}
		return monitor.Identity{PID: pid, Start: 1}, nil
	}
	if status, answer := tray.send(http.MethodPost, "/register", registration(7, 24282, "")); status != 200 || len(told) != 1 {
		t.Errorf("%d %s, told %q", status, answer, told)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	tray.owner = func(int, int) (monitor.Identity, error) { return monitor.Identity{}, process.ErrNotListening }
	if err := tray.register(gone, trayMessage{Port: 24282, PID: 7}); !errors.Is(err, process.ErrNotListening) {
		t.Errorf("after the end: %v", err)
	}
}

// TestOpensOnce follows one tray manager through a day.
func TestOpensOnce(t *testing.T) {
	tray := trayUnderTest(new([]string))
	alive := map[int]bool{}
	tray.alive = func(id monitor.Identity) bool { return alive[id.PID] }
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		at    time.Duration
		pid   int
		ended []int
		want  bool
	}{
		{time.Second, 2, nil, true},
		{2 * time.Second, 2, nil, false},                          // again
		{3 * time.Second, 3, nil, false},                          // beside
		{time.Hour, 4, []int{3}, false},                           // beside, much later
		{2 * time.Hour, 5, []int{2, 4}, true},                     // nobody of those who asked is left
		{2*time.Hour + time.Minute, 6, []int{5}, false},           // too soon
		{2*time.Hour + 11*time.Minute, 6, nil, false},             // it has asked before
		{2*time.Hour + 12*time.Minute, 7, []int{6}, true},         // a new one
		{2*time.Hour + 12*time.Minute + 1, 8, []int{7, 1}, false}, // too soon
	} {
		alive[c.pid] = true
		for _, pid := range c.ended {
			delete(alive, pid)
		}
		if opens := tray.mayOpen(monitor.Identity{PID: c.pid, Start: 1}, start.Add(c.at)); opens != c.want {
			t.Errorf("step %d: opens %v", i, opens)
		}
		if len(tray.asked) > len(alive) {
			t.Errorf("step %d: %d are remembered, %d live", i, len(tray.asked), len(alive))
		}
	}
}

func TestTrayBelievesNoClaimAboutOurselves(t *testing.T) {
	var told []string
	tray := trayUnderTest(&told)
	tray.owner = serena.PortOwner
	for _, pid := range []int{os.Getpid(), 1 << 30} {
		if status, answer := tray.send(http.MethodPost, "/register", registration(pid, 24282, "")); status != 400 || len(told) > 0 {
			t.Errorf("%d: %d %s, told %q", pid, status, answer, told)
		}
	}
}

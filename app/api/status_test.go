package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func TestStatus(t *testing.T) {
	m := newModel()
	s := snapshot(instance(7, "alpha"))
	s.Warnings = []string{"port 25282 is taken"}
	m.set(s)
	p := parts(m, shower{})
	h := Handler(p)
	const path = "/global-dashboard/status"
	w := try(t, h, "GET", path, "")
	var bare Status
	if err := json.Unmarshal(w.Body.Bytes(), &bare); err != nil || bare.StartedAt == nil || time.Since(*bare.StartedAt) > time.Hour {
		t.Errorf("%v: %s", err, w.Body)
	}
	want := fmt.Sprintf(`{"version":"1.2.3","pid":%d,"started_at":"%s","address":null,"warnings":["port 25282 is taken"],"ended":[],"given_back_bytes":0,"given_back_since":null,`+
		`"policy":{"active":false,"paused":false,"paused_until":null,"idle":0,"orphans":0,"rules":[]}}`,
		os.Getpid(), bare.StartedAt.Format(time.RFC3339Nano))
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}

	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	gone := instance(5, "\u202egone")
	gone.LastActivity = at.Add(-time.Minute)
	ended := &book{}
	ended.add(dashboard.Ended{Instance: view.Of(&gone).Sent(at), EndedAt: &at, Why: "stopped from the page"})
	p.Recorder = ended
	p.GivenBack = func() (uint64, time.Time) { return 4 << 20, at }
	p.Address = func() string { return "http://127.0.0.1:25282/global-dashboard/" }
	w = try(t, Handler(p), "GET", path, "")
	apptest.Contains(t, w.Body.String(), `"address":"http://127.0.0.1:25282/global-dashboard/"`, `"ended":[{"instance":{"id":"5-7","pid":5,`,
		`"project_name":"\u202egone"`, `"idle_seconds":60,`, `"ended_at":"2026-11-20T12:00:00Z","why":"stopped from the page"}]`,
		`"given_back_bytes":4194304,"given_back_since":"2026-11-20T12:00:00Z",`)
}

// next reads one event, or a comment, which has the name ":".
func next(t *testing.T, r *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "event: "); ok {
			name = text
		} else if text, ok := strings.CutPrefix(line, "data: "); ok {
			data = text
		} else if line == ":" {
			name = ":"
		} else if line == "" {
			return name, data
		} else {
			t.Fatalf("the stream has %q", line)
		}
	}
}

func TestStreamTellsTheStatus(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	b := &book{}
	p := parts(m, shower{})
	p.Recorder = b
	s := serveWeb(t, Handler(p), nil)
	r := openStream(t, s.at(t))
	if name, data := next(t, r); name != "status" || !strings.HasPrefix(data, `{"version":"1.2.3",`) {
		t.Errorf("first %q %s", name, data)
	}
	if name, data := next(t, r); name != "" || !strings.HasPrefix(data, `{"instances":[{"id":"7-7",`) {
		t.Errorf("then %q %s", name, data)
	}
	// With a warning, or another standing of the policies, comes the status;
	// without one it does not.
	m.set(snapshot(instance(7, "beta")))
	if name, data := next(t, r); name != "" || !strings.Contains(data, "beta") {
		t.Errorf("a change brings %q %s", name, data)
	}
	warned := snapshot(instance(7, "gamma"))
	warned.Warnings = []string{"so"}
	m.set(warned)
	if name, data := next(t, r); name != "status" || !strings.Contains(data, `"warnings":["so"]`) {
		t.Errorf("a warning brings %q %s", name, data)
	}
	if name, data := next(t, r); name != "" || !strings.Contains(data, "gamma") {
		t.Errorf("after it %q %s", name, data)
	}
	paused := *warned
	paused.Policy = monitor.Policy{Active: true, Paused: true}
	m.set(&paused)
	if name, data := next(t, r); name != "status" || !strings.Contains(data, `"policy":{"active":true,"paused":true,`) {
		t.Errorf("a pause brings %q %s", name, data)
	}
	if name, data := next(t, r); name != "" || !strings.Contains(data, "gamma") {
		t.Errorf("after it %q %s", name, data)
	}
	b.add(hasExited())
	if name, data := next(t, r); name != "status" || !strings.Contains(data, `"why":"it exited"`) || !strings.Contains(data, `"warnings":["so"]`) {
		t.Errorf("an end brings %q %s", name, data)
	}
}

func TestHeartbeat(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	r := newRoutes(parts(m, shower{}), 4)
	if r.heartbeat != 15*time.Second {
		t.Errorf("a heartbeat comes after %v", r.heartbeat)
	}
	r.heartbeat = time.Millisecond
	s := serveWeb(t, r.handler(), nil)
	stream := openStream(t, s.at(t))
	for n := 0; n < 5; {
		if name, _ := next(t, stream); name == ":" {
			n++
		}
	}
	// Our own client takes snapshots alone.
	srv := serve(t, m, shower{}, func(o *Options) { o.Handler = r.handler() })
	enough := errors.New("enough")
	seen := 0
	err := srv.dial(t).Stream(t.Context(), func(list Instances) error {
		if len(list.Instances) != 1 {
			t.Errorf("an event without instances: %+v", list)
		}
		if seen++; seen == 3 {
			return enough
		}
		m.set(snapshot(instance(7, "alpha")))
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

// hasExited is a server that has ended.
func hasExited() dashboard.Ended {
	in, at := instance(5, "gone"), time.Now()
	return dashboard.Ended{Instance: view.Of(&in).Sent(at), EndedAt: &at, Why: "it exited"}
}

// A status is encoded once for all streams, until something of it changes.
func TestSheetOfTheStatus(t *testing.T) {
	var sh sheet
	var before []byte
	ended := []dashboard.Ended{hasExited()}
	for i, test := range []struct {
		status Status
		want   string // in the text
		again  bool   // it is the text of before
	}{
		{Status{}, `"given_back_bytes":0`, false},
		{Status{}, `"given_back_bytes":0`, true},
		{Status{Warnings: []string{"so"}}, `"warnings":["so"]`, false},
		{Status{Warnings: []string{"so"}, Ended: ended}, `"why":"it exited"`, false},
		{Status{Warnings: []string{"so"}, Ended: ended}, `"why":"it exited"`, true},
		{Status{}, `"given_back_bytes":0`, false},
		{Status{Policy: monitor.Policy{Idle: 2}}, `"idle":2`, false},
		{Status{Policy: monitor.Policy{Orphans: 1}}, `"orphans":1`, false},
		{Status{Policy: monitor.Policy{Paused: true}}, `"paused":true`, false},
		{Status{Policy: monitor.Policy{Paused: true, PausedUntil: ended[0].EndedAt}}, `"paused_until":"`, false},
		{Status{Policy: monitor.Policy{Rules: []monitor.PolicyRule{{Name: "idle"}}}}, `"rules":[{"name":"idle"`, false},
		{Status{Policy: monitor.Policy{Rules: []monitor.PolicyRule{{Name: "idle"}}}}, `"rules":[{"name":"idle"`, true},
	} {
		text, err := sh.status(test.status)
		got := string(text)
		if err != nil || !strings.HasPrefix(got, "event: status\ndata: {") || !strings.HasSuffix(got, "}\n\n") || !strings.Contains(got, test.want) {
			t.Fatalf("%d: %s, %v", i, got, err)
		}
		if again := before != nil && &text[0] == &before[0]; again != test.again {
			t.Errorf("%d: it was encoded anew: %v", i, !again)
		}
		before = text
	}
}

// All streams take it from there.
func TestStreamsShareTheStatus(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	r := newRoutes(parts(m, shower{}), 4)
	s := serveWeb(t, r.handler(), nil)
	if name, _ := next(t, openStream(t, s.at(t))); name != "status" {
		t.Fatalf("first comes %q", name)
	}
	r.sheet.mu.Lock()
	r.sheet.told = []byte("event: status\ndata: shared\n\n")
	r.sheet.mu.Unlock()
	if name, data := next(t, openStream(t, s.at(t))); name != "status" || data != "shared" {
		t.Errorf("the second gets %q %s", name, data)
	}
}

// Nothing is kept for streams once the last one is closed.
func TestLastStreamLeavesNothing(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	r := newRoutes(parts(m, shower{}), 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	r.stream(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if !strings.HasPrefix(answer.Body.String(), "event: status\n") || r.sheet.told != nil || r.sheet.text != nil {
		t.Errorf("sent %q, kept %q and %q", answer.Body, r.sheet.told, r.sheet.text)
	}
}

// One encoding serves all streams, as long as it is right.
func TestSheet(t *testing.T) {
	var sh sheet
	busy := instance(7, "alpha")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	busy.LastActivity = now.Add(-time.Minute)
	s := snapshot(busy)
	first, err := sh.event(s, now)
	if err != nil || !strings.Contains(string(first), `"idle_seconds":60,`) {
		t.Fatalf("%s, %v", first, err)
	}
	if again, _ := sh.event(s, now.Add(sheetAge-1)); &again[0] != &first[0] {
		t.Error("it was encoded anew at once")
	}
	if later, _ := sh.event(s, now.Add(5*time.Second)); !strings.Contains(string(later), `"idle_seconds":65,`) {
		t.Errorf("later: %s", later)
	}
	// What is put together of rows is what one encoding gives.
	for _, s := range []*monitor.Snapshot{snapshot(), snapshot(instance(8, "be,\"ta\":null")), {Instances: append(snapshot(instance(9, "beta")).Instances, s.Instances...)}} {
		text, err := sh.event(s, now)
		whole, _ := Marshal(InstancesOf(s, now))
		if err != nil || string(text) != "data: "+string(whole)+"\n\n" {
			t.Errorf("%s, %v; want %s", text, err, whole)
		}
	}
	gone := hasExited()
	for _, list := range [][]dashboard.Ended{{}, {gone}, {gone, hasExited()}} {
		status := Status{Version: "1", Ended: list, Warnings: []string{`"ended":null`}}
		text, err := sh.status(status)
		whole, _ := Marshal(status)
		if err != nil || string(text) != "event: status\ndata: "+string(whole)+"\n\n" {
			t.Errorf("%s, %v; want %s", text, err, whole)
		}
	}
	if other, _ := sh.event(snapshot(instance(8, "beta")), now.Add(5*time.Second)); !strings.Contains(string(other), "beta") {
		t.Errorf("another one: %s", other)
	}
	broken := monitor.Instance{Identity: monitor.Identity{PID: 1}, StartedAt: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if text, err := sh.event(snapshot(broken), now); err != nil || !strings.Contains(string(text), `"started_at":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

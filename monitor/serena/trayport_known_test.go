package serena

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func registration(pid, port int, opens bool) Registration {
	return Registration{Identity: monitor.Identity{PID: pid, Start: 1}, Port: port, OpenViewer: opens}
}

// addAndOpen is what a registration does that asks for a page.
func addAndOpen(k *registered, r Registration, now time.Time, lives func(pid int) bool) bool {
	e := NewTrayEndpoint(TrayOptions{})
	e.known = k
	e.alive = func(id monitor.Identity) bool { return lives(id.PID) }
	_, asked := k.add(r)
	return e.opens(context.Background(), r, asked, now)
}

// TestOpensOnce follows one endpoint through a day.
func TestOpensOnce(t *testing.T) {
	k := newRegistered()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	alive := map[int]bool{}
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
		{time.Hour, 2, true, nil, false},                                // again, much later
		{time.Hour, 4, true, nil, false},                                // beside, much later
		{2 * time.Hour, 5, true, []int{2, 3, 4}, true},                  // nobody of those who asked is left
		{2*time.Hour + time.Minute, 6, true, []int{5}, false},           // too soon
		{2*time.Hour + 11*time.Minute, 6, true, []int{}, false},         // it has asked before
		{2*time.Hour + 12*time.Minute, 7, true, []int{6}, true},         // a new one
		{2*time.Hour + 12*time.Minute + 1, 8, true, []int{7, 1}, false}, // too soon
	} {
		alive[c.pid] = true
		for _, pid := range c.ended {
			delete(alive, pid)
		}
		lives := func(pid int) bool { return alive[pid] }
		if open := addAndOpen(k, registration(c.pid, 24282+c.pid, c.opens), start.Add(c.at), lives); open != c.want {
			t.Errorf("step %d: open %v", i, open)
		}
	}
}

// TestRegisteredIsBounded: whatever comes, memory is bounded, no instance gets
// two pages, and pages keep their distance.
func TestRegisteredIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newRegistered()
		now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
		got := map[monitor.Identity]int{}
		var last time.Time
		for range rapid.IntRange(1, 600).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 900).Draw(t, "later")) * time.Second)
			n := rapid.IntRange(1, 400).Draw(t, "instance")
			switch rapid.IntRange(0, 5).Draw(t, "request") {
			case 0:
				k.update(n, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "project"))
			case 1:
				k.leave(n)
			default:
				r := registration(n, n, rapid.Bool().Draw(t, "opens"))
				if addAndOpen(k, r, now, func(int) bool { return false }) {
					if !last.IsZero() && now.Sub(last) < openAgain {
						t.Fatalf("two pages within %v", now.Sub(last))
					}
					last = now
					if got[r.Identity]++; got[r.Identity] > 1 && len(k.byPort) < mostKnown {
						t.Fatalf("%v got %d pages", r.Identity, got[r.Identity])
					}
				}
			}
			if len(k.byPort) > mostKnown {
				t.Fatalf("%d are remembered", len(k.byPort))
			}
		}
	})
}

// TestOpeningHoldsNothingUp: while it is found out who of those that asked for a
// page before still lives, everything else goes on, and no more is looked at at
// once than otherwise.
func TestOpeningHoldsNothingUp(t *testing.T) {
	looking, release := make(chan struct{}, 100), make(chan struct{})
	var now, most atomic.Int32
	enter := func() {
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				return
			}
		}
	}
	e := serveTray(t, func(e *tray) {
		e.options.Owner = func(pid, port int) (monitor.Identity, error) {
			enter()
			defer now.Add(-1)
			return claimed(pid, port)
		}
		e.alive = func(monitor.Identity) bool {
			enter()
			defer now.Add(-1)
			looking <- struct{}{}
			<-release
			return false
		}
	})
	register := func(pid int) (status int) {
		body := strings.Replace(registerBody(pid, 30000+pid, ""), `"open_viewer": false`, `"open_viewer": true`, 1)
		status, _ = e.send(t, http.MethodPost, "/register", body, nil)
		return status
	}
	register(1)
	e.known.mu.Lock()
	e.known.opened = time.Now().Add(-openAgain)
	e.known.mu.Unlock()
	done := make(chan int, 10)
	for pid := 2; pid < 12; pid++ {
		go func() { done <- register(pid) }()
	}
	wait(t, looking, "a look at the first")
	wait(t, looking, "another one")
	for _, c := range [][2]string{{"/update_project", `{"port": 30001, "project": "alpha"}`}, {"/unregister", `{"port": 30001}`}} {
		if status, answer := e.send(t, http.MethodPost, c[0], c[1], nil); status != http.StatusOK {
			t.Errorf("%s: %d %v", c[0], status, answer)
		}
	}
	if got := e.told(); !slices.Contains(got, `update 1:30001 "alpha"`) || !slices.Contains(got, `unregister 1:30001 "alpha"`) {
		t.Errorf("told only %q", got)
	}
	close(release)
	for range 10 {
		if status := wait(t, done, "an answer"); status != http.StatusOK {
			t.Errorf("answered with %d", status)
		}
	}
	opened := 0
	for _, what := range e.told() {
		if strings.HasPrefix(what, "open ") {
			opened++
		}
	}
	if opened != 2 || most.Load() != 2 {
		t.Errorf("%d pages were opened, %d processes looked at at once", opened, most.Load())
	}
}

// wait takes one value, which must come.
func wait[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("never comes: %s", what)
	}
	return v
}

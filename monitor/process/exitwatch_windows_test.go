package process

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter/monitor"
)

// serve runs the watch until the test ends or stop is called.
func serve(t testing.TB, w *ExitWatch) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func watch(t testing.TB, w *ExitWatch, id monitor.Identity) {
	t.Helper()
	if err := w.Watch(id); err != nil {
		t.Fatal(err)
	}
}

func nextExit(t testing.TB, w *ExitWatch) monitor.Identity {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	select {
	case id := <-w.Exits():
		return id
	case <-deadline.C:
		t.Fatal("no exit was told")
		return monitor.Identity{}
	}
}

// armed waits until nothing that is watched has to be polled.
func armed(t testing.TB, w *ExitWatch) {
	t.Helper()
	eventually(t, "the system watches all", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.waiter != nil && len(w.armed) == len(w.watched)
	})
}

func groups(w *ExitWatch) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiter.groups)
}

func TestExitIsTold(t *testing.T) {
	w := NewExitWatch()
	early := start(t, "idle")
	watch(t, w, early.Identity)
	serve(t, w)
	armed(t, w)
	late := start(t, "idle")
	watch(t, w, late.Identity)
	watch(t, w, late.Identity)
	for _, h := range []*helper{late, early} {
		h.kill()
		if got := nextExit(t, w); got != h.Identity {
			t.Errorf("%v ended, told was %v", h.Identity, got)
		}
		if err := w.Watch(h.Identity); !errors.Is(err, ErrGone) {
			t.Errorf("watching what has ended: %v", err)
		}
	}
}

// One thread waits for 63 processes at most.
func TestExitsOfMoreThanOneGroup(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	all := map[monitor.Identity]*helper{}
	for range perGroup + 3 {
		h := start(t, "idle")
		all[h.Identity] = h
		watch(t, w, h.Identity)
	}
	armed(t, w)
	if n := groups(w); n != 2 {
		t.Errorf("%d groups", n)
	}
	for _, h := range all {
		h.kill()
	}
	for len(all) > 0 {
		id := nextExit(t, w)
		if all[id] == nil {
			t.Fatalf("told %v, twice or never started", id)
		}
		delete(all, id)
	}
	// The room that they leave is used again.
	again := start(t, "idle")
	watch(t, w, again.Identity)
	armed(t, w)
	if n := groups(w); n != 2 {
		t.Errorf("%d groups afterwards", n)
	}
	again.kill()
	if got := nextExit(t, w); got != again.Identity {
		t.Errorf("told %v", got)
	}
}

func TestForgottenProcessIsNotTold(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	a, b := start(t, "idle"), start(t, "idle")
	watch(t, w, a.Identity)
	watch(t, w, b.Identity)
	armed(t, w)
	w.Forget(a.Identity)
	a.kill()
	b.kill()
	if got := nextExit(t, w); got != b.Identity {
		t.Errorf("told %v, want %v", got, b.Identity)
	}
}

func TestWatchRefusesWhatIsGone(t *testing.T) {
	live, dead := start(t, "idle"), start(t, "idle")
	dead.kill()
	w := NewExitWatch()
	check := func(when string) {
		t.Helper()
		for what, id := range map[string]monitor.Identity{
			"another process": {PID: live.PID, Start: live.Start + 1},
			"ended":           dead.Identity,
			"no pid":          {PID: 0},
			"a negative pid":  {PID: -1},
		} {
			if err := w.Watch(id); !errors.Is(err, ErrGone) {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	check("before Serve")
	serve(t, w)
	watch(t, w, live.Identity)
	armed(t, w)
	check("while serving")
}

// What is watched outlives Serve, and Serve gives everything back.
func TestServeAgain(t *testing.T) {
	w := NewExitWatch()
	stop := serve(t, w)
	h := start(t, "idle")
	watch(t, w, h.Identity)
	armed(t, w)
	stop()
	if w.waiter != nil || len(w.armed) > 0 {
		t.Errorf("kept %v, %v", w.waiter, w.armed)
	}
	h.kill()
	serve(t, w)
	if got := nextExit(t, w); got != h.Identity {
		t.Errorf("told %v", got)
	}
}

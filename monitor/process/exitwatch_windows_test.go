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

func TestExitIsTold(t *testing.T) {
	w := NewExitWatch()
	early := start(t, "idle")
	watch(t, w, early.Identity)
	serve(t, w)
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

func TestForgottenProcessIsNotTold(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	a, b := start(t, "idle"), start(t, "idle")
	watch(t, w, a.Identity)
	watch(t, w, b.Identity)
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
	check("while serving")
}

// What is watched outlives Serve.
func TestServeAgain(t *testing.T) {
	w := NewExitWatch()
	stop := serve(t, w)
	h := start(t, "idle")
	watch(t, w, h.Identity)
	stop()
	h.kill()
	serve(t, w)
	if got := nextExit(t, w); got != h.Identity {
		t.Errorf("told %v", got)
	}
}

//go:build linux || windows

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
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	select {
	case id := <-w.Exits():
		return id
	case <-deadline.C:
		t.Fatal("no exit was told")
		return monitor.Identity{}
	}
}

// polls reports whether a watch polls any of its processes.
func polls(w *ExitWatch) bool {
	_, polling := w.look()
	return polling
}

// ofNobody are identities that no process has.
func ofNobody(t testing.TB) map[string]monitor.Identity {
	t.Helper()
	live, dead := idle(t), idle(t)
	dead.end()
	return map[string]monitor.Identity{
		"one that started later":   {PID: live.PID, Start: live.Start + 1},
		"one that started earlier": {PID: live.PID, Start: live.Start - 1},
		"ended":                    dead.Identity,
		"a free pid":               {PID: 0x7ffffffc, Start: 1},
		"no pid":                   {},
		"a group":                  {PID: -live.PID, Start: live.Start},
	}
}

func TestWatchRefusesWhatIsGone(t *testing.T) {
	nobody := ofNobody(t)
	w := NewExitWatch()
	check := func(when string) {
		for what, id := range nobody {
			if err := w.Watch(id); !errors.Is(err, ErrGone) {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	check("before Serve")
	serve(t, w)
	check("while serving")
	if len(w.watched) > 0 {
		t.Errorf("it watches %v", w.watched)
	}
}

func TestHoldRefusesWhatIsGone(t *testing.T) {
	for what, id := range ofNobody(t) {
		if h, err := Hold(id); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v, %v", what, h, err)
		}
	}
}

func TestForgottenProcessIsNotTold(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	a, b, c := idle(t), idle(t), idle(t)
	for _, p := range []idler{a, b, c} {
		watch(t, w, p.Identity)
	}
	w.Forget(a.Identity)
	w.Forget(a.Identity)
	a.end()
	for _, p := range []idler{b, c} {
		p.end()
		if got := nextExit(t, w); got != p.Identity {
			t.Errorf("told %v, want %v", got, p.Identity)
		}
	}
}

// What is watched outlives Serve.
func TestServeAgain(t *testing.T) {
	w := NewExitWatch()
	a, b, c := idle(t), idle(t), idle(t)
	watch(t, w, a.Identity) // before anybody serves
	stop := serve(t, w)
	watch(t, w, b.Identity)
	watch(t, w, c.Identity)
	watch(t, w, c.Identity)
	stop()
	b.end()
	serve(t, w)
	if got := nextExit(t, w); got != b.Identity {
		t.Errorf("told %v", got)
	}
	for _, p := range []idler{a, c} {
		p.end()
		if got := nextExit(t, w); got != p.Identity {
			t.Errorf("told %v", got)
		}
		if err := w.Watch(p.Identity); !errors.Is(err, ErrGone) {
			t.Errorf("watching what has ended: %v", err)
		}
	}
	eventually(t, "it polls no more", func() bool { return !polls(w) }) // it tells of an end, and then forgets it
}

package daemon

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/config"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

func TestSpared(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*monitor.Snapshot)
		want   string
	}{
		"nothing":          {func(*monitor.Snapshot) {}, ""},
		"pinned":           {func(s *monitor.Snapshot) { s.Instances[0].Pinned = true }, "it is pinned"},
		"another is":       {func(s *monitor.Snapshot) { s.Instances[1].Pinned = true }, ""},
		"kept":             {func(s *monitor.Snapshot) { s.Instances[0].Plan.KeptUntil = daemontest.Noon.Add(time.Hour) }, "it is kept until 13:00"},
		"no longer kept":   {func(s *monitor.Snapshot) { s.Instances[0].Plan.KeptUntil = daemontest.Noon }, ""},
		"the policies are": {func(s *monitor.Snapshot) { s.Policy.Paused = true }, "the policies are paused"},
	} {
		s := &monitor.Snapshot{Instances: []*monitor.Instance{new(daemontest.SerenaAt(7, 24282, "alpha")), new(daemontest.SerenaAt(8, 24283, "beta"))}}
		test.change(s)
		if got := spared(s, s.Instances[0].Identity, daemontest.Noon); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
		unknown := monitor.Identity{PID: 7, Start: 1}
		if got := spared(s, unknown, daemontest.Noon); got != "" && !s.Policy.Paused {
			t.Errorf("%s: one of the same pid: %q", name, got)
		}
	}
}

func TestHungIn(t *testing.T) {
	s := &monitor.Snapshot{Instances: []*monitor.Instance{
		new(daemontest.SerenaAt(7, 24282, "alpha")), new(daemontest.SerenaAt(8, 24283, "beta")), new(daemontest.SerenaAt(9, 24284, "gamma")), new(daemontest.SerenaAt(10, 24285, "delta")),
	}}
	for i, cause := range []monitor.Cause{monitor.CauseSuspended, monitor.CauseUnreachable, monitor.CauseNone, monitor.CauseSuspended} {
		s.Instances[i].Cause, s.Instances[i].Lifetime = cause, monitor.LifetimeShared
	}
	s.Instances[3].Lifetime = monitor.LifetimeSession
	if got := hungIn(s); !slices.Equal(got, []monitor.Identity{s.Instances[0].Identity, s.Instances[1].Identity}) {
		t.Errorf("%v", got)
	}
}

// answering is a ladder with an answer.
type answering struct {
	err    error
	orders []stop.Order
}

func (a *answering) Stop(_ context.Context, _ monitor.Instance, o stop.Order) (stop.Result, error) {
	a.orders = append(a.orders, o)
	return stop.Result{}, a.err
}

func TestEndHung(t *testing.T) {
	s := &monitor.Snapshot{Instances: []*monitor.Instance{new(daemontest.SerenaAt(7, 24282, "alpha"))}}
	for name, test := range map[string]struct {
		err    error
		want   string
		orders int
	}{
		"ended":  {nil, "", 2},
		"pinned": {&stop.Refusal{Label: "7 - alpha", Kind: stop.ErrPinned, Why: "it is pinned."}, "it is pinned.", 1},
		"gone":   {process.ErrGone, "", 1},
	} {
		ladder := &answering{err: test.err}
		err := endHung(t.Context(), s, s.Instances[0].Identity, ladder)
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want || len(ladder.orders) != test.orders || !ladder.orders[0].DryRun {
			t.Errorf("%s: %v, %+v", name, err, ladder.orders)
		}
		for _, o := range ladder.orders {
			if o.Force || o.Automatic {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}

func TestKeyLocks(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	want := filepath.Join(dir, "keys")
	if runtime.GOOS == "windows" {
		want = filepath.Join(state, "keys")
	}
	if got := keyLocks(config.Places{ShareSocket: filepath.Join(dir, "share.sock"), StateDir: state}); got != want {
		t.Errorf("got %s", got)
	}
	if got := keyLocks(config.Places{ShareSocket: "relative", StateDir: state}); got != filepath.Join(state, "keys") {
		t.Errorf("a relative socket: %s", got)
	}
	if got := keyLocks(config.Places{}); got != "" {
		t.Errorf("without any place: %s", got)
	}
}

// A lamplighter that a client has started ends when nobody has needed it for the
// whole time, and only then.
func TestUnused(t *testing.T) {
	const limit = 10 * time.Minute
	type world struct {
		unused
		begin   time.Time
		needed  atomic.Bool
		holds   time.Duration
		session atomic.Bool
		news    chan struct{}
	}
	run := func(name string, during func(w *world), want time.Duration, ends bool) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{begin: time.Now(), holds: limit, news: make(chan struct{}, 1)}
				w.unused = unused{
					limit: func() time.Duration { return w.holds }, live: func() bool { return w.session.Load() }, changed: w.news,
					idle: func() bool { return !w.needed.Load() },
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				ended := make(chan bool, 1)
				go func() { ended <- w.wait(ctx) }()
				during(w)
				if got := <-ended; got != ends || time.Since(w.begin) != want {
					t.Errorf("%v after %v", got, time.Since(w.begin))
				}
			})
		})
	}
	after := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
	run("nobody comes", func(*world) {}, limit, true)
	run("a client comes and goes", func(w *world) {
		after(9 * time.Minute)
		w.needed.Store(true)
		w.news <- struct{}{}
		after(time.Hour)
		w.needed.Store(false)
		w.news <- struct{}{}
	}, 79*time.Minute, true)
	run("it is never to end", func(w *world) {
		after(time.Minute)
		w.holds = 0
		w.news <- struct{}{}
	}, 24*time.Hour, false)
	run("other settings", func(w *world) {
		after(time.Minute)
		w.holds = 2 * time.Minute
		w.news <- struct{}{}
	}, 2*time.Minute, true)
	run("a session runs", func(w *world) {
		w.session.Store(true)
		after(25 * time.Minute)
		w.session.Store(false)
	}, 30*time.Minute, true)
}

func TestDesktopIn(t *testing.T) {
	for name, test := range map[string]struct {
		goos string
		env  map[string]string
		want bool
	}{
		"nothing":         {"linux", nil, false},
		"a bus alone":     {"linux", map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/7/bus"}, false},
		"X11":             {"linux", map[string]string{"DISPLAY": ":0"}, true},
		"Wayland":         {"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, true},
		"another system":  {"darwin", nil, true},
		"a third one":     {"windows", nil, true},
		"an empty screen": {"freebsd", map[string]string{"DISPLAY": ""}, false},
	} {
		if got := DesktopIn(test.goos, func(k string) string { return test.env[k] }); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package share

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// restarts restarts the server that runs, as its keeper ends it.
func (w *world) restarts(t *testing.T, b *Broker, force bool) (monitor.Identity, error) {
	s := w.the(t)
	return b.Restart(t.Context(), s.id, force, func(ctx context.Context) error { return s.End(ctx, "the order") })
}

func TestRestart(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m, other := b.Attach(plan("a"), claude), b.Attach(plan("a"), claude)
		first := request(t, m)
		request(t, other)
		ended := m.Began()
		go func() {
			time.Sleep(3 * time.Second) // of the bubble
			ended()
		}()
		begun := time.Now()
		id, err := w.restarts(t, b, false)
		if err != nil || id.PID != 102 || time.Since(begun) < 3*time.Second || w.launched != 2 {
			t.Fatalf("%v, %v after %v; launched %d", id, err, time.Since(begun), w.launched)
		}
		if second := request(t, other); second.URL == first.URL || first.Why() != "it is restarted" || w.launched != 2 {
			t.Errorf("%+v, %s", second, first.Why())
		}
		if w.kinds() != "woken" || w.told[0].Detail != "restarted" || w.told[0].PID != 102 {
			t.Errorf("%+v", w.told)
		}
	})
}

// One that nobody has come to since an earlier run has started it ends, and who comes
// starts the next one.
func TestRestartOfALeftOne(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		w.run("a")
		synctest.Wait()
		if next, err := w.restarts(t, b, false); err != nil || next != (monitor.Identity{}) || w.count() != 0 {
			t.Error(next, err, w.count())
		}
		if request(t, b.Attach(plan("a"), claude)); w.launched != 1 {
			t.Errorf("launched %d", w.launched)
		}
	})
}

// What speaks against it leaves everything as it was.
func TestNotRestarted(t *testing.T) {
	for name, prepare := range map[string]func(w *world, m *Client) error{
		"a call that goes on": func(_ *world, m *Client) error { m.Began(); return ErrAtWork },
		"it cannot be ended": func(w *world, _ *Client) error {
			w.change(func() { w.stubborn = errors.New("it is pinned") })
			return w.stubborn
		},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T, w *world, b *Broker) {
				m := b.Attach(plan("a"), claude)
				first := request(t, m)
				want := prepare(w, m)
				if _, err := w.restarts(t, b, false); !errors.Is(err, want) {
					t.Error(err)
				}
				next := request(t, m)
				if next.URL != first.URL || isClosed(next.Shut) || w.count() != 1 || w.kinds() != "" {
					t.Errorf("%d servers, %s", w.count(), w.kinds())
				}
			})
		})
	}
}

func TestForcedRestart(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		m.Began()
		if id, err := w.restarts(t, b, true); err != nil || id.PID != 102 {
			t.Error(id, err)
		}
		if _, err := b.Restart(t.Context(), monitor.Identity{PID: 101}, true, nil); !errors.Is(err, ErrNotShared) {
			t.Error(err)
		}
	})
}

// A look at a server that nobody needed goes on meanwhile, and ends nothing.
func TestRestartDuringALook(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		goOn := make(chan struct{})
		w.change(func() { w.during = func() { <-goOn } })
		after(defaultIdle)
		s := w.the(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		id, err := b.Restart(ctx, s.id, false, func(ctx context.Context) error {
			close(goOn)
			synctest.Wait()
			return s.End(ctx, "the order")
		})
		if err != nil || id.PID != 102 || len(s.ends) != 1 {
			t.Errorf("%v, %v, ended by %q", id, err, s.ends)
		}
	})
}

// Who orders it twice at once is told so.
func TestRestartTwice(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		request(t, b.Attach(plan("a"), claude))
		s := w.the(t)
		_, err := b.Restart(t.Context(), s.id, false, func(ctx context.Context) error {
			if _, err := b.Restart(ctx, s.id, true, nil); !errors.Is(err, ErrNotShared) {
				t.Error(err)
			}
			return s.End(ctx, "the order")
		})
		if err != nil || w.launched != 2 {
			t.Error(err, w.launched)
		}
	})
}

// Its group is not forgotten while it has neither a client nor a server.
func TestRestartAmongMany(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		m.Detach()
		for _, key := range manyNames(5 * mostIdle) {
			b.Attach(plan(key), claude).Detach()
			after(time.Second)
			if _, err := w.restarts(t, b, false); err != nil || len(b.Shared()) != 1 {
				t.Fatalf("%s: %v, %+v", key, err, b.Shared())
			}
		}
	})
}

// A start that fails is told, and the next request tries again.
func TestRestartThatDoesNotStart(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		w.change(func() { w.broken = broken("no Python") })
		if _, err := w.restarts(t, b, false); err == nil || w.count() != 0 {
			t.Error(err)
		}
		w.change(func() { w.broken = nil })
		request(t, m)
		if w.kinds() != "woken" {
			t.Error(w.kinds())
		}
	})
}

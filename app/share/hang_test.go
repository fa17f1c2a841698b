package share

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// hangs tells the broker that the server that runs does not answer.
func (w *world) hangs(t *testing.T, b *Broker) *fakeServer {
	s := w.the(t)
	w.change(func() { s.hung = true })
	b.Hung([]monitor.Identity{s.id})
	return s
}

// acquires is a request that waits for a server.
func acquires(t *testing.T, m *Client) <-chan answer {
	ended := m.Began()
	got := make(chan answer, 1)
	go func() {
		s, err := m.Acquire(t.Context())
		got <- answer{s, err}
		ended()
	}()
	synctest.Wait()
	return got
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestHangThatPasses(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		p, settings := plan("a"), "as it began"
		p.Fingerprint = func() string { return settings }
		m := b.Attach(p, claude)
		first := request(t, m)
		m.Store("tools/list", "", []byte("tools"))
		settings = "changed since" // as the first server of a project changes them
		if _, ok := m.Cached("tools/list", ""); ok || isClosed(first.Shut) {
			t.Error("it does not hang")
		}
		w.hangs(t, b)
		if _, ok := m.Cached("tools/list", ""); !ok || !isClosed(first.Shut) {
			t.Error("it hangs")
		}
		waits := acquires(t, m)
		after(defaultHang - time.Second)
		if len(waits) > 0 || isClosed(first.Gone) {
			t.Error("the request has a server, or it was replaced")
		}
		b.Hung(nil)
		if got := <-waits; got.err != nil || got.s.URL != first.URL || isClosed(got.s.Shut) {
			t.Errorf("%+v", got)
		}
		after(time.Hour / 4)
		if w.launched != 1 || w.kinds() != "" {
			t.Errorf("launched %d, %s", w.launched, w.kinds())
		}
	})
}

// A server is replaced when somebody waits for it; until then it may be continued.
func TestHangThatDoesNotPass(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m, other := b.Attach(plan("a"), claude), b.Attach(plan("a"), claude)
		first := request(t, m)
		hung := w.hangs(t, b)
		after(10 * time.Minute)
		if w.count() != 1 || isClosed(first.Gone) {
			t.Fatal("it was replaced for nobody")
		}
		got := <-acquires(t, other)
		if got.err != nil || got.s.URL == first.URL || !isClosed(first.Gone) || first.Why() != "it did not answer for 10 min" {
			t.Fatalf("%+v; %s", got, first.Why())
		}
		synctest.Wait()
		if s := w.the(t); s == hung || !slices.Equal(hung.ends, []string{"the replacement of what hangs"}) || w.kinds() != "woken" || w.told[0].Detail != "in place of 101 - a, which did not answer" {
			t.Errorf("%+v, ended by %q; %+v", s, hung.ends, w.told)
		}
		if request(t, m).URL != got.s.URL {
			t.Error("they have different servers")
		}
	})
}

func TestHangInWords(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		says := func(want string) {
			if got := m.Hang(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		says("")
		w.hangs(t, b)
		says("the server does not answer; another one takes its place in 2 min")
		after(defaultHang - 15*time.Second)
		says("the server does not answer; another one takes its place in 15 s")
		after(time.Minute)
		says("the server does not answer")
		b.Hung(nil)
		says("")
	})
}

// One that must not be ended goes on beside the next one, without its lock, and is ended
// as soon as it may be.
func TestHungThatMustNotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		o := w.options()
		o.LockDir = t.TempDir()
		pinned := errors.New("it is pinned")
		end := o.EndHung
		o.EndHung = func(ctx context.Context, s Server) error {
			w.mu.Lock()
			why := pinned
			w.mu.Unlock()
			if why != nil {
				return why
			}
			return end(ctx, s)
		}
		b := New(o)
		defer served(t, b)()
		m := b.Attach(plan("a"), claude)
		request(t, m)
		hung := w.hangs(t, b)
		waits := acquires(t, m)
		after(defaultHang)
		next := <-waits
		after(10 * time.Minute)
		if next.err != nil || w.count() != 2 || w.kinds() != "woken stop_refused" && w.kinds() != "stop_refused woken" {
			t.Fatalf("%+v, %d servers, %s", next, w.count(), w.kinds())
		}
		w.change(func() { pinned = nil })
		after(endAgain)
		if s := w.the(t); s == hung || request(t, m).URL != next.s.URL {
			t.Error("the wrong one was ended")
		}
	})
}

// An order to restart it does not wait for what nobody will answer.
func TestRestartOfWhatHangs(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		waits := func() <-chan answer { w.hangs(t, b); return acquires(t, m) }()
		if id, err := w.restarts(t, b, false); err != nil || id.PID != 102 {
			t.Error(id, err)
		}
		if got := <-waits; got.err != nil || !strings.HasSuffix(got.s.URL, "102-1") {
			t.Errorf("%+v", got)
		}
	})
}

// One that goes while it is told that it could not be ended was not replaced.
func TestEndThatFailsTooLate(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		r, s := m.group.run, w.the(t)
		b.endRun(r, func(context.Context) error {
			s.dies("killed")
			synctest.Wait()
			return errors.New("it goes on")
		})
		if strings.Contains(w.kinds(), "stop_refused") {
			t.Errorf("%+v", w.told)
		}
	})
}

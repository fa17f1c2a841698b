package share

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A request that comes after the end of the server has begun, and before its lease
// is asked, has the server as soon as the lease refuses.
func TestARequestWhileItIsRefusedToPark(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Join(t.Context(), plan("a"), claude)
		first := request(t, m)
		got := make(chan error, 1)
		m.OnPark(func() bool {
			m.Began()
			go func() {
				defer m.Ended()
				s, err := m.Acquire(context.Background())
				if s.URL != first.URL {
					t.Errorf("it has got %q", s.URL)
				}
				got <- err
			}()
			time.Sleep(time.Second) // of the bubble; it waits by now
			return false
		})
		after(defaultIdle)
		refused := time.Now()
		time.Sleep(time.Second)
		if err := <-got; err != nil || time.Since(refused) > time.Second {
			t.Errorf("after %v: %v", time.Since(refused), err)
		}
	})
}

// Who waits for an end that fails learns that then.
func TestWaitsForAnEndThatFails(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Join(t.Context(), plan("a"), claude)
		request(t, m)
		w.stubborn = errors.New("something of it still runs")
		got := make(chan error, 1)
		m.OnPark(func() bool {
			go func() {
				_, err := m.Acquire(context.Background())
				got <- err
			}()
			time.Sleep(time.Second) // of the bubble
			return true
		})
		after(defaultIdle)
		at := time.Now()
		time.Sleep(time.Second)
		if err := <-got; !errors.Is(err, w.stubborn) || time.Since(at) > time.Second {
			t.Errorf("after %v: %v", time.Since(at), err)
		}
	})
}

// Leases are asked at once, so that a request that comes meanwhile waits for the
// slowest one only.
func TestLeasesParkTogether(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		for range 10 {
			m := b.Join(t.Context(), plan("a"), claude)
			request(t, m)
			m.OnPark(func() bool { time.Sleep(2 * time.Second); return true })
		}
		after(defaultIdle + time.Second)
		began := time.Now()
		request(t, b.Join(t.Context(), plan("a"), claude))
		if waited := time.Since(began); waited != time.Second || w.launched != 2 { // of the bubble
			t.Errorf("it has waited %v", waited)
		}
	})
}

// Who waits for the end of a server when we end is told that, and at once.
func TestTheEndWhileOneIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := New(w.options())
		end := served(t, b)
		m := b.Join(t.Context(), plan("a"), claude)
		request(t, m)
		w.the(t).exits("exited with status 1")
		synctest.Wait()
		got := make(chan error, 1)
		go func() {
			_, err := m.Acquire(context.Background())
			got <- err
		}()
		synctest.Wait()
		began := time.Now()
		end()
		if err := <-got; !errors.Is(err, errEnding) || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		w.the(t).dies("")
	})
}

// While nothing may be shared, because another user has logged in, nothing is
// started, and what runs is parked as soon as nobody needs it.
func TestForbidden(t *testing.T) {
	const why = "another user is logged in, bob"
	within(t, func(t *testing.T, w *world, b *Broker) {
		w.change(func() { w.idle = 0 })
		m := b.Join(t.Context(), plan("a"), claude)
		request(t, m)
		m.Began()
		w.change(func() { w.bar = why })
		after(3 * lookMost)
		if w.count() != 1 {
			t.Fatal("it was ended with a request in flight")
		}
		w.change(func() { w.busy = true })
		m.Ended()
		after(3 * lookMost)
		if w.count() != 1 {
			t.Fatal("it was ended at work")
		}
		w.change(func() { w.busy = false })
		after(2 * lookMost)
		if s := one(t, b); w.count() != 0 || s.Reason != why {
			t.Errorf("it goes on: %+v", s)
		}
		for range 2 * mostCrashes { // none of which is a crash
			if err := refused(t, m); !strings.Contains(err.Error(), why) || w.launched != 1 {
				t.Fatal(err)
			}
		}
		if s := one(t, b); !s.Parked || s.Reason != why {
			t.Errorf("%+v", s)
		}
		w.change(func() { w.bar = "" })
		request(t, m)
	})
}

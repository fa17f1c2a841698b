package share

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for an end that fails learns that then.
func TestWaitsForAnEndThatFails(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		w.stubborn = errors.New("something of it still runs")
		got := make(chan error, 1)
		w.change(func() {
			w.ending = func() {
				go func() {
					_, err := m.Acquire(context.Background())
					got <- err
				}()
				time.Sleep(time.Second) // of the bubble
			}
		})
		after(defaultIdle)
		at := time.Now()
		time.Sleep(time.Second)
		if err := <-got; !errors.Is(err, w.stubborn) || time.Since(at) > time.Second {
			t.Errorf("after %v: %v", time.Since(at), err)
		}
	})
}

// Who waits for the end of a server when we end is told that, and at once.
func TestTheEndWhileOneIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := New(w.options())
		end := served(t, b)
		m := b.Attach(plan("a"), claude)
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
		m := b.Attach(plan("a"), claude)
		request(t, m)
		ended := m.Began()
		w.change(func() { w.bar = why })
		after(3 * lookMost)
		if w.count() != 1 {
			t.Fatal("it was ended with a request in flight")
		}
		w.change(func() { w.busy = true })
		ended()
		after(3 * lookMost)
		if w.count() != 1 {
			t.Fatal("it was ended at work")
		}
		w.change(func() { w.busy, w.other = false, "a program that may be bob's is connected to it" })
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

// A shorter time holds as soon as it is set.
func TestReconsider(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		request(t, b.Attach(plan("a"), claude))
		after(10 * time.Second)
		w.change(func() { w.idle = 5 * time.Second })
		b.Reconsider()
		synctest.Wait()
		if w.count() != 0 {
			t.Error("it waits for the next look")
		}
	})
}

// What speaks against parking, and that it is asked again.
func TestNotParked(t *testing.T) {
	for name, test := range map[string]struct {
		against, over func(w *world, m *Client)
	}{
		"in flight": {
			func(w *world, m *Client) { w.ended = m.Began() },
			func(w *world, _ *Client) { w.ended() },
		},
		"spared": {
			func(w *world, _ *Client) { w.change(func() { w.spare = "it is pinned" }) },
			func(w *world, _ *Client) { w.change(func() { w.spare = "" }) },
		},
		"busy": {
			func(w *world, _ *Client) { w.change(func() { w.busy = true }) },
			func(w *world, _ *Client) { w.change(func() { w.busy = false }) },
		},
		"something works below it": {
			func(w *world, _ *Client) { w.change(func() { w.works = time.Now().Add(time.Hour) }) },
			func(w *world, _ *Client) { w.change(func() { w.works = time.Time{} }) },
		},
		"somebody else has it": {
			func(w *world, _ *Client) { w.change(func() { w.other = "curl (8) is connected to it" }) },
			func(w *world, _ *Client) { w.change(func() { w.other = "" }) },
		},
		"nobody knows": {
			func(w *world, _ *Client) { w.change(func() { w.odd = errors.New("no answer") }) },
			func(w *world, _ *Client) { w.change(func() { w.odd = nil }) },
		},
		"lingering": {
			func(_ *world, m *Client) { m.Lingering(time.Hour + time.Second) },
			func(*world, *Client) {},
		},
		"never": {
			func(w *world, _ *Client) { w.change(func() { w.idle = 0 }) },
			func(w *world, _ *Client) { w.change(func() { w.idle = defaultIdle }) },
		},
		"variables": {
			func(w *world, m *Client) { m.Seen("x"); w.change(func() { w.holds = "it holds x" }) },
			func(w *world, m *Client) { w.change(func() { w.holds = "" }); m.Began()() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T, w *world, b *Broker) {
				m := b.Attach(plan("a"), claude)
				request(t, m)
				before := m.serverID()
				test.against(w, m)
				after(time.Hour)
				if w.count() != 1 {
					t.Fatal("it was ended")
				}
				if m.serverID() != before {
					t.Fatal("requests have it no more")
				}
				test.over(w, m)
				after(defaultIdle + 2*time.Minute)
				if w.count() != 0 || !one(t, b).Parked {
					t.Error("it was not parked later")
				}
			})
		})
	}
}

// The REPL is asked for each session that was seen, but not again and again while
// nobody asks for anything.
func TestAsksForVariables(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		w.holds = "it holds x"
		m := b.Attach(plan("a"), claude)
		m.Seen("one") // before the server runs
		request(t, m)
		m.Seen("two")
		m.Seen("one")
		after(5 * time.Hour)
		if len(w.asked) != 1 || strings.Join(w.asked[0], " ") != "two one" {
			t.Errorf("asked %q", w.asked)
		}
		// What nobody can name any more is not worth keeping.
		m.Detach()
		after(time.Hour)
		if w.count() != 0 || len(w.asked) != 1 {
			t.Errorf("%d servers run; asked %q", w.count(), w.asked)
		}
	})
}

// What comes while it is looked whether the server works is in time.
func TestARequestWhileItIsLookedAt(t *testing.T) {
	for name, during := range map[string]func(t *testing.T, m *Client){
		"in flight": func(_ *testing.T, m *Client) { m.Began() },
		"answered": func(t *testing.T, m *Client) {
			time.Sleep(time.Second) // of the bubble
			request(t, m)
		},
		"acquired": func(t *testing.T, m *Client) {
			time.Sleep(time.Second)
			if _, err := m.Acquire(context.Background()); err != nil {
				t.Error(err)
			}
		},
		"lingers": func(_ *testing.T, m *Client) { m.Lingering(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T, w *world, b *Broker) {
				m := b.Attach(plan("a"), claude)
				request(t, m)
				w.change(func() {
					w.during = func() {
						w.change(func() { w.during = nil })
						during(t, m)
					}
				})
				after(defaultIdle + 2*time.Second)
				if w.count() != 1 {
					t.Error("it was ended")
				}
			})
		})
	}
}

// A server is shut before it ends, and a request that comes meanwhile waits for the next
// one.
func TestARequestWhileItIsParked(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m, other := b.Attach(plan("a"), claude), b.Attach(plan("a"), claude)
		first := request(t, m)
		got := make(chan string, 1)
		w.change(func() {
			w.ending = func() {
				if !isClosed(first.Shut) || isClosed(first.Gone) {
					t.Error("who has it would use it")
				}
				go func() {
					ended := other.Began()
					defer ended()
					s, err := other.Acquire(context.Background())
					got <- s.URL
					if err != nil || isClosed(s.Shut) {
						t.Error(err)
					}
				}()
				time.Sleep(time.Second) // of the bubble
			}
		})
		after(defaultIdle)
		if url := <-got; url == first.URL || w.launched != 2 {
			t.Errorf("it has got %s", url)
		}
	})
}

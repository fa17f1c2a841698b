package share

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// A crash is said, and the next request starts it again; not so when it crashes
// again and again.
func TestCrashes(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		crash := func() {
			t.Helper()
			s := request(t, m)
			w.the(t).dies("exited with status 1")
			synctest.Wait()
			<-s.Gone
			if why := s.Why(); why != "it exited with status 1" {
				t.Error(why)
			}
			if s := one(t, b); !s.Parked || s.Reason != "it exited with status 1" || s.Server.PID == 0 {
				t.Errorf("%+v", s)
			}
		}
		crash()
		after(time.Hour)
		if w.count() != 0 {
			t.Error("it came back by itself")
		}
		crash()
		crash()
		crash()
		if err := refused(t, m); !errors.Is(err, errCrashes) || !strings.Contains(err.Error(), "it exited with status 1") {
			t.Error(err)
		}
		after(crashFirst)
		crash()
		after(crashFirst)
		if err := refused(t, m); !errors.Is(err, errCrashes) {
			t.Error(err)
		}
		after(crashFirst)
		request(t, m)
		after(crashWindow)
		crash()
		request(t, m) // it has worked meanwhile
		if got := w.kinds(); got != "parked woken parked woken parked woken parked woken parked woken parked woken" {
			t.Error(got)
		}
	})
}

// How a server has ended is waited for, as long as that is no more than a moment.
func TestWhyComesLate(t *testing.T) {
	for name, test := range map[string]struct {
		first      string
		done, told time.Duration // after its process; when the client has its answer
		want       string
	}{
		"at once":            {"was ended by signal 9", time.Millisecond, time.Millisecond, "it was ended by signal 9"},
		"later":              {"exited", whyTime / 2, whyTime / 2, "it was ended by signal 9"},
		"too late":           {"exited", time.Minute, whyTime, "it exited"},
		"known, and goes on": {"was ended by signal 9", time.Minute, whyTime, "it was ended by signal 9"},
	} {
		within(t, func(t *testing.T, w *world, b *Broker) {
			s := request(t, b.Attach(plan("a"), claude))
			server := w.the(t)
			server.exits(test.first)
			<-s.Gone
			begun := time.Now()
			time.AfterFunc(test.done, func() {
				w.mu.Lock()
				server.why = "was ended by signal 9"
				w.mu.Unlock()
				server.dies("")
			})
			if why := s.Why(); why != test.want || time.Since(begun) != test.told {
				t.Errorf("%s: %q after %v", name, why, time.Since(begun))
			}
			after(test.done)
		})
	}
}

// What a user has ended is no crash, and comes back with the next request only.
func TestStoppedByTheUser(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		for range 5 {
			request(t, m)
			s := w.the(t)
			b.Note(monitor.Event{Kind: monitor.EventStopOrdered, ID: s.id.String(), Detail: "by the tray"})
			b.Note(monitor.Event{Kind: monitor.EventStopOrdered, ID: "1-1", Detail: "by nobody"})
			s.dies("exited with status 143")
			synctest.Wait()
			if s := one(t, b); s.Reason != "it was stopped by the tray" {
				t.Errorf("%+v", s)
			}
		}
		after(time.Hour)
		if w.count() != 0 {
			t.Error("it came back by itself")
		}
	})
}

// A server that cannot be ended is said, and tried again.
func TestSurvives(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		w.change(func() { w.stubborn = errors.New("something of it still runs") })
		after(defaultIdle)
		if err := refused(t, m); !errors.Is(err, errSurvives) || !strings.Contains(err.Error(), "something of it") {
			t.Error(err)
		}
		w.change(func() { w.stubborn = nil })
		after(lookMost)
		request(t, m)
		if w.launched != 2 {
			t.Error("there is no other server")
		}
	})
}

// The process of a server has ended, and something of it goes on: clients know at
// once, and nobody waits for ever.
func TestSomethingSurvives(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		s := request(t, m)
		w.the(t).exits("exited with status 1")
		<-s.Gone
		if m.serverID() != "" {
			t.Error("it still runs")
		}
		if err := refused(t, m); !errors.Is(err, errSurvives) {
			t.Error(err)
		}
		w.the(t).dies("")
		if request(t, m).URL == s.URL {
			t.Error("it has the old server")
		}
	})
}

// A stop that came to nothing does not make later crashes the user's wish.
func TestAStopThatCameToNothing(t *testing.T) {
	for name, after := range map[string]func(b *Broker, id string){
		"refused":     func(b *Broker, id string) { b.Note(monitor.Event{Kind: monitor.EventStopRefused, ID: id}) },
		"failed":      func(b *Broker, id string) { b.Note(monitor.Event{Kind: monitor.EventStopFailed, ID: id}) },
		"nobody said": func(*Broker, string) { time.Sleep(2 * orderTime) }, // of the bubble
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T, w *world, b *Broker) {
				m := b.Attach(plan("a"), claude)
				request(t, m)
				s := w.the(t)
				b.Note(monitor.Event{Kind: monitor.EventStopOrdered, ID: s.id.String(), Detail: "by the tray"})
				after(b, s.id.String())
				s.dies("was ended by signal 11")
				synctest.Wait()
				if reason := one(t, b).Reason; reason != "it was ended by signal 11" || m.group.crashes.row != 1 {
					t.Errorf("%s, and %d crashes", reason, m.group.crashes.row)
				}
			})
		})
	}
}

// The outcome of a stop may be told after the process has ended.
func TestAStopThatLeavesSomething(t *testing.T) {
	within(t, func(t *testing.T, w *world, b *Broker) {
		m := b.Attach(plan("a"), claude)
		request(t, m)
		s := w.the(t)
		b.Note(monitor.Event{Kind: monitor.EventStopOrdered, ID: s.id.String(), Detail: "by the tray"})
		s.exits("exited with status 143")
		synctest.Wait()
		b.Note(monitor.Event{Kind: monitor.EventStopFailed, ID: s.id.String()})
		s.dies("")
		synctest.Wait()
		if reason := one(t, b).Reason; reason != "it was stopped by the tray" {
			t.Error(reason)
		}
	})
}

package policies

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// machine is an engine with everything that may happen around it.
type machine struct {
	*drive
	o    Options
	list map[int]*monitor.Instance

	refusing bool                               // what the ladder does now
	started  map[monitor.Identity]time.Duration // when an end was tried last
	shown    map[string]time.Time               // when a subject was told of last
	woke     time.Duration                      // when the machine last woke
	seen     int                                // of the events
	promised map[monitor.Identity]time.Duration // when an end was announced that still stands
	fail     func(format string, args ...any)
}

func (m *machine) publish() {
	var all []monitor.Instance
	for _, in := range m.list {
		all = append(all, *in)
	}
	monitor.Sort(m.instances(all...).Instances)
}

// climb is the ladder: it checks what must hold whenever something is ended.
func (m *machine) climb(in monitor.Instance, o stop.Order) (stop.Result, error) {
	now := m.time.Sub(noon)
	is := m.list[in.Identity.PID]
	kept, _ := m.e.wishesNow().KeptAt(in.Identity, m.time)
	announced, told := m.promised[in.Identity]
	since := is.Evidence.IdleSince
	least := 30 * time.Minute
	if is.Evidence.Orphaned {
		since, least = is.Evidence.AloneSince, 10*time.Minute
	}
	alone := m.time.Sub(since)
	last, tried := m.started[in.Identity]
	switch {
	case !o.Automatic || o.Confirm == nil || o.Force:
		m.fail("the order is %+v", o)
	case is.Pinned, *is.Busy, kept.After(m.time), m.e.wishesNow().PausedAt(m.time):
		m.fail("%s is ended although it is not to be", in.Label())
	case !is.Evidence.Orphaned && is.Evidence.Transport == "stdio":
		m.fail("%s is ended although its client is there", in.Label())
	case !told || now-announced < noticeTime && !tried:
		m.fail("%s is ended %v after it was announced (%v)", in.Label(), now-announced, told)
	case alone < least:
		m.fail("%s is ended after %v", in.Label(), alone)
	case m.woke > 0 && now-m.woke < least:
		m.fail("%s is ended %v after the machine woke", in.Label(), now-m.woke)
	case tried && now-last < firstPause:
		m.fail("%s is tried again after %v", in.Label(), now-last)
	}
	m.started[in.Identity] = now
	if m.refusing {
		refusal := &stop.Refusal{Label: in.Label(), Kind: stop.ErrInUse, Why: "it is in use by curl (77). End that first."}
		return stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}, refusal
	}
	delete(m.list, in.Identity.PID)
	m.stopped = append(m.stopped, in.Identity)
	return stop.Result{Outcome: stop.Ended, FreedBytes: 1}, nil
}

// heard follows what is announced and taken back, as people would.
func (m *machine) heard() {
	for _, e := range m.events[m.seen:] {
		id, err := monitor.ParseIdentity(e.ID)
		switch e.Kind {
		case monitor.EventShutdownPlanned:
			if _, twice := m.promised[id]; twice || err != nil {
				m.fail("%s is announced twice", e.Label)
			}
			m.promised[id] = m.time.Sub(noon)
		case monitor.EventPlanDropped:
			if _, announced := m.promised[id]; !announced {
				m.fail("%s was not announced", e.Label)
			}
			delete(m.promised, id)
			delete(m.started, id)
			delete(m.shown, subject(willEnd, id)) // another end is another subject
		}
	}
	m.seen = len(m.events)
}

// Whatever happens: what is ended was announced in time, for a rule whose time is
// over and that nothing stands against; nobody is told of a subject twice within
// the hour, and nothing while the policies are paused.
func TestMachine(t *testing.T) {
	root, runs := t.TempDir(), 0
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		w := newWorld()
		m := &machine{
			list: map[int]*monitor.Instance{}, started: map[monitor.Identity]time.Duration{}, shown: map[string]time.Time{},
			promised: map[monitor.Identity]time.Duration{}, fail: t.Fatalf, o: w.options(),
		}
		m.o.Path = filepath.Join(root, fmt.Sprint(runs), "policy.json")
		w.stop = m.climb
		m.o.Stop = stopper(func(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
			result, err := w.Stop(ctx, in, o)
			if result.Outcome == stop.Refused && !strings.HasPrefix(o.By, "the policy orphans: ") {
				delete(m.promised, in.Identity) // the next try has to be announced anew
				delete(m.shown, subject(willEnd, in.Identity))
			}
			return result, err
		})
		m.o.Record = func(e monitor.Event) { w.events = append(w.events, e); m.heard() }
		m.o.Tell = func(n Notice) {
			if at, told := m.shown[n.Subject]; told && w.time.Sub(at) < time.Hour {
				t.Fatalf("%q is told again after %v", n.Subject, w.time.Sub(at))
			}
			if m.e.wishesNow().PausedAt(w.time) {
				t.Fatalf("%q is told although the policies are paused", n.Subject)
			}
			m.shown[n.Subject] = w.time
		}
		open := func() { // as after a restart of everything: spans begin anew with the watch
			m.woke = 0
			m.drive = w.drive(w.engine(m.o))
			clear(m.promised)
			clear(m.started)
			clear(m.shown)
			m.publish()
			m.look()
		}
		open()
		some := func(t *rapid.T) *monitor.Instance {
			var pids []int
			for pid := range m.list {
				pids = append(pids, pid)
			}
			if len(pids) == 0 {
				t.Skip("there is none")
			}
			slices.Sort(pids)
			return m.list[rapid.SampledFrom(pids).Draw(t, "pid")]
		}
		news := func() { m.publish(); m.look(); m.carryOut() }
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				next++
				make := rapid.SampledFrom([]func(int, time.Time) monitor.Instance{server, attached, orphan}).Draw(t, "kind")
				in := make(next, w.time)
				m.list[next] = &in
				news()
			},
			"abandon": func(t *rapid.T) {
				in := some(t)
				*in = orphan(in.Identity.PID, w.time)
				news()
			},
			"come back": func(t *rapid.T) {
				in := some(t)
				*in = attached(in.Identity.PID, w.time)
				news()
			},
			"call": func(t *rapid.T) {
				busy, in := !*some(t).Busy, some(t)
				in.Busy, in.Evidence.IdleSince = &busy, time.Time{}
				if !busy {
					in.Evidence.IdleSince = w.time
				}
				news()
			},
			"pin":    func(t *rapid.T) { in := some(t); in.Pinned = !in.Pinned; news() },
			"exit":   func(t *rapid.T) { delete(m.list, some(t).Identity.PID); news() },
			"refuse": func(*rapid.T) { m.refusing = !m.refusing },
			"changed": func(*rapid.T) {
				if w.contrary = errUsed; rapid.Bool().Draw(t, "nothing") {
					w.contrary = nil
				}
			},
			"keep": func(t *rapid.T) {
				if err := m.e.Keep(*some(t), time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes"))*time.Minute, ""); err != nil {
					t.Fatal(err)
				}
				m.look()
			},
			"pause": func(t *rapid.T) {
				until := time.Time{}
				if minutes := rapid.IntRange(0, 90).Draw(t, "minutes"); minutes > 0 {
					until = w.time.Add(time.Duration(minutes) * time.Minute)
				}
				if err := m.e.Pause(until, ""); err != nil {
					t.Fatal(err)
				}
				m.look()
			},
			"resume": func(*rapid.T) {
				if err := m.e.Resume(""); err != nil {
					t.Fatal(err)
				}
				m.look()
				m.carryOut()
			},
			"switch": func(t *rapid.T) {
				if err := m.e.Switch(rapid.SampledFrom(policy.All).Draw(t, "rule"), rapid.Bool().Draw(t, "on"), ""); err != nil {
					t.Fatal(err)
				}
				m.look()
				m.carryOut()
			},
			"time": func(t *rapid.T) { m.pass(time.Duration(rapid.IntRange(1, 5400).Draw(t, "seconds")) * time.Second) },
			"sleep": func(t *rapid.T) {
				span := time.Duration(rapid.IntRange(31, 90000).Draw(t, "seconds")) * time.Second
				m.sleep(span)
				m.woke = w.time.Sub(noon)
				m.look()
				m.carryOut()
			},
			"restart": func(*rapid.T) { open() },
			"": func(t *rapid.T) {
				if len(m.begun) > 0 || len(m.e.book.running) > 0 {
					t.Fatal("an end is not over")
				}
				for id := range m.e.book.plans {
					if m.list[id.PID] == nil {
						t.Fatalf("%d is gone and has a plan", id.PID)
					}
				}
			},
		})
		ended += len(w.stopped)
		// When nothing stands against it any more, all that nobody uses ends.
		m.refusing, w.contrary = false, nil
		if err := m.e.Resume(""); err != nil {
			t.Fatal(err)
		}
		for _, rule := range policy.All {
			if err := m.e.Switch(rule, true, ""); err != nil {
				t.Fatal(err)
			}
		}
		for _, in := range m.list {
			*in = orphan(in.Identity.PID, w.time)
		}
		news()
		for range 4 {
			m.pass(time.Hour)
			m.publish()
			m.look()
		}
		if len(m.list) > 0 {
			t.Fatalf("%d are never ended", len(m.list))
		}
	})
	if ended == 0 {
		t.Error("nothing was ever ended")
	}
}

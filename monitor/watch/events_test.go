package watch

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

func TestHappened(t *testing.T) {
	var kept []monitor.Event
	var mu sync.Mutex
	w := New(Options{Record: func(e monitor.Event) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, e)
	}})
	for i := range 25 {
		w.Record(monitor.Event{Kind: monitor.EventStarted, PID: i, ID: strconv.Itoa(i)})
	}
	recent := w.events.latest()
	if len(recent) != monitor.RecentEvents || recent[0].PID != 24 || recent[9].PID != 15 {
		t.Errorf("%+v", recent)
	}
	w.Record(monitor.Event{Kind: monitor.EventStopRefused})
	if recent[0].PID != 24 || w.events.latest()[0].Kind != monitor.EventStopRefused {
		t.Error("a list that was handed out has changed, or the newest is not first")
	}
	if len(kept) != 26 {
		t.Errorf("%d events were recorded", len(kept))
	}
}

func TestStepsGiveWayToTheirEnd(t *testing.T) {
	order := []monitor.EventKind{monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated}
	for _, c := range []struct {
		name string
		then []monitor.EventKind
		want []monitor.EventKind // newest first
	}{
		{"on the way", nil, []monitor.EventKind{monitor.EventTerminated, monitor.EventAsked, monitor.EventStopOrdered}},
		{"ended, then seen gone", []monitor.EventKind{monitor.EventEnded, monitor.EventStopped}, []monitor.EventKind{monitor.EventEnded}},
		{"seen gone, then ended", []monitor.EventKind{monitor.EventStopped, monitor.EventEnded}, []monitor.EventKind{monitor.EventEnded}},
		{"by force", []monitor.EventKind{monitor.EventForceKilled, monitor.EventEnded}, []monitor.EventKind{monitor.EventEnded, monitor.EventForceKilled}},
		{"ended to be parked", []monitor.EventKind{monitor.EventStopped, monitor.EventEnded, monitor.EventParked}, []monitor.EventKind{monitor.EventParked}},
		{"parked, then seen gone", []monitor.EventKind{monitor.EventParked, monitor.EventStopped}, []monitor.EventKind{monitor.EventParked}},
		{"refused twice", []monitor.EventKind{monitor.EventStopRefused, monitor.EventStopRefused}, []monitor.EventKind{monitor.EventStopRefused}},
	} {
		w := New(Options{})
		w.note(monitor.Event{ID: "other", Kind: monitor.EventStopOrdered})
		for _, k := range append(slices.Clone(order), c.then...) {
			w.note(monitor.Event{ID: "this", Kind: k})
		}
		var got []monitor.EventKind
		for _, e := range w.events.latest() {
			if e.ID == "this" {
				got = append(got, e.Kind)
			}
		}
		if !slices.Equal(got, c.want) || w.events.latest()[len(w.events.latest())-1].ID != "other" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestEndedOnPurposeIsNoDefunct(t *testing.T) {
	w := New(Options{})
	mk := func(pid int, cause monitor.Cause) monitor.Instance {
		return monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, State: monitor.StateZombie, Cause: cause}
	}
	list := func() []*monitor.Instance {
		return []*monitor.Instance{new(mk(1, monitor.CauseDefunct)), new(mk(2, monitor.CauseDefunct)), new(mk(1000, monitor.CauseSuspended))}
	}
	id := func(pid int) string { return monitor.Identity{PID: pid, Start: 1}.String() }
	for pid := range 3 * maxDepartures {
		w.note(monitor.Event{Kind: monitor.EventEnded, ID: id(1000 + pid)})
	}
	w.note(monitor.Event{Kind: monitor.EventEnded, ID: id(1)})
	if got := w.events.withoutEnded(list()); len(got) != 2 || got[0].Identity.PID != 2 || got[1].Identity.PID != 1000 {
		t.Errorf("%+v", got)
	}
	if len(w.events.departures) != maxDepartures {
		t.Errorf("%d are remembered", len(w.events.departures))
	}
}

// TestNewEvents: that a server is parked, wakes or loses its last client is told by who
// does it.
func TestNewEvents(t *testing.T) {
	id := monitor.Identity{PID: 1 << 30, Start: 1 << 60}
	reused, two := id, id
	reused.Start++
	two.PID++
	as := func(id monitor.Identity, st monitor.State, cause monitor.Cause, project string) monitor.Instance {
		return monitor.Instance{Identity: id, Kind: monitor.KindSerena, State: st, Cause: cause, ProjectName: project}
	}
	starting, live := as(id, monitor.StateStarting, "", "a"), as(id, monitor.StateProject, "", "a")
	suspended, hung := as(id, monitor.StateZombie, monitor.CauseSuspended, "a"), as(id, monitor.StateZombie, monitor.CauseUnreachable, "a")
	defunct, parked, woken := as(id, monitor.StateZombie, monitor.CauseDefunct, "a"), as(id, monitor.StateParked, "", "a"), as(two, monitor.StateProject, "", "a")
	onPipes := live
	onPipes.OnPipes = true
	type list = []*monitor.Instance
	for _, c := range []struct {
		name          string
		before, after list
		want          string
	}{
		{"nothing", list{new(live)}, list{new(live)}, ""},
		{"arrives starting", nil, list{new(starting)}, "started"},
		{"arrives with a project", nil, list{new(live)}, "started project_activated"},
		{"ready", list{new(starting)}, list{new(live)}, "project_activated"},
		{"other project", list{new(live)}, list{new(as(id, monitor.StateProject, "", "b"))}, "project_activated"},
		{"red", list{new(live)}, list{new(suspended)}, "zombie_detected"},
		{"another red", list{new(suspended)}, list{new(hung)}, "zombie_detected"},
		{"healed", list{new(suspended)}, list{new(live)}, "heartbeat_restored"},
		{"leaves", list{new(live), new(woken)}, list{new(woken)}, "stopped"},
		{"unreaped", nil, list{new(defunct)}, "zombie_detected"},
		{"reaped", list{new(defunct)}, nil, ""},
		{"same pid, another process", list{new(live)}, list{new(as(reused, monitor.StateNoProject, "", ""))}, "started stopped"},
		{"parked", list{new(live)}, list{new(parked)}, ""},
		{"parked after it was red", list{new(hung)}, list{new(parked)}, ""},
		{"parked before we began", nil, list{new(parked)}, ""},
		{"woken", list{new(parked)}, list{new(woken)}, "started project_activated"},
		{"left by its last client", list{new(parked)}, nil, ""},
		{"on the pipes of a client", nil, list{new(onPipes)}, ""},
		{"known for a server by now", list{new(onPipes)}, list{new(live)}, "started project_activated"},
		{"the first look", nil, list{new(live), new(as(two, monitor.StateZombie, monitor.CauseSuspended, ""))}, "found found zombie_detected"},
	} {
		w, l := New(Options{}), New(Options{Rules: noRules{}}).begin(nil)
		before := &monitor.Snapshot{Seq: 1, Instances: c.before}
		if c.name == "the first look" {
			before.Seq = 0
		} else {
			w.newEvents(l, &monitor.Snapshot{}, before)
		}
		var kinds []string
		for _, e := range w.newEvents(l, before, &monitor.Snapshot{Seq: 2, At: time.Now(), Instances: c.after}) {
			kinds = append(kinds, string(e.Kind))
			if e.At.IsZero() || e.ID == "" {
				t.Errorf("%s: incomplete event %+v", c.name, e)
			}
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Who waits for a launch and becomes another program has neither begun nor ended.
func TestAwaitedIsAnotherProgram(t *testing.T) {
	w, l := New(Options{}), New(Options{Rules: noRules{}}).begin(nil)
	tr := l.newTracked(process.Info{Identity: l.self}, "memory", serena.Command{}, time.Now())
	tr.awaited = true
	l.tracked[l.self] = tr
	l.untrack(tr)
	if events := w.newEvents(l, &monitor.Snapshot{Seq: 1}, &monitor.Snapshot{Seq: 2}); len(events) > 0 {
		t.Errorf("%+v", events)
	}
}

// A launcher that turned out to be none of a server's is nothing to tell.
func TestMovesAreNoEvents(t *testing.T) {
	launcher, middle, owner := monitor.Identity{PID: 1 << 30, Start: 1}, monitor.Identity{PID: 1<<30 + 1, Start: 1}, monitor.Identity{PID: 1<<30 + 2, Start: 1}
	shows := func(seq uint64, ids ...monitor.Identity) *monitor.Snapshot {
		s := &monitor.Snapshot{Seq: seq}
		for _, id := range ids {
			s.Instances = append(s.Instances, new(monitor.Instance{Identity: id}))
		}
		return s
	}
	for _, c := range []struct {
		name          string
		before, after *monitor.Snapshot
		moves         []monitor.Identity
		want          string
	}{
		{"to the owner of its port", shows(1, launcher), shows(2, owner), []monitor.Identity{launcher, owner}, ""},
		{"in two steps", shows(1, launcher), shows(2, owner), []monitor.Identity{launcher, middle, owner}, ""},
		{"and back", shows(1, launcher), shows(2, launcher), []monitor.Identity{launcher, middle, launcher}, ""},
		{"it was not told of", shows(1), shows(2, owner), []monitor.Identity{launcher, owner}, "found"},
		{"above one that is known", shows(1, launcher, owner), shows(2, owner), []monitor.Identity{launcher, {}}, ""},
		{"the owner has ended", shows(1, owner), shows(2), []monitor.Identity{launcher, middle}, "stopped"},
	} {
		w, l := New(Options{}), New(Options{Rules: noRules{}}).begin(nil)
		w.newEvents(l, shows(0), c.before)
		for i, from := range c.moves[1:] {
			l.moveAnnounced(c.moves[i], from)
		}
		got := ""
		for _, e := range w.newEvents(l, c.before, c.after) {
			got += string(e.Kind)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// One that clients share has ended once, whoever says so.
func TestDeparted(t *testing.T) {
	runs, parked := running(serverOne), running(serverOne)
	parked.State = monitor.StateParked
	defunct := running(serverOne)
	defunct.State, defunct.Cause = monitor.StateZombie, monitor.CauseDefunct
	never := parked
	never.Identity = monitor.Identity{Start: 7}
	shows := func(list ...monitor.Instance) *monitor.Snapshot {
		s := &monitor.Snapshot{}
		for _, in := range list {
			s.Instances = append(s.Instances, &in)
		}
		return s
	}
	for _, c := range []struct {
		name  string
		steps []any // a snapshot, or a kind of event that somebody records
		want  int
	}{
		{"parked, as is told before it is seen", []any{shows(runs), monitor.EventParked, shows(parked), shows()}, 0},
		{"parked, as is told afterwards", []any{shows(runs), shows(parked), monitor.EventParked, shows()}, 0},
		{"its last client has left before anybody told", []any{shows(runs), shows(parked), shows(parked), shows(), shows()}, 1},
		{"ended by an order", []any{shows(runs), monitor.EventEnded, shows(parked), monitor.EventParked, shows()}, 0},
		{"ended for another in its place", []any{shows(runs), monitor.EventEnded, shows(parked), shows(running(serverTwo))}, 1},
		{"its end was told as it was seen defunct", []any{shows(runs), shows(defunct), shows(parked), shows()}, 0},
		{"another has its place", []any{shows(runs), shows(parked), shows(running(serverTwo))}, 1},
		{"woken, and told", []any{shows(runs), shows(parked), monitor.EventParked, shows(running(serverTwo))}, 0},
		{"it never ran", []any{shows(never), shows()}, 0},
		{"it goes without having been parked", []any{shows(runs), shows(), shows()}, 1},
	} {
		w, l := New(Options{}), New(Options{Rules: noRules{}}).begin(nil)
		got, before := 0, shows()
		for _, step := range c.steps {
			switch step := step.(type) {
			case monitor.EventKind:
				w.note(monitor.Event{Kind: step, ID: runs.ID()})
			case *monitor.Snapshot:
				for _, e := range w.newEvents(l, before, step) {
					if e.Kind == monitor.EventStopped && e.ID == runs.ID() && e.PID == serverOne.PID && e.Label != "" {
						got++
					}
					w.note(e)
				}
				before = step
			}
		}
		if got != c.want {
			t.Errorf("%s: told %d times, want %d", c.name, got, c.want)
		}
	}
}

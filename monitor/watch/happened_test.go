package watch

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
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
	recent := w.happened.list()
	if len(recent) != monitor.RecentEvents || recent[0].PID != 24 || recent[9].PID != 15 {
		t.Errorf("%+v", recent)
	}
	w.Record(monitor.Event{Kind: monitor.EventStopRefused})
	if recent[0].PID != 24 || w.happened.list()[0].Kind != monitor.EventStopRefused {
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
		var h happened
		h.note(monitor.Event{ID: "other", Kind: monitor.EventStopOrdered})
		for _, k := range append(slices.Clone(order), c.then...) {
			h.note(monitor.Event{ID: "this", Kind: k})
		}
		var got []monitor.EventKind
		for _, e := range h.list() {
			if e.ID == "this" {
				got = append(got, e.Kind)
			}
		}
		if !slices.Equal(got, c.want) || h.list()[len(h.list())-1].ID != "other" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestEndedOnPurposeIsNoDefunct(t *testing.T) {
	var h happened
	mk := func(pid int, cause monitor.Cause) monitor.Instance {
		return monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, State: monitor.StateZombie, Cause: cause}
	}
	list := func() []monitor.Instance {
		return []monitor.Instance{mk(1, monitor.CauseDefunct), mk(2, monitor.CauseDefunct), mk(1000, monitor.CauseSuspended)}
	}
	id := func(pid int) string { return monitor.Identity{PID: pid, Start: 1}.String() }
	for pid := range 3 * mostEnded {
		h.note(monitor.Event{Kind: monitor.EventEnded, ID: id(1000 + pid)})
	}
	h.note(monitor.Event{Kind: monitor.EventEnded, ID: id(1)})
	if got := h.withoutEnded(list()); len(got) != 2 || got[0].Identity.PID != 2 || got[1].Identity.PID != 1000 {
		t.Errorf("%+v", got)
	}
	if len(h.ended) != mostEnded {
		t.Errorf("%d are remembered", len(h.ended))
	}
}

// A launcher that turned out to be none of a server's is nothing to tell.
func TestMovesAreNoEvents(t *testing.T) {
	launcher, owner := monitor.Identity{PID: 1 << 30, Start: 1}, monitor.Identity{PID: 1<<30 + 1, Start: 1}
	l := newLoop(process.Local(), nil, nil, noRules{}, nil)
	l.moved[launcher] = owner
	told := &monitor.Snapshot{Instances: []monitor.Instance{{Identity: launcher}}}
	for _, c := range []struct {
		kind   monitor.EventKind
		id     monitor.Identity
		before *monitor.Snapshot
		tell   bool
	}{
		{monitor.EventProjectActivated, owner, told, true},
		{monitor.EventStarted, owner, told, false},
		{monitor.EventStarted, owner, &monitor.Snapshot{}, true},
		{monitor.EventStopped, launcher, told, false},
		{monitor.EventStopped, owner, told, true},
	} {
		if _, tell := l.judgeEvent(monitor.Event{Kind: c.kind, ID: c.id.String()}, c.before, &monitor.Snapshot{}); tell != c.tell {
			t.Errorf("%s of %v: %v", c.kind, c.id, tell)
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
	shows := func(list ...monitor.Instance) *monitor.Snapshot { return &monitor.Snapshot{Instances: list} }
	for _, c := range []struct {
		name  string
		steps []any // a snapshot, or a kind of event that somebody records
		want  int
	}{
		{"parked, as is told before it is seen", []any{shows(runs), monitor.EventParked, shows(parked), shows()}, 0},
		{"parked, as is told afterwards", []any{shows(runs), shows(parked), monitor.EventParked, shows()}, 0},
		{"its last client has left before anybody told", []any{shows(runs), shows(parked), shows(parked), shows(), shows()}, 1},
		{"ended by an order", []any{shows(runs), monitor.EventEnded, shows(parked), shows()}, 0},
		{"its end was told as it was seen defunct", []any{shows(runs), shows(defunct), shows(parked), shows()}, 0},
		{"another has its place", []any{shows(runs), shows(parked), shows(running(serverTwo))}, 1},
		{"woken, and told", []any{shows(runs), shows(parked), monitor.EventParked, shows(running(serverTwo))}, 0},
		{"it never ran", []any{shows(never), shows()}, 0},
		{"it goes without having been parked", []any{shows(runs), shows()}, 0},
	} {
		var h happened
		got, before := 0, shows()
		for _, step := range c.steps {
			switch step := step.(type) {
			case monitor.EventKind:
				h.note(monitor.Event{Kind: step, ID: runs.ID()})
			case *monitor.Snapshot:
				for _, e := range h.departed(before, step) {
					if e.Kind != monitor.EventStopped || e.ID != runs.ID() || e.PID != serverOne.PID || e.Label == "" {
						t.Errorf("%s: %+v", c.name, e)
					}
					h.note(e)
					got++
				}
				before = step
			}
		}
		if got != c.want {
			t.Errorf("%s: told %d times, want %d", c.name, got, c.want)
		}
	}
}

package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func instance(pid int) monitor.Instance {
	return monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 7}, Kind: monitor.KindSerena, State: monitor.StateProject, RSSBytes: uint64(pid)}
}

func event(kind monitor.EventKind, pid int, at time.Time, detail string) monitor.Event {
	in := instance(pid)
	return monitor.Event{At: at, Kind: kind, ID: in.ID(), PID: pid, Detail: detail}
}

// snapshotOf has those instances and events, newest event first.
func snapshotOf(at time.Time, recent []monitor.Event, pids ...int) *monitor.Snapshot {
	s := &monitor.Snapshot{At: at, Recent: recent[:min(len(recent), monitor.RecentEvents)]}
	for _, pid := range pids {
		s.Instances = append(s.Instances, new(instance(pid)))
	}
	return s
}

func pidsOf(list []Ended) (pids []int) {
	for _, e := range list {
		pids = append(pids, *e.Instance.PID)
	}
	return pids
}

func TestWhyItEnded(t *testing.T) {
	type step struct {
		recent []monitor.Event // newest first
		here   bool
	}
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	found := event(monitor.EventFound, 1, at(0), "")
	for _, c := range []struct {
		name  string
		noted []monitor.Event
		steps []step
		want  string // "" = it is not among the ended
	}{
		{"it exits", nil, []step{{[]monitor.Event{found}, true}, {[]monitor.Event{event(monitor.EventStopped, 1, at(1), "ran 5 min"), found}, false}}, "it has exited; it ran 5 min"},
		{"it exits, how old is not known", nil, []step{{nil, true}, {[]monitor.Event{event(monitor.EventStopped, 1, at(1), "")}, false}}, "it has exited"},
		{
			"ended", nil, []step{
				{[]monitor.Event{found}, true},
				{[]monitor.Event{event(monitor.EventEnded, 1, at(1), "1 process, about 9 MB given back, after 1s"), found}, false},
			}, "lamplighter ended it: 1 process, about 9 MB given back, after 1s",
		},
		{
			"seen gone, then verified", nil, []step{
				{[]monitor.Event{found}, true},
				{[]monitor.Event{event(monitor.EventStopped, 1, at(1), ""), event(monitor.EventForceKilled, 1, at(1), ""), found}, false},
				{[]monitor.Event{event(monitor.EventEnded, 1, at(2), "1 process"), event(monitor.EventForceKilled, 1, at(1), ""), found}, false},
			}, "lamplighter ended it by force: 1 process",
		},
		{
			"killed, not verified", nil, []step{
				{[]monitor.Event{found}, true},
				{[]monitor.Event{event(monitor.EventStopped, 1, at(2), ""), event(monitor.EventForceKilled, 1, at(1), "python (1)"), found}, false},
			}, "it was force-killed: python (1)",
		},
		{
			"forgotten", nil, []step{{[]monitor.Event{found}, true}, {[]monitor.Event{event(monitor.EventForgotten, 1, at(1), "it runs on, but no rule knows it any more"), found}, false}},
			"it runs on, but no rule knows it any more",
		},
		{
			"forgotten, found and gone", nil, []step{
				{[]monitor.Event{found}, true},
				{[]monitor.Event{event(monitor.EventForgotten, 1, at(1), ""), found}, false},
				{[]monitor.Event{event(monitor.EventFound, 1, at(2), ""), event(monitor.EventForgotten, 1, at(1), ""), found}, true},
				{[]monitor.Event{event(monitor.EventStopped, 1, at(3), ""), event(monitor.EventFound, 1, at(2), ""), event(monitor.EventForgotten, 1, at(1), "")}, false},
			}, "it has exited",
		},
		{
			"forgotten and back", nil, []step{
				{[]monitor.Event{found}, true},
				{[]monitor.Event{event(monitor.EventForgotten, 1, at(1), ""), found}, false},
				{[]monitor.Event{event(monitor.EventFound, 1, at(2), ""), event(monitor.EventForgotten, 1, at(1), "")}, true},
			}, "",
		},
		{"a launcher that was no server", nil, []step{{[]monitor.Event{found}, true}, {[]monitor.Event{event(monitor.EventFound, 2, at(1), ""), found}, false}}, ""},
		{"too much happened", nil, []step{{[]monitor.Event{found}, true}, {crowd(20, at(5)), false}}, "it has exited; what ended it was not seen"},
		{
			"too much happened, but it was noted", []monitor.Event{event(monitor.EventEnded, 1, at(5), "1 process")},
			[]step{{[]monitor.Event{found}, true}, {crowd(20, at(5)), false}}, "lamplighter ended it: 1 process",
		},
		{"hostile", nil, []step{{nil, true}, {[]monitor.Event{event(monitor.EventEnded, 1, at(1), "a\x1b[2J\nb")}, false}}, "lamplighter ended it: " + monitor.Clean("a\x1b[2J\nb")},
	} {
		b := newBook()
		for i, s := range c.steps {
			if i == len(c.steps)-1 {
				for _, e := range c.noted {
					b.learn(e)
				}
			}
			var here []int
			if s.here {
				here = []int{1}
			}
			b.apply(snapshotOf(at(i), s.recent, here...), at(i))
		}
		got := ""
		for _, e := range b.list() {
			got += e.Why
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// crowd are events of others, newest first.
func crowd(n int, at time.Time) (events []monitor.Event) {
	for i := range n {
		events = append(events, event(monitor.EventStarted, 1000+i, at, ""))
	}
	return events
}

func TestDefunctIsNotEnded(t *testing.T) {
	b := newBook()
	s := snapshotOf(noon, nil, 1)
	b.apply(s, noon)
	s = snapshotOf(noon.Add(time.Second), crowd(1, noon), 1)
	s.Instances[0].State, s.Instances[0].Cause = monitor.StateZombie, monitor.CauseDefunct
	if b.apply(s, noon.Add(time.Second)) || len(b.list()) != 0 {
		t.Errorf("%+v", b.list())
	}
	b.apply(snapshotOf(noon.Add(time.Minute), crowd(1, noon)), noon.Add(time.Minute))
	if list := b.list(); len(list) != 1 || !strings.Contains(list[0].Why, "taken note") || *list[0].Instance.Cause != string(monitor.CauseDefunct) {
		t.Errorf("%+v", list)
	}
}

// While nobody looked, nothing is known.
// A parked one has not ended, also when it wakes as another process: what its
// figures were is known until then, and none is made up while it has no process.
func TestParkedIsNotEnded(t *testing.T) {
	b := newBook()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	b.apply(snapshotOf(at(0), nil, 1), at(0))
	parked := snapshotOf(at(10), []monitor.Event{event(monitor.EventParked, 1, at(10), ""), event(monitor.EventEnded, 1, at(10), "1 process")}, 1)
	parked.Instances[0].State, parked.Instances[0].RSSBytes = monitor.StateParked, 0
	b.apply(parked, at(10))
	h, ok := b.history(instance(1).Identity, at(20))
	if !ok || len(h.RSSBytes) == 0 || *h.RSSBytes[0] != 1 || h.RSSBytes[len(h.RSSBytes)-1] != nil {
		t.Errorf("%v, %+v", ok, h)
	}
	b.apply(snapshotOf(at(30), nil, 2), at(30))
	if list := b.list(); len(list) != 0 || len(b.entries) != 1 || b.series != 1 {
		t.Errorf("ended are %+v of %d with %d histories", list, len(b.entries), b.series)
	}
}

func TestBackFromTheEnded(t *testing.T) {
	b := newBook()
	b.apply(snapshotOf(noon, nil, 1), noon)
	b.apply(snapshotOf(noon.Add(time.Minute), nil), noon.Add(time.Minute))
	h, ok := b.history(instance(1).Identity, noon.Add(5*time.Minute))
	if end := noon.Add(time.Minute).Unix(); !ok || h.Times[len(h.Times)-1] != end || *h.RSSBytes[len(h.RSSBytes)-1] != 1 {
		t.Errorf("it goes on after its end: %+v", h)
	}
	b.apply(snapshotOf(noon.Add(2*time.Minute), nil, 1), noon.Add(2*time.Minute))
	h, _ = b.history(instance(1).Identity, noon.Add(2*time.Minute))
	i := slices.Index(h.Times, noon.Add(time.Minute).Unix())
	if i < 0 || h.RSSBytes[i] != nil || *h.RSSBytes[len(h.RSSBytes)-1] != 1 || len(b.list()) != 0 {
		t.Errorf("%v %v, ended %v", h.Times, h.RSSBytes, b.list())
	}
}

// Those beyond the bound have no history but what is known now; the living come
// before the ended.
func TestTooManyInstances(t *testing.T) {
	b := newBook()
	pids := make([]int, seriesMost+5)
	for i := range pids {
		pids[i] = i + 1
	}
	b.apply(snapshotOf(noon, nil, pids...), noon)
	last := instance(len(pids)).Identity
	if h, ok := b.history(last, noon); b.series != seriesMost || !ok || len(h.Times) != 1 || *h.RSSBytes[0] != uint64(len(pids)) {
		t.Errorf("%d series, %+v", b.series, h)
	}
	// Ten end; five of them give their room away.
	b.apply(snapshotOf(noon, nil, pids[10:]...), noon)
	b.apply(snapshotOf(noon.Add(time.Minute), nil, pids[10:]...), noon.Add(time.Minute))
	if h, _ := b.history(last, noon.Add(2*time.Minute)); b.series != seriesMost || len(h.Times) != 2 {
		t.Errorf("%d series, %+v", b.series, h)
	}
	b.apply(snapshotOf(noon.Add(time.Hour), nil), noon.Add(time.Hour))
	b.expire(noon.Add(2 * time.Hour))
	if b.series != 0 || len(b.entries) != 0 {
		t.Errorf("%d series and %d entries are left", b.series, len(b.entries))
	}
}

// The ended are those that were there and are not, for ten minutes, the newest
// hundred, whatever comes and goes.
func TestBookIsInStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBook()
		now := noon
		ended := map[int]time.Time{} // by pid
		living := map[int]bool{}
		var recent []monitor.Event
		told := pidsOf(b.list())
		crowded := rapid.Bool().Draw(t, "crowded")
		pid := rapid.IntRange(1, 12)
		if crowded {
			pid = rapid.IntRange(1, 400)
		}
		for range rapid.IntRange(1, 25).Draw(t, "snapshots") {
			now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			next := map[int]bool{}
			for _, p := range rapid.SliceOfN(pid, 0, 200).Draw(t, "here") {
				next[p] = true
			}
			for p := range next {
				if !living[p] {
					recent = append([]monitor.Event{event(monitor.EventFound, p, now, "")}, recent...)
				}
				delete(ended, p)
			}
			for _, p := range sorted(living) {
				if !next[p] {
					ended[p] = now
					kind := rapid.SampledFrom([]monitor.EventKind{monitor.EventStopped, monitor.EventEnded, monitor.EventForgotten}).Draw(t, "how")
					e := event(kind, p, now, "")
					recent = append([]monitor.Event{e}, recent...)
					b.learn(e)
				}
			}
			living = next
			for p, at := range ended {
				if now.Sub(at) >= endedKept {
					delete(ended, p)
				}
			}
			changed := b.apply(snapshotOf(now, recent, sorted(living)...), now)

			want := sortedBy(ended)
			want = want[max(0, len(want)-endedMost):]
			for p := range ended {
				if !slices.Contains(want, p) {
					delete(ended, p)
				}
			}
			list := b.list()
			got := pidsOf(list)
			if !slices.Equal(got, want) {
				t.Fatalf("ended %v, want %v", got, want)
			}
			if !changed && !slices.Equal(got, told) {
				t.Fatalf("%v became %v, and nobody was told", told, got)
			}
			told = got
			if len(b.entries) != len(living)+len(ended) || b.series != len(b.entries) {
				t.Fatalf("%d entries, %d series for %d living and %d ended", len(b.entries), b.series, len(living), len(ended))
			}
			for _, e := range list {
				if e.Why == "" || !e.EndedAt.Equal(ended[*e.Instance.PID]) {
					t.Fatalf("%+v", e)
				}
			}
			if next := b.next(); next.IsZero() != (len(list) == 0) || !next.IsZero() && !next.After(now) {
				t.Fatalf("the next expires at %v", next)
			}
			for _, p := range append(sorted(living), got...) {
				if h, ok := b.history(instance(p).Identity, now); !ok || len(h.Times) == 0 || len(h.Times) != len(h.RSSBytes) || *h.RSSBytes[len(h.Times)-1] != uint64(p) {
					t.Fatalf("history of %d: %+v", p, h)
				}
			}
		}
	})
}

func sorted(pids map[int]bool) (list []int) {
	for p := range pids {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

func sortedBy(at map[int]time.Time) (list []int) {
	for p := range at {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(at[a].Compare(at[b]), a-b) })
	return list
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 40, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			book := newBook()
			s := snapshotOf(noon, crowd(10, noon))
			for i := range n {
				s.Instances = append(s.Instances, new(instance(i+1)))
			}
			now := noon
			for b.Loop() {
				now = now.Add(10 * time.Second)
				for _, in := range s.Instances {
					in.RSSBytes++
				}
				book.apply(s, now)
			}
		})
	}
}

package stop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// actor is a process of a simulated world.
type actor struct {
	id, parent monitor.Identity
	ended      bool
	stopped    bool

	ignores bool          // SIGTERM
	stuck   bool          // in the kernel, even SIGKILL has to wait
	denies  bool          // the system does not let us signal it
	spared  bool          // nor may we
	forks   int           // so many more children, one per look
	endsAt  time.Duration // after it was asked or its parent ended; 0 = never
}

// world is the simulated machine: what party is in the real one.
type world struct {
	t      *rapid.T
	c      climb
	actors []*actor
	now    time.Duration
	trace  []string
	sent   int  // signals
	slow   bool // nothing stands still in time
}

func (w *world) find(id monitor.Identity) *actor {
	for _, a := range w.actors {
		if a.id == id {
			return a
		}
	}
	w.t.Fatalf("%v is no process of this world", id)
	return nil
}

// crowded is when nothing is forked any more.
const crowded = 120

// pass lets time go by: processes fork and end.
func (w *world) pass(d time.Duration) {
	w.now += d
	for _, a := range slices.Clone(w.actors) {
		if a.endsAt > 0 && w.now >= a.endsAt {
			a.ended = true
		}
		if !a.ended && !a.stopped && a.forks > 0 && len(w.actors) < crowded {
			a.forks--
			id := monitor.Identity{PID: 100 + len(w.actors), Start: 1}
			w.actors = append(w.actors, &actor{id: id, parent: a.id, ignores: a.ignores, forks: a.forks / 2, spared: a.spared})
		}
	}
}

// look is what party.look does.
func (w *world) look() {
	known := map[monitor.Identity]bool{}
	for i := range w.c.members {
		m := &w.c.members[i]
		a := w.find(m.id)
		m.alive, m.suspended = !a.ended, a.stopped && !m.still
		known[m.id] = true
	}
	for i := 0; i < len(w.c.members); i++ {
		if !w.c.members[i].alive {
			continue
		}
		for _, a := range w.actors {
			if a.parent != w.c.members[i].id || a.ended || known[a.id] {
				continue
			}
			known[a.id] = true
			m := member{id: a.id, alive: true, suspended: a.stopped}
			if a.spared || w.c.members[i].spared != nil {
				m.spared = ErrOtherUser
			}
			w.c.members = append(w.c.members, m)
		}
	}
	w.c.looked(w.now)
}

// signal checks what must hold for every signal, and delivers it.
func (w *world) signal(s step, what string, deliver func(*actor)) {
	for _, id := range s.to {
		i := slices.IndexFunc(w.c.members, func(m member) bool { return m.id == id })
		if i < 0 {
			w.t.Fatalf("%s to %v, which is not held", what, id)
		}
		if w.c.members[i].spared != nil {
			w.t.Fatalf("%s to %v, which is to be spared", what, id)
		}
		if w.c.members[i].refused {
			w.t.Fatalf("%s to %v, which was refused before", what, id)
		}
		a := w.find(id)
		if w.sent == 0 {
			// Nothing that lived at the last look may be missing.
			for _, b := range w.actors {
				if !b.ended && !b.spared && w.below(b) && !slices.ContainsFunc(w.c.members, func(m member) bool { return m.id == b.id }) {
					w.t.Fatalf("the first signal, although %v is not held", b.id)
				}
			}
		}
		w.sent++
		if a.denies {
			w.c.members[i].refused = true
			continue
		}
		if !a.ended {
			deliver(a)
		}
	}
	w.trace = append(w.trace, fmt.Sprintf("%s%v", what, len(s.to)))
}

// below reports whether all that is above an actor lived at the last look.
func (w *world) below(a *actor) bool {
	for a.parent != (monitor.Identity{}) {
		a = w.find(a.parent)
		if a.ended {
			return false
		}
	}
	return true
}

// run is what Ladder.ascend does. It returns the last step.
func (w *world) run() step {
	rank := map[action]int{actAsk: 1, actTerminate: 2, actKill: 3}
	highest := 0
	for steps := 0; ; steps++ {
		if steps > 5000 {
			w.t.Fatalf("it does not end: %v", w.trace)
		}
		w.look()
		before := w.c.rung
		s := w.c.next()
		if r := rank[s.do]; r > 0 {
			if r < highest {
				w.t.Fatalf("a lower rung after a higher one: %v", w.trace)
			}
			highest = r
		}
		switch s.do {
		case actDone, actGiveUp:
			return s
		case actWait:
			if s.until <= w.now {
				w.t.Fatalf("waits for a time that has been, %v at %v", s.until, w.now)
			}
			w.pass(min(s.until-w.now, lookEvery))
		case actAsk:
			if w.sent > 0 || before != rungHeld {
				w.t.Fatalf("asked after a signal: %v", w.trace)
			}
			w.trace = append(w.trace, "ask")
			if a := w.find(w.c.server); rapid.Bool().Draw(w.t, "heard") {
				a.endsAt = w.now + time.Duration(rapid.IntRange(1, 10000).Draw(w.t, "answers ms"))*time.Millisecond
			} else {
				w.c.unheard = true
			}
		case actFreeze:
			w.signal(s, "stop", func(a *actor) { a.stopped = true })
			if w.slow {
				w.pass(w.c.freezeTime())
			} else {
				w.pass(time.Millisecond)
			}
		case actTerminate:
			w.signal(s, "term", func(a *actor) {
				if w.c.canHold && !a.stopped && w.c.freezes < maxFreezes && w.c.freezeTime() > 0 {
					w.t.Fatalf("%v was terminated while it could start something", a.id)
				}
				a.stopped = false // SIGCONT follows
				a.ended = !a.ignores && !a.stuck
			})
			w.pass(time.Millisecond)
		case actKill:
			w.signal(s, "kill", func(a *actor) {
				if w.c.canHold && !a.stopped && w.c.freezes < maxFreezes && w.c.freezeTime() > 0 {
					w.t.Fatalf("%v was killed while it could start something", a.id)
				}
				a.ended = !a.stuck
			})
			w.pass(time.Millisecond)
		}
		w.c.did(s)
		if w.c.rung < before {
			w.t.Fatalf("rung %d after %d", w.c.rung, before)
		}
	}
}

func genWorld(t *rapid.T) *world {
	w := &world{t: t}
	n := rapid.IntRange(1, 8).Draw(t, "processes")
	for i := range n {
		a := &actor{id: monitor.Identity{PID: 10 + i, Start: 1}}
		if i > 0 {
			a.parent = w.actors[rapid.IntRange(0, i-1).Draw(t, "parent")].id
			a.spared = rapid.IntRange(0, 9).Draw(t, "spared") == 0
		}
		a.ignores = rapid.Bool().Draw(t, "ignores SIGTERM")
		a.stuck = rapid.IntRange(0, 9).Draw(t, "stuck") == 0
		a.denies = rapid.IntRange(0, 9).Draw(t, "denies") == 0
		if rapid.IntRange(0, 3).Draw(t, "forks at all") == 0 {
			a.forks = rapid.IntRange(1, 60).Draw(t, "forks")
		}
		a.stopped = rapid.IntRange(0, 9).Draw(t, "suspended") == 0
		w.actors = append(w.actors, a)
	}
	server := w.actors[rapid.IntRange(0, n-1).Draw(t, "server")]
	server.spared = false
	windows := rapid.Bool().Draw(t, "windows")
	w.slow = rapid.Bool().Draw(t, "slow")
	w.c = climb{
		limits: DefaultLimits(), canAsk: rapid.Bool().Draw(t, "can be asked"), atOnce: windows, canHold: !windows,
		root: w.actors[0].id, server: server.id,
		members: []member{{id: w.actors[0].id, alive: true}},
	}
	if rapid.Bool().Draw(t, "forced") {
		w.c.limits = w.c.limits.forced()
	}
	return w
}

func TestClimbProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		last := w.run()
		for _, a := range w.actors {
			held := slices.ContainsFunc(w.c.members, func(m member) bool { return m.id == a.id && m.spared == nil })
			if !a.ended && held && !a.stuck && !a.denies {
				t.Errorf("%v lives on: %v", a.id, w.trace)
			}
			if a.stopped && !a.ended && held && !a.stuck && !a.denies {
				t.Errorf("%v was left suspended: %v", a.id, w.trace)
			}
		}
		l := w.c.limits
		if longest := l.Ask + l.Root + l.Rest + l.Kill + l.Freeze; w.now > longest {
			t.Errorf("it took %v, at most %v are allowed: %v", w.now, longest, w.trace)
		}
		stuck := slices.ContainsFunc(w.actors, func(a *actor) bool { return !a.ended && a.stuck })
		if (last.do == actGiveUp) && !stuck && !slices.ContainsFunc(w.actors, func(a *actor) bool { return a.denies }) {
			t.Errorf("gave up on %v", w.trace)
		}
	})
}

// TestClimb is what happens, step by step, in ordinary worlds. Signals show how
// many processes they went to.
func TestClimb(t *testing.T) {
	id := func(n int) monitor.Identity { return monitor.Identity{PID: n, Start: 1} }
	chain := func(change ...func([]*actor)) []*actor {
		actors := []*actor{{id: id(10)}, {id: id(11), parent: id(10)}, {id: id(12), parent: id(11)}}
		for _, c := range change {
			c(actors)
		}
		return actors
	}
	ignore := func(n ...int) func([]*actor) {
		return func(a []*actor) {
			for _, i := range n {
				a[i].ignores = true
			}
		}
	}
	for _, c := range []struct {
		name   string
		actors []*actor
		atOnce bool
		want   string
		end    action
	}{
		{"root, then the rest", chain(), false, "stop1 term1 stop2 term2", actDone},
		{"one process", []*actor{{id: id(10)}}, false, "stop1 term1", actDone},
		{"one that ignores SIGTERM", []*actor{{id: id(10), ignores: true}}, false, "stop1 term1 stop1 kill1", actDone},
		{"the root ignores it", chain(ignore(0)), false, "stop1 term1 stop2 term2 stop1 kill1", actDone},
		{"all ignore it", chain(ignore(0, 1, 2)), false, "stop1 term1 stop2 term2 stop3 kill3", actDone},
		{"a leaf is stuck", chain(func(a []*actor) { a[2].stuck = true }), false, "stop1 term1 stop2 term2 stop1 kill1", actGiveUp},
		{"a leaf is another user's", chain(func(a []*actor) { a[2].spared = true }), false, "stop1 term1 stop1 term1", actDone},
		{"a leaf refuses", chain(func(a []*actor) { a[2].denies = true }), false, "stop1 term1 stop2 term1", actDone},
		{"the wrapped server is suspended", chain(func(a []*actor) { a[1].stopped = true }), false, "stop1 term2 stop1 term1", actDone},
		{"all are suspended", chain(func(a []*actor) { a[0].stopped, a[1].stopped, a[2].stopped = true, true, true }), false, "term3", actDone},
		{"Windows", chain(), true, "term3", actDone},
		{"Windows, stuck", chain(func(a []*actor) { a[0].stuck = true }), true, "term3 kill1", actGiveUp},
		{"it forks all the time", chain(func(a []*actor) { a[0].forks, a[0].ignores = 2, true }), false, "stop1 term1 stop4 term4 stop3 kill3", actDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w *world
			var end step
			rapid.Check(t, func(rt *rapid.T) {
				w = &world{t: rt}
				for _, a := range c.actors {
					fresh := *a
					w.actors = append(w.actors, &fresh)
				}
				w.c = climb{limits: DefaultLimits(), atOnce: c.atOnce, canHold: !c.atOnce, root: id(10), server: id(11), members: []member{{id: id(10), alive: true}}}
				end = w.run()
			})
			if got := strings.Join(w.trace, " "); got != c.want || end.do != c.end {
				t.Errorf("got %q, then %d; want %q, then %d", got, end.do, c.want, c.end)
			}
		})
	}
}

func TestPatience(t *testing.T) {
	id := func(n int) monitor.Identity { return monitor.Identity{PID: n, Start: 1} }
	fresh := func() *climb {
		c := &climb{limits: DefaultLimits(), canAsk: true, canHold: true, root: id(10), server: id(11),
			members: []member{{id: id(10), alive: true}, {id: id(11), alive: true}}}
		c.looked(0)
		c.did(c.next())
		return c
	}
	c := fresh()
	if c.looked(c.limits.Ask - 1); c.next().do != actWait {
		t.Error("the server's time to end was cut short")
	}
	if c.looked(c.limits.Ask); c.next().do != actFreeze {
		t.Error("it was waited for longer than the limit")
	}
	c = fresh()
	c.members[1].alive = false
	c.looked(time.Second)
	if s := c.next(); s.do != actWait || s.until != time.Second+c.limits.Settle {
		t.Errorf("what a server leaves behind: %+v", s)
	}
	c = fresh()
	c.unheard = true
	if c.looked(1); c.next().do != actFreeze {
		t.Error("an answer is waited for that will not come")
	}
}

// TestFreezingIsBounded: a tree always has one more that does not stand still.
func TestFreezingIsBounded(t *testing.T) {
	id := func(n int) monitor.Identity { return monitor.Identity{PID: n, Start: 1} }
	began := DefaultLimits().Root
	c := &climb{limits: DefaultLimits(), canHold: true, root: id(10), server: id(10), rung: rungRoot}
	now := began
	for more := 0; ; more++ {
		c.members = append(c.members, member{id: id(10 + more), alive: true})
		c.looked(now)
		s := c.next()
		if s.do == actTerminate {
			break
		}
		if s.do != actFreeze || c.freezeTime() <= 0 {
			t.Fatalf("%+v after %d", s, more)
		}
		now += c.freezeTime()
		c.did(s)
	}
	if took := now - began; took != c.limits.Freeze {
		t.Errorf("it took %v", took)
	}
}

func TestLimits(t *testing.T) {
	if got := (Limits{Ask: time.Minute}).orDefault(); got.Ask != time.Minute || got.Kill != DefaultLimits().Kill {
		t.Errorf("%+v", got)
	}
	if f, d := DefaultLimits().forced(), DefaultLimits(); f.Ask >= d.Ask || f.Kill != d.Kill {
		t.Errorf("%+v", f)
	}
}

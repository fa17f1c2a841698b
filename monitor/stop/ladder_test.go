package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// actor is a process of a simulated machine, held.
type actor struct {
	w          *world
	id, parent monitor.Identity
	ended      bool
	stopped    bool
	seen       bool
	sent       string // that was not put into the trace yet

	ignores bool          // SIGTERM
	stuck   bool          // in the kernel, even SIGKILL has to wait
	denies  bool          // the system does not let us signal it
	spared  bool          // nor may we
	forks   int           // so many more children, one per look
	endsAt  time.Time     // after it was asked; zero: never
	answers time.Duration // what it takes to end then; 0: it is not heard
}

// world is a simulated machine.
type world struct {
	process.System // what is not below is not asked
	Dashboards
	t       rapid.TB
	tree    *climb
	actors  []*actor
	trace   []string
	signals int
	slow    bool // nothing stands still in time
	barren  bool // what is forked forks nothing
	limits  Limits
}

// crowded is when nothing is forked any more.
const crowded = 120

// pass lets processes fork and end.
func (w *world) pass() {
	w.note()
	for _, a := range slices.Clone(w.actors) {
		if !a.endsAt.IsZero() && !time.Now().Before(a.endsAt) {
			a.ended = true
		}
		if !a.ended && !a.stopped && a.forks > 0 && len(w.actors) < crowded {
			a.forks--
			id := monitor.Identity{PID: 100 + len(w.actors), Start: 2}
			child := &actor{w: w, id: id, parent: a.id, ignores: a.ignores, spared: a.spared}
			if !w.barren {
				child.forks = a.forks / 2
			}
			w.actors = append(w.actors, child)
		}
	}
}

// note puts what was sent since it was called last into the trace.
func (w *world) note() {
	for _, what := range []string{"stop", "term", "kill"} {
		n := 0
		for _, a := range w.actors {
			if a.sent == what {
				a.sent = ""
				n++
			}
		}
		if n > 0 {
			w.trace = append(w.trace, fmt.Sprintf("%s%d", what, n))
		}
	}
}

func (w *world) find(pid int) *actor {
	i := slices.IndexFunc(w.actors, func(a *actor) bool { return a.id.PID == pid })
	if i < 0 || w.actors[i].ended {
		return nil
	}
	return w.actors[i]
}

func (w *world) Self() int { return 5 }

func (w *world) SameUser(pid int) (bool, error) {
	a := w.find(pid)
	return a == nil || !a.spared, nil
}

func (w *world) Stat(pid int) (process.Stat, error) {
	if pid == w.Self() {
		return process.Stat{Identity: monitor.Identity{PID: pid, Start: 1}}, nil
	}
	a := w.find(pid)
	if a == nil {
		return process.Stat{}, process.ErrGone
	}
	s := process.Stat{Identity: a.id, Parent: a.parent.PID, State: process.Running}
	if a.stopped && !w.slow {
		s.State = process.Stopped
	}
	return s, nil
}

func (w *world) Read(pid int) (process.Info, error) {
	a := w.find(pid)
	if a == nil {
		return process.Info{}, process.ErrGone
	}
	return process.Info{Identity: a.id, Parent: a.parent.PID, Name: "server", Exe: "/usr/bin/server"}, nil
}

func (w *world) Tree(id monitor.Identity) (list []process.Stat, err error) {
	root, err := w.Stat(id.PID)
	list = append(list, root)
	for i := 0; err == nil && i < len(list); i++ {
		for _, a := range w.actors {
			if a.parent == list[i].Identity && !a.ended {
				s, _ := w.Stat(a.id.PID)
				list, a.seen = append(list, s), true
			}
		}
	}
	return list, err
}

func (w *world) Listeners([]int) ([]process.Listener, error) {
	return nil, errors.New("nothing listens")
}

func (w *world) Hold(id monitor.Identity) (process.HeldProcess, error) {
	a := w.find(id.PID)
	if a == nil {
		return nil, process.ErrGone
	}
	if a.spared {
		w.t.Fatalf("%v is held, which is to be spared", id)
	}
	return a, nil
}

// send checks what must hold for every signal.
func (a *actor) send(what string) error {
	w := a.w
	if w.signals++; w.signals == 1 {
		// Nothing that lived at the last look may be missing.
		for _, b := range w.actors {
			if b.seen && !b.ended && !b.spared && w.isBelow(b) && w.tree.member(b.id) == nil {
				w.t.Fatalf("the first signal, although %v is not held", b.id)
			}
		}
	}
	mayFreeze := w.tree.frozen < w.tree.limits.Freeze
	if what != "stop" && !a.denies && !a.ended && !w.tree.atOnce && !a.stopped && mayFreeze {
		w.t.Fatalf("%v gets %s while it can start something", a.id, what)
	}
	a.sent = what
	switch {
	case a.ended:
		return process.ErrGone
	case a.denies:
		return errors.New("it is denied")
	}
	return nil
}

// isBelow reports whether all that is above an actor lives.
func (w *world) isBelow(a *actor) bool {
	for a.parent != (monitor.Identity{}) {
		if a = w.find(a.parent.PID); a == nil {
			return false
		}
	}
	return true
}

func (a *actor) Suspend() error {
	err := a.send("stop")
	a.stopped = a.stopped || err == nil
	return err
}

func (a *actor) Terminate() error {
	err := a.send("term")
	a.ended = a.ended || err == nil && !a.ignores && !a.stuck
	return err
}

func (a *actor) Continue() error {
	a.stopped = a.stopped && a.denies
	return nil
}

func (a *actor) Kill() error {
	err := a.send("kill")
	a.ended = a.ended || err == nil && !a.stuck
	return err
}

func (a *actor) Ended() bool { return a.ended }

func (a *actor) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (a *actor) Close() {}

// climb ends the tree of the first actor.
func (w *world) climb(t rapid.TB, atOnce, forced bool, server monitor.Identity) {
	l := New(Options{System: w, Dashboards: w, Limits: w.limits})
	in := &monitor.Instance{Identity: server, Kind: "test-server"}
	w.tree = l.newClimb(in, Order{Force: forced})
	if err := w.tree.collect(w.actors[0].id); err != nil {
		t.Fatal(err)
	}
	w.tree.server = w.tree.member(server)
	l.now = func() time.Time { w.pass(); return time.Now() }
	w.tree.atOnce = atOnce
	l.now()
	if a := w.find(server.PID); a.answers > 0 {
		a.endsAt = time.Now().Add(a.answers)
		w.tree.wait(context.Background(), l.now().Add(w.tree.limits.Ask), w.tree.server, nil)
	}
	w.tree.run(context.Background(), w.tree.steps())
	w.note()
	highest := 0
	for _, e := range w.tree.done {
		rank := slices.Index([]monitor.EventKind{monitor.EventTerminated, monitor.EventForceKilled}, e.Kind)
		if rank < highest {
			t.Errorf("a lower step after a higher one: %v", w.trace)
		}
		highest = rank
	}
}

func genWorld(t *rapid.T) *world {
	w := &world{t: t}
	n := rapid.IntRange(1, 8).Draw(t, "processes")
	for i := range n {
		a := &actor{w: w, id: monitor.Identity{PID: 10 + i, Start: 2}}
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
	w.slow = rapid.Bool().Draw(t, "slow")
	return w
}

func TestClimbProperties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) { // which has no deadline there
			w := genWorld(t)
			server := w.actors[rapid.IntRange(0, len(w.actors)-1).Draw(t, "server")]
			server.spared = false
			if rapid.Bool().Draw(t, "heard") {
				server.answers = time.Duration(rapid.IntRange(1, 10000).Draw(t, "answers ms")) * time.Millisecond
			}
			began := time.Now()
			w.climb(t, rapid.Bool().Draw(t, "windows"), rapid.Bool().Draw(t, "forced"), server.id)
			for _, a := range w.actors {
				i := slices.IndexFunc(w.tree.members, func(m *member) bool { return m.id == a.id && m.spared == nil })
				if a.ended || i < 0 || a.stuck || a.denies {
					continue
				}
				if t.Errorf("%v lives on: %v", a.id, w.trace); a.stopped {
					t.Errorf("%v was left suspended: %v", a.id, w.trace)
				}
			}
			l := w.tree.limits
			if took, longest := time.Since(began), l.Ask+l.Root+l.Rest+l.Kill+l.Freeze; took > longest {
				t.Errorf("it took %v, at most %v are allowed: %v", took, longest, w.trace)
			}
		})
	})
}

// TestClimb is what happens, step by step, in ordinary worlds. Signals show how
// many processes they went to.
func TestClimb(t *testing.T) {
	id := func(n int) monitor.Identity { return monitor.Identity{PID: n, Start: 2} }
	ignore := func(n ...int) func([]*actor) {
		return func(a []*actor) {
			for _, i := range n {
				a[i].ignores = true
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func([]*actor) // of three, each below the one before
		atOnce bool
		want   string
		took   time.Duration // beside moments
	}{
		{"root, then the rest", ignore(), false, "stop1 term1 stop2 term2", DefaultLimits().Settle},
		{"the root ignores it", ignore(0), false, "stop1 term1 stop2 term2 stop1 kill1", DefaultLimits().Root + DefaultLimits().Rest},
		{"all ignore it", ignore(0, 1, 2), false, "stop1 term1 stop2 term2 stop3 kill3", DefaultLimits().Root + DefaultLimits().Rest},
		{"a leaf is stuck", func(a []*actor) { a[2].stuck = true }, false, "stop1 term1 stop2 term2 stop1 kill1", DefaultLimits().Settle + DefaultLimits().Rest + DefaultLimits().Kill},
		{"a leaf is another user's", func(a []*actor) { a[2].spared = true }, false, "stop1 term1 stop1 term1", DefaultLimits().Settle},
		{"a leaf refuses", func(a []*actor) { a[2].denies = true }, false, "stop1 term1 stop2 term1", DefaultLimits().Settle},
		{"the wrapped server is suspended", func(a []*actor) { a[1].stopped = true }, false, "stop1 term2 stop1 term1", DefaultLimits().Settle},
		{"all are suspended", func(a []*actor) { a[0].stopped, a[1].stopped, a[2].stopped = true, true, true }, false, "term3", 0},
		{"the server ends when it is asked", func(a []*actor) { a[1].answers = time.Second }, false, "stop1 term1 stop1 term1", time.Second + 2*DefaultLimits().Settle},
		{"it does not", func(a []*actor) { a[1].answers = time.Hour }, false, "stop1 term1 stop2 term2", DefaultLimits().Ask + DefaultLimits().Settle},
		{"Windows", ignore(), true, "term3", 0},
		{"Windows, stuck", func(a []*actor) { a[0].stuck = true }, true, "term3 kill1", DefaultLimits().Rest + DefaultLimits().Kill},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t}
				for i := range 3 {
					w.actors = append(w.actors, &actor{w: w, id: id(10 + i)})
				}
				w.actors[1].parent, w.actors[2].parent = id(10), id(11)
				c.change(w.actors)
				began := time.Now()
				w.climb(t, c.atOnce, false, id(11))
				if got := strings.Join(w.trace, " "); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if took := time.Since(began); took < c.took || took > c.took+time.Second/2 {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// TestForkingIsBounded: a tree always has one more that does not stand still, and all
// of it ends.
func TestForkingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, slow: true}
		w.actors = append(w.actors, &actor{w: w, id: monitor.Identity{PID: 10, Start: 2}, forks: crowded, ignores: true})
		w.climb(t, false, false, w.actors[0].id)
		if frozen := w.tree.frozen; frozen > w.tree.limits.Freeze {
			t.Errorf("it took %v until it stood still", frozen)
		}
		if left := w.tree.left(); len(left) > 0 {
			t.Errorf("%v are left: %v", names(left), w.trace)
		}
	})
}

// TestKilledAgain: what hangs in the kernel and was not made to stand still in time may
// start others when it is killed. Those are killed as they come, but not for ever.
func TestKilledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, slow: true, barren: true, limits: Limits{Freeze: 1, Root: 1, Rest: 1}}
		root := &actor{w: w, id: monitor.Identity{PID: 10, Start: 2}}
		child := &actor{w: w, id: monitor.Identity{PID: 11, Start: 2}, parent: root.id, forks: crowded, ignores: true, stuck: true}
		w.actors = []*actor{root, child}
		if w.climb(t, false, false, root.id); strings.Count(strings.Join(w.trace, " "), "kill") != maxKills {
			t.Errorf("%v", w.trace)
		}
	})
}

func TestLimits(t *testing.T) {
	d := DefaultLimits()
	if got := (Limits{Ask: time.Minute}).orDefault(); got.Ask != time.Minute || got.Kill != d.Kill {
		t.Errorf("%+v", got)
	}
	if f := d.forced(); f.Ask >= d.Ask || f.Root >= d.Root || f.Rest >= d.Rest || f.Kill != d.Kill {
		t.Errorf("whoever insists waits for %+v", f)
	}
}

package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/app/apptest"
)

// machine drives a manager and knows what it must answer.
type machine struct {
	t     *testing.T
	w     *world
	m     *Manager
	dir   string
	limit int

	running  map[int]*fakeServer // by id
	dead     map[int]bool        // died by themselves, and nobody has released them
	seen     []int               // every id that there ever was
	starting []*start
	ending   []*end
}

// start is a request whose server starts.
type start struct {
	hold   chan struct{}
	leave  func()
	answer chan asked
}

type asked struct {
	s   Session
	err error
}

// end is a release that waits for its session to end.
type end struct {
	id     int
	server *fakeServer
	hold   chan struct{}
	answer chan released
}

type released struct {
	status Status
	err    error
}

func (x *machine) count() int { return len(x.running) + len(x.starting) + len(x.ending) }

// begin asks for a session whose start is held on, or learns of the limit.
func (x *machine) begin(rt *rapid.T) {
	ctx, leave := context.WithCancel(context.Background())
	s := &start{hold: make(chan struct{}), leave: leave, answer: make(chan asked, 1)}
	x.w.hold = s.hold
	under := x.w.underway()
	go func() {
		got, err := x.m.Request(ctx, Request{ProjectPath: x.dir})
		s.answer <- asked{got, err}
	}()
	if x.count() >= x.limit {
		defer leave()
		var tooMany *TooMany
		if a := <-s.answer; !errors.As(a.err, &tooMany) || *tooMany != (TooMany{Live: x.count(), Limit: x.limit}) {
			rt.Fatalf("at the limit of %d with %d: %+v", x.limit, x.count(), a)
		}
		return
	}
	apptest.Eventually(x.t, "a server starts", func() bool { return x.w.underway() == under+1 })
	x.starting = append(x.starting, s)
}

// ready lets one start come to its end: it succeeds, perhaps with the pid of one
// that has gone, fails, or is given up.
func (x *machine) ready(rt *rapid.T) {
	if len(x.starting) == 0 {
		rt.Skip("nothing starts")
	}
	i := rapid.IntRange(0, len(x.starting)-1).Draw(rt, "which")
	s := x.starting[i]
	x.starting = slices.Delete(x.starting, i, i+1)
	defer s.leave()
	how := rapid.SampledFrom([]string{"succeeds", "reuses", "fails", "given up"}).Draw(rt, "how")
	free := slices.DeleteFunc(slices.Clone(x.seen), func(id int) bool { return x.w.by(id) != nil })
	x.w.mu.Lock()
	x.w.broken, x.w.reuse = nil, 0
	switch {
	case how == "fails":
		x.w.broken = errStubborn
	case how == "reuses" && len(free) > 0:
		x.w.reuse = rapid.SampledFrom(free).Draw(rt, "pid")
	}
	x.w.mu.Unlock()
	if how == "given up" {
		s.leave()
	} else {
		close(s.hold)
	}
	a := <-s.answer
	switch {
	case how == "fails":
		if !errors.Is(a.err, errStubborn) {
			rt.Fatalf("a start failed: %+v", a)
		}
	case how == "given up":
		if !errors.Is(a.err, ErrNotWanted) {
			rt.Fatalf("a start was given up: %+v", a)
		}
	case a.err != nil || a.s.State != StateRunning:
		rt.Fatalf("a start: %+v", a)
	default:
		x.running[a.s.ID] = x.w.by(a.s.ID)
		delete(x.dead, a.s.ID)
		x.seen = append(x.seen, a.s.ID)
	}
}

// pick draws one that runs.
func (x *machine) pick(rt *rapid.T) (int, *fakeServer) {
	if len(x.running) == 0 {
		rt.Skip("nothing runs")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(x.running))).Draw(rt, "id")
	return id, x.running[id]
}

func (x *machine) die(rt *rapid.T) {
	id, server := x.pick(rt)
	server.dies()
	delete(x.running, id)
	x.dead[id] = true
}

// stubbornness changes whether one can be ended.
func (x *machine) stubbornness(rt *rapid.T) {
	_, server := x.pick(rt)
	server.change(func() { server.stubborn = !server.stubborn })
}

// release releases any id and waits.
func (x *machine) release(rt *rapid.T) {
	id := rapid.SampledFrom(append(slices.Clone(x.seen), 1, 0, -5)).Draw(rt, "id")
	if slices.ContainsFunc(x.ending, func(e *end) bool { return e.id == id }) {
		rt.Skip("it would wait")
	}
	server := x.running[id]
	want, wantErr := Status(""), ErrUnknown
	switch {
	case server != nil && server.stubborn:
		wantErr = errStubborn
	case server != nil:
		want, wantErr = Terminated, nil
		delete(x.running, id)
	case x.dead[id]:
		want, wantErr = AlreadyGone, nil
		delete(x.dead, id)
	}
	touched := len(x.w.touched)
	if got, err := x.m.Release(context.Background(), id, "a test"); got != want || !errors.Is(err, wantErr) {
		rt.Fatalf("released %d: %q, %v; want %q, %v", id, got, err, want, wantErr)
	}
	if server == nil && len(x.w.touched) != touched {
		rt.Fatalf("%d is no session, and was ended", id)
	}
}

// beginEnd releases one whose end is held on.
func (x *machine) beginEnd(rt *rapid.T) {
	e := &end{answer: make(chan released, 1), hold: make(chan struct{})}
	e.id, e.server = x.pick(rt)
	before, ends := 0, 0
	e.server.change(func() { e.server.hold, before = e.hold, e.server.ends })
	go e.release(x.m)
	// Also for the server, so that what it notes is not taken for another's end.
	apptest.Eventually(x.t, "it is being ended", func() bool {
		e.server.change(func() { ends = e.server.ends })
		return x.m.state(e.id) == StateEnding && ends > before
	})
	delete(x.running, e.id)
	x.ending = append(x.ending, e)
}

func (e *end) release(m *Manager) {
	status, err := m.Release(context.Background(), e.id, "a test")
	e.answer <- released{status, err}
}

// join releases one that is being ended, and lets its end come. Nobody can see
// whether it was in time.
func (x *machine) join(rt *rapid.T) {
	first := x.anEnd(rt)
	second := &end{id: first.id, answer: make(chan released, 1)}
	go second.release(x.m)
	a := x.finish(first)
	if b := <-second.answer; b != a && (a.err != nil || b.err != ErrUnknown) {
		rt.Fatalf("two releases of %d: %+v and %+v", first.id, a, b)
	}
}

func (x *machine) anEnd(rt *rapid.T) *end {
	if len(x.ending) == 0 {
		rt.Skip("nothing ends")
	}
	return x.ending[rapid.IntRange(0, len(x.ending)-1).Draw(rt, "which")]
}

// endEnd lets the end of one come.
func (x *machine) endEnd(rt *rapid.T) {
	e := x.anEnd(rt)
	stubborn := e.server.stubborn
	a := x.finish(e)
	if stubborn && !errors.Is(a.err, errStubborn) || !stubborn && (a.err != nil || a.status != Terminated) {
		rt.Fatalf("the end of %d: %+v", e.id, a)
	}
}

// finish lets the end of one come and returns what came of it.
func (x *machine) finish(e *end) released {
	close(e.hold)
	a := <-e.answer
	e.server.change(func() { e.server.hold = nil })
	x.ending = slices.DeleteFunc(x.ending, func(other *end) bool { return other == e })
	if a.err != nil {
		x.running[e.id] = e.server
	}
	return a
}

// check compares what the manager lists with what must be.
func (x *machine) check(rt *rapid.T) {
	want := map[int]State{}
	for id := range x.running {
		want[id] = StateRunning
	}
	for _, e := range x.ending {
		want[e.id] = StateEnding
	}
	got, starting := map[int]State{}, 0
	for _, s := range x.m.List() {
		if s.State == StateStarting && s.ID == 0 {
			starting++
			continue
		}
		got[s.ID] = s.State
	}
	if !maps.Equal(got, want) || starting != len(x.starting) {
		rt.Fatalf("lists %v and %d that start; want %v and %d", got, starting, want, len(x.starting))
	}
	if n := x.w.count(); n != len(want) {
		rt.Fatalf("%d servers run for %d sessions", n, len(want))
	}
}

// Whatever is asked in whichever order, each answer is right and no server is
// lost.
func TestManagerAsAStateMachine(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		x := &machine{
			t: t, w: newWorld(), dir: dir, limit: rapid.IntRange(1, 5).Draw(rt, "limit"), running: map[int]*fakeServer{}, dead: map[int]bool{},
		}
		x.m = newManager(x.w, 0, func(o *Options) { o.Limit = func() int { return x.limit } })
		// Also when a check has failed, nothing waits any more.
		defer func() {
			for _, s := range x.starting {
				s.leave()
			}
			for _, e := range x.ending {
				e.server.change(func() { e.server.stubborn = false })
				close(e.hold)
			}
			for _, server := range x.running {
				server.change(func() { server.stubborn = false })
			}
			serve(t, x.m)()
			if n := x.w.count(); n > 0 {
				rt.Errorf("%d servers are left at the end", n)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"begin": x.begin, "ready": x.ready, "die": x.die, "stubbornness": x.stubbornness,
			"release": x.release, "begin to end": x.beginEnd, "join": x.join, "end": x.endEnd,
			"change the limit": func(rt *rapid.T) { x.limit = rapid.IntRange(1, 5).Draw(rt, "limit") },
			"":                 x.check,
		})
	})
}

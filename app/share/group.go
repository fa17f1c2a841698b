package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/mcp"
	"lamplighter/monitor"
)

// group is a key, with those who share its server. Its fields are guarded by the
// broker's mu, except those that never change. At most one of starting and run is
// set; without either the server is parked, or was never needed.
type group struct {
	key     string    // never changes
	plan    *Plan     // of who came last; nil when nobody came since it was adopted
	members []*Client // in the order in which they came
	// inFlight is how many requests have no answer yet, those of clients that have left
	// included.
	inFlight int

	starting *start
	run      *run
	lock     *keyLock // of a server that was replaced, for the next one
	crashes  crashes
	cache    cache
	seen     sessions

	last   monitor.Identity // the process that ended last, zero when there was none
	kind   string           // of the server
	where  string           // the project
	ended  time.Time        // when that was
	reason string           // why no server runs: a part of a sentence
	since  time.Time        // of being parked, starting or running
	rss    uint64           // of the server, when it was seen last

	used   time.Time // the last answer, or the start
	turned time.Time // when it got its first member, or lost its last
	until  time.Time // something may run on unseen until then
	wait   time.Time // nothing is to be ended before
	held   bool      // the last look found what would be lost, and nobody has asked anything since
	look   bool      // somebody is looking whether it can be ended
	// restarting: it is ended to be started again at once.
	restarting bool
	replaces   bool // with starting: another one that hangs
}

// start is one try to start the server. Who waits for done may read err.
type start struct {
	done   chan struct{}
	giveUp func()          // nil when it is no start, but the end of the server before it
	moot   <-chan struct{} // likewise: closed when that goes on after all, or cannot be ended
	hangs  bool            // likewise: nothing ends it as yet, and done is closed when it answers, too
	err    error
}

// run is a server that runs.
type run struct {
	server     Server
	generation uint64
	transport  *http.Transport
	settings   string // their fingerprint when it was started; "" is not known
	inherited  bool   // an earlier run of this program has started it, whose clients have named sessions of its REPL
	since      time.Time
	gone       chan struct{} // closed when its process has ended
	done       chan struct{} // closed when all of it has gone

	// Guarded by the broker's mu.
	lock    *keyLock
	exited  bool          // gone is closed
	hung    time.Time     // since when it does not answer; zero while it does
	hangs   chan struct{} // closed when it does not answer any more
	settles chan struct{} // while it does not: closed when it does, or is of no use any more
	ending  string        // why we end it, a part of a sentence; "" when nobody does
	parts   bool          // it is ended because no client has it
	failed  error         // of the last try to end it
	moot    chan struct{} // closed when an end that has begun comes to nothing
	ordered string        // who else has ordered its end: "by the tray"
	orderAt time.Time
}

// usable reports whether requests can be sent to it.
func (r *run) usable() bool { return r != nil && !r.exited && r.ending == "" }

// runs reports whether there is a server, or soon is.
func (g *group) runs() bool { return g.run != nil || g.starting != nil }

// acquire returns the server, and starts it when it does not run.
func (b *Broker) acquire(ctx context.Context, m *Client) (*run, error) {
	for {
		r, s, err := b.tryAcquire(m)
		if r != nil || err != nil {
			return r, err
		}
		if err := s.wait(ctx, b.ended); err != nil {
			return nil, err
		}
	}
}

// wait waits for what came of a start, or for what comes of the end of the server
// before it, which is not waited for without limit, nor longer than until ended.
func (s *start) wait(ctx context.Context, ended <-chan struct{}) error {
	var late <-chan time.Time
	switch {
	case s.giveUp != nil:
		ended = nil // it is given up then, and says so itself
	case !s.hangs:
		timer := time.NewTimer(endTime)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-s.done:
		return s.err
	case <-s.moot:
		return nil
	case <-ended:
		return nil
	case <-late:
		return fmt.Errorf("%w within %s; ask again", errSurvives, monitor.Span(endTime))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endTime is how long the end of a server is waited for by who wants the next one.
// What has survived is tried to be ended for longer.
const endTime = 20 * time.Second

// tryAcquire returns the server when there is one; else what to wait for, or why
// there will be none.
func (b *Broker) tryAcquire(m *Client) (*run, *start, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := m.group
	switch {
	case m.gone:
		return nil, nil, errLeft
	case b.closed:
		return nil, nil, errEnding
	case g.run.isHung():
		return nil, &start{done: g.run.settles, hangs: true}, nil
	case g.run.usable():
		g.used = time.Now()
		return g.run, nil, nil
	case g.run != nil && g.run.failed != nil:
		return nil, nil, errors.Join(errSurvives, g.run.failed)
	case g.run != nil:
		return nil, &start{done: g.run.done, moot: g.run.moot}, nil // until it has gone
	case g.starting == nil:
		if err := g.crashes.refuse(time.Now()); err != nil {
			return nil, nil, err
		}
		b.begin(g)
	}
	return nil, g.starting, nil
}

// begin starts the server, which goes on when nobody waits for it any more: then
// it lingers. The caller holds mu.
func (b *Broker) begin(g *group) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &start{done: make(chan struct{}), giveUp: cancel}
	g.starting, g.since, g.reason = s, time.Now(), "it is starting"
	b.change()
	plan := *g.plan // there is one: members have it
	b.busy.Go(func() {
		defer cancel()
		r, adopted, err := b.launch(ctx, g, plan)
		b.started(g, s, r, adopted, err)
	})
}

// launch starts a server of a group, or finds that an earlier run has left one,
// which has been adopted, and may have ended by now.
func (b *Broker) launch(ctx context.Context, g *group, plan Plan) (r *run, adopted bool, err error) {
	if err := b.untilSettled(ctx); err != nil {
		return nil, false, err
	}
	b.mu.Lock()
	adopted = g.run != nil
	lock := g.lock
	g.lock = nil
	b.mu.Unlock()
	defer func() {
		if r == nil {
			lock.release()
		}
	}()
	if adopted {
		return nil, true, nil
	}
	// The client may have been here for days.
	if why := b.o.Forbid(ctx); why != "" {
		return nil, false, &forbidden{monitor.Clean(why)}
	}
	if lock == nil {
		if lock, err = lockKey(ctx, b.o.LockDir, g.key); err != nil {
			return nil, false, err
		}
	}
	spec := plan.Spec
	if spec.Limit == 0 {
		spec.Limit = b.o.Limit()
	}
	spec.Lifetime, spec.Key = launch.Shared, g.key
	spec.AskedBy = func() monitor.Client { return b.first(g) }
	settings := ""
	if plan.Fingerprint != nil {
		settings = plan.Fingerprint() // before it reads them
	}
	server, err := b.o.Launch.Launch(ctx, spec)
	if err != nil {
		return nil, false, err
	}
	return &run{server: server, settings: settings, lock: lock, gone: make(chan struct{}), done: make(chan struct{})}, false, nil
}

// first is the client that came first of those who are here.
func (b *Broker) first(g *group) monitor.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(g.members) == 0 {
		return monitor.Client{}
	}
	return g.members[0].client
}

// started takes in what came of a start.
func (b *Broker) started(g *group, s *start, r *run, adopted bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer close(s.done)
	restarting := g.restarting
	replaces := g.replaces
	g.starting, s.err, g.restarting, g.replaces = nil, err, false, false
	now := time.Now()
	var no *forbidden
	switch {
	case err != nil && b.closed:
		s.err = errEnding
		return
	case err != nil:
		g.since, g.reason = now, monitor.NotStarted+whyNotStarted(err)
		if errors.As(err, &no) {
			g.reason = no.why
		}
		if counts(err) {
			g.crashes.add(now, 0, monitor.Clean(err.Error()))
		}
		b.leftIdle(g)
		b.change()
		return
	case adopted:
		b.leftIdle(g)
		b.change()
		return
	}
	b.take(g, r)
	switch {
	case restarting:
		b.record(g, r.server.Identity(), monitor.EventWoken, "restarted")
	case replaces:
		b.record(g, r.server.Identity(), monitor.EventWoken, "in place of "+g.label(g.last)+", which did not answer")
	case g.last.PID != 0 && len(g.members) > 0:
		b.record(g, r.server.Identity(), monitor.EventWoken, "started again by a request, "+monitor.Span(now.Sub(g.ended))+" after it had ended")
	}
}

// counts reports whether a failed start is like a crash: nothing that was only
// refused is.
func counts(err error) bool {
	var failed *launch.StartError
	if errors.As(err, &failed) {
		return len(failed.Chosen.Command) > 0 && !errors.Is(err, context.Canceled)
	}
	return false
}

// take makes a server that of a group, and sees to its end. The caller holds mu.
func (b *Broker) take(g *group, r *run) {
	b.generation++
	now := time.Now()
	r.generation, r.transport, r.since, r.hangs = b.generation, mcp.NewTransport(), now, make(chan struct{})
	b.noteHang(r)
	g.run, g.since, g.used, g.reason = r, now, now, ""
	g.wait, g.held = time.Time{}, false
	g.kind, g.where = r.server.Name(), r.server.Project()
	if len(g.members) == 0 {
		g.turned = now
	}
	b.change()
	ended := b.ended
	b.busy.Go(func() { b.attend(g, r, ended) })
}

// attend waits for the end of a server, or for ours: then it goes on.
func (b *Broker) attend(g *group, r *run, ended <-chan struct{}) {
	select {
	case <-r.server.Exited():
	case <-r.server.Done():
	case <-ended:
		return
	}
	b.mu.Lock()
	replaced := r.exited
	r.exited = true
	if time.Since(r.orderAt) > orderTime {
		r.ordered = "" // that came to nothing
	}
	if !replaced {
		close(r.gone)
		r.settle()
	}
	b.change()
	b.mu.Unlock()
	select {
	case <-r.server.Done():
		b.over(g, r)
	case <-ended:
	}
}

// orderTime is how long after the order to end a server its end is taken for what
// came of that.
const orderTime = time.Minute

// over takes in that a server has gone, and then tells who waits for that.
func (b *Broker) over(g *group, r *run) {
	r.transport.CloseIdleConnections()
	b.parted(g, r).release() // which works on files
	close(r.done)
}

// parted takes a server that has gone out of its group, and returns the lock that
// it had.
func (b *Broker) parted(g *group, r *run) *keyLock {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.run != r { // it was replaced
		b.left = slices.DeleteFunc(b.left, func(other *run) bool { return other == r })
		return nil
	}
	now := time.Now()
	g.run, g.last, g.since, g.ended = nil, r.server.Identity(), now, now
	g.look, g.until = false, time.Time{} // what went on unseen has ended with it
	g.seen.forget(r.generation)
	g.reason = r.how()
	if r.ending == "" && r.ordered == "" {
		g.crashes.add(now, now.Sub(r.since), g.reason)
		b.o.Log.Warn("a shared server has ended by itself", "server", g.label(g.last), "how", g.reason, "clients", len(g.members))
	}
	if len(g.members) > 0 && !g.restarting {
		b.record(g, g.last, monitor.EventParked, g.reason+"; the next request starts it again")
	}
	b.leftIdle(g)
	b.change()
	return r.lock
}

func (b *Broker) record(g *group, id monitor.Identity, kind monitor.EventKind, detail string) {
	b.o.Record(monitor.Event{At: time.Now(), Kind: kind, ID: id.String(), PID: id.PID, Label: g.label(id), Detail: monitor.Clean(detail)})
}

// leftIdle notes since when a group has neither members nor a server, and forgets
// the oldest of those when there are many. The caller holds mu.
func (b *Broker) leftIdle(g *group) {
	b.rest()
	if len(g.members) > 0 || g.runs() {
		return
	}
	now := time.Now()
	var idle []*group
	for _, other := range b.groups {
		if len(other.members) == 0 && !other.runs() {
			idle = append(idle, other)
		}
	}
	slices.SortFunc(idle, func(x, y *group) int { return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.key, y.key)) })
	for _, other := range idle[:max(len(idle)-mostIdle, 0)] {
		if !other.crashes.matters(now) {
			delete(b.groups, other.key)
		}
	}
}

// mostIdle is how many groups are remembered that have neither members nor a
// server, for what their servers have answered.
const mostIdle = 32

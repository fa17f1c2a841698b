package share

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

// Broker knows the servers that clients share. It is safe for concurrent use.
type Broker struct {
	o       Options
	changed monitor.Bell  // of each change, for those who look
	shown   monitor.Bell  // likewise, for those who show
	hangs   monitor.Bell  // when a server hangs, or somebody begins to wait for one that does
	settled chan struct{} // closed when all that earlier runs have left has been taken over

	mu         sync.Mutex
	closed     bool          // nothing is started any more
	ended      chan struct{} // closed when Serve ends
	groups     map[string]*group
	alone      []*Unshared
	silent     []monitor.Identity // see Hung
	left       []*run             // that were replaced, and have not ended
	generation uint64             // of the server that was taken last
	resting    time.Time          // since when there is neither a lease nor a server; zero while there is
	busy       sync.WaitGroup
}

// New makes a broker without servers. Serve makes it work.
func New(o Options) *Broker {
	o.fill()
	return &Broker{
		o: o, changed: monitor.NewBell(), shown: monitor.NewBell(), hangs: monitor.NewBell(), settled: make(chan struct{}),
		ended: make(chan struct{}), groups: map[string]*group{}, resting: time.Now(),
	}
}

// Serve takes over what an earlier run of this program has left, ends servers that
// nobody needs, and shows all of them, until ctx ends. Then starts are given up,
// and servers go on for the next run. It returns the error of ctx, when nothing of
// it goes on. It can be called once.
func (b *Broker) Serve(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { b.adopt(ctx) })
	parts.Go(func() { b.show(ctx) })
	parts.Go(func() { b.attendHung(ctx) })
	b.attendIdle(ctx)
	b.close()
	parts.Wait()
	b.busy.Wait()
	for _, r := range b.runs() {
		r.lock.release() // of this process; the next run takes it
		r.transport.CloseIdleConnections()
	}
	return ctx.Err()
}

// runs are the servers that run.
func (b *Broker) runs() []*run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*run
	for _, g := range b.groups {
		if g.run != nil {
			list = append(list, g.run)
		}
	}
	return list
}

// close starts nothing any more, and gives up what starts.
func (b *Broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	close(b.ended)
	for _, g := range b.groups {
		if g.starting != nil {
			g.starting.giveUp()
		}
	}
}

// groupOf returns the group of a key. The caller holds mu.
func (b *Broker) groupOf(key string) *group {
	g := b.groups[key]
	if g == nil {
		now := time.Now()
		g = &group{key: key, since: now, turned: now}
		b.groups[key] = g
	}
	return g
}

// change says that something is different. The caller holds mu.
func (b *Broker) change() {
	b.changed.Ring()
	b.shown.Ring()
}

// rest notes whether there is a lease or a server. The caller holds mu.
func (b *Broker) rest() {
	needed := len(b.alone) > 0
	for _, g := range b.groups {
		needed = needed || len(g.members) > 0 || g.runs()
	}
	switch {
	case needed:
		b.resting = time.Time{}
	case b.resting.IsZero():
		b.resting = time.Now()
	}
}

// Reconsider has the servers looked at that nobody asks, as when Options.Idle has
// another answer from now on.
func (b *Broker) Reconsider() {
	b.changed.Ring()
	b.hangs.Ring()
}

// Idle tells since when there has been neither a lease nor a server, and whether
// that is so.
func (b *Broker) Idle() (since time.Time, idle bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.resting, !b.resting.IsZero()
}

// Note is told of what happens to instances, so that the end of a server that
// somebody has ordered is not taken for a crash.
func (b *Broker) Note(e monitor.Event) {
	ordered := ""
	switch e.Kind {
	case monitor.EventStopOrdered:
		ordered = cmp.Or(monitor.Clean(e.Detail), "by somebody")
	case monitor.EventStopRefused, monitor.EventStopFailed:
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		if r := g.run; r != nil && r.server.Identity().String() == e.ID && r.ending == "" && !r.exited {
			r.ordered, r.orderAt = ordered, time.Now()
		}
	}
}

// ParkAll ends all shared servers, because the user ends lamplighter, and starts
// none any more. It returns when they have gone, also those that an earlier run has
// left and that are found only now, or when ctx ends; then their ends go on.
func (b *Broker) ParkAll(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	var starts []*start
	for _, g := range b.groups {
		if g.starting != nil {
			g.starting.giveUp()
			starts = append(starts, g.starting)
		}
	}
	b.mu.Unlock()
	var ends sync.WaitGroup
	defer ends.Wait()
	b.endAll(ctx, &ends)
	for _, s := range starts {
		select {
		case <-s.done:
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-b.settled:
	case <-b.ended:
	case <-ctx.Done():
		return
	}
	b.endAll(ctx, &ends)
}

// byQuit is why servers end with us.
const byQuit = "lamplighter was ended"

// endAll begins to end all that run, but those that it has begun to end before.
func (b *Broker) endAll(ctx context.Context, ends *sync.WaitGroup) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.left)
	for _, g := range b.groups {
		all = append(all, g.run)
	}
	for _, r := range all {
		if r == nil || r.ending == byQuit {
			continue
		}
		r.ending = byQuit
		ends.Go(func() {
			if err := r.server.End(ctx, "the end of lamplighter"); err != nil && ctx.Err() == nil {
				b.o.Log.Error("a shared server could not be ended", "server", r.server.Identity().String(), "error", err)
			}
		})
	}
	b.change()
}

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
	o        Options
	changed  monitor.Bell       // of each change, for who sees to the servers and shows them
	lifetime context.Context    // until Serve ends
	end      context.CancelFunc // of lifetime
	open     context.Context    // until nothing is started any more
	shut     context.CancelFunc // of open
	busy     sync.WaitGroup

	mu      sync.Mutex
	news    chan struct{} // closed with the next change
	settled bool          // all that earlier runs have left has been taken over
	groups  map[string]*group
	alone   []*monitor.Shared // of clients whose servers cannot be shared
	left    []*run            // that were replaced, and have not ended
}

// New makes a broker without servers. Serve makes it work.
func New(o Options) *Broker {
	o.Asks = cmp.Or(o.Asks, &Asks{works, holds, direct})
	b := &Broker{
		o: o, changed: monitor.NewBell(), news: make(chan struct{}),
		groups: map[string]*group{},
	}
	b.lifetime, b.end = context.WithCancel(context.Background())
	b.open, b.shut = context.WithCancel(b.lifetime)
	return b
}

// Serve ends servers that nobody needs, and shows all of them, until ctx ends. Then starts are given up,
// and servers go on for the next run. It returns the error of ctx, when nothing of
// it goes on. It can be called once.
func (b *Broker) Serve(ctx context.Context) error {
	b.busy.Go(func() { b.settle(ctx) })
	b.attendAll(ctx)
	b.mu.Lock()
	b.end()
	b.change()
	b.mu.Unlock()
	b.busy.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		g.unlock() // the next run takes it
	}
	return ctx.Err()
}

// groupOf returns the group of a plan's key. The caller holds mu.
func (b *Broker) groupOf(plan *Plan) *group {
	g := b.groups[plan.Key]
	if g == nil {
		g = &group{plan: plan, since: time.Now()}
		b.groups[plan.Key] = g
	}
	return g
}

// mostIdle is how many groups are remembered that have neither members nor a
// server, for what their servers have answered.
const mostIdle = 32

// change says that something is different, to those who wait for a change and to who sees
// to the servers. The caller holds mu.
func (b *Broker) change() {
	idle := 0
	var oldest *group // one that was just left may be about to be started again
	for _, g := range b.groups {
		g.run.gate()
		if len(g.members) > 0 || g.runs() || g.crashes.matters(time.Now()) {
			continue
		}
		if idle++; oldest == nil || g.since.Before(oldest.since) {
			oldest = g
		}
	}
	if idle > mostIdle {
		delete(b.groups, oldest.plan.Key)
	}
	close(b.news)
	b.news = make(chan struct{})
	b.changed.Ring()
}

// until waits until so is true, which is asked now, after each change and each second,
// with mu held. The error is the cause of the end of ctx.
func (b *Broker) until(ctx context.Context, so func() bool) error {
	for {
		b.mu.Lock()
		yes := so()
		news := b.news
		b.mu.Unlock()
		if yes {
			return nil
		}
		select {
		case <-news:
		case <-time.After(time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Reconsider has the servers looked at that nobody asks, as when Options.Idle has
// another answer from now on.
func (b *Broker) Reconsider() { b.changed.Ring() }

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
		if r := g.run; r.usable() && r.server.Identity().String() == e.ID {
			r.ordered, r.orderAt = ordered, time.Now()
		}
	}
	b.change()
}

// byQuit is why servers end with us.
const byQuit = "lamplighter was ended"

// ParkAll ends all shared servers, because the user ends lamplighter, and starts
// none any more. It returns when they have gone, also those that an earlier run has
// left and that are found only now, or when ctx ends; then their ends go on.
func (b *Broker) ParkAll(ctx context.Context) {
	b.mu.Lock()
	b.shut()
	b.change()
	b.mu.Unlock()
	_ = b.until(ctx, func() bool {
		if b.lifetime.Err() != nil {
			return true
		}
		running, starting := slices.Clone(b.left), !b.settled
		for _, g := range b.groups {
			starting = starting || g.starting != nil
			if g.run != nil {
				running = append(running, g.run)
			}
		}
		for _, r := range running {
			if r.ending != byQuit {
				r.ending = byQuit
				b.change()
				b.busy.Go(func() {
					b.endRun(r, func(ctx context.Context) error { return r.server.End(ctx, "the end of lamplighter") })
				})
			}
		}
		return !starting && len(running) == 0
	})
}

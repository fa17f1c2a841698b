package share

import (
	"context"
	"time"

	"lamplighter/app/launch"
)

// adoptEvery is how often it is looked for what an earlier run has left.
const adoptEvery = 20 * time.Millisecond

// adopt takes over the shared servers of an earlier run as soon as the launcher
// has them, until it has all. Before that we start none ourselves.
func (b *Broker) adopt(ctx context.Context) {
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	adopted := map[string]bool{}
	for last := false; ; {
		servers := b.o.Launch.Servers()
		b.mu.Lock()
		for _, s := range servers {
			if s.Lifetime() == launch.Shared && !adopted[s.ID()] {
				adopted[s.ID()] = true
				b.adoptOne(s)
			}
		}
		if last {
			b.settled = true
			b.change()
		}
		b.mu.Unlock()
		if last {
			return
		}
		select {
		case <-tick.C:
		case <-b.o.Launch.Inherited():
			last = true
		case <-ctx.Done():
			return
		}
	}
}

// adoptOne takes a server over. The caller holds mu.
func (b *Broker) adoptOne(s Server) {
	g := b.groupOf(s.Key())
	if s.Key() == "" || g.runs() {
		// Two of one key are one too many. Nobody can join it, so that it ends
		// after a while; until then who has it may end his work.
		b.o.Log.Warn("a shared server of an earlier run has no key of its own, and will be ended", "id", s.ID())
		g = b.groupOf(s.Key() + " " + s.ID())
	}
	b.have(g, func(ctx context.Context) (*run, error) {
		if err := g.takeLock(ctx, b.o.LockDir); err != nil && ctx.Err() == nil {
			b.o.Log.Warn("a server of an earlier run goes on without the lock of its key", "server", s.Identity().String(), "error", err)
		}
		return &run{server: s, inherited: true}, nil
	})
}

package share

import (
	"context"
	"time"

	"lamplighter/app/launch"
)

// adoptEvery is how often it is looked for what an earlier run has left.
const adoptEvery = 20 * time.Millisecond

// adopt takes over the shared servers of an earlier run as soon as the launcher
// has them, until it has all.
func (b *Broker) adopt(ctx context.Context) {
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	for last := false; ; {
		servers := b.o.Launch.Servers()
		b.mu.Lock()
		for _, s := range servers {
			if s.Lifetime() == launch.Shared {
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

// adoptOne takes a server over, unless it has been. The caller holds mu.
func (b *Broker) adoptOne(s Server) {
	for _, g := range b.groups {
		if g.run != nil && g.run.server.ID() == s.ID() {
			return
		}
	}
	g := b.groupOf(s.Key())
	if s.Key() == "" || g.run != nil {
		// Two of one key are one too many. Nobody can join it, so that it ends
		// after a while; until then who has it may end his work.
		b.o.Log.Warn("a shared server of an earlier run has no key of its own, and will be ended", "id", s.ID())
		g = b.groupOf(s.Key() + " " + s.ID())
	}
	r := &run{server: s, inherited: true, gone: make(chan struct{})}
	b.take(g, r)
	if isKey(g.key) {
		b.busy.Go(func() { b.lockAdopted(g, r) })
	}
}

// lockAdopted takes the lock of a server that runs already.
func (b *Broker) lockAdopted(g *group, r *run) {
	lock, err := lockKey(b.lifetime, b.o.LockDir, g.key)
	if err != nil {
		if b.lifetime.Err() == nil {
			b.o.Log.Warn("a server of an earlier run goes on without the lock of its key", "server", r.server.Identity().String(), "error", err)
		}
		return
	}
	b.mu.Lock()
	if !r.exited {
		r.lock, lock = lock, nil
	}
	b.mu.Unlock()
	unlock(lock) // of one that has gone meanwhile
}

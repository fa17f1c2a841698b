package share

import (
	"context"
	"fmt"
	"time"

	"lamplighter/app/launch"
)

// How what an earlier run has left is waited for.
const (
	adoptEvery = 20 * time.Millisecond
	settleTime = 20 * time.Second
)

// adopt takes over the shared servers of an earlier run as soon as the launcher
// has them, until it has all.
func (b *Broker) adopt(ctx context.Context) {
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	for last := false; ; {
		for _, s := range b.o.Launch.Servers() {
			if s.Lifetime() == launch.Shared {
				b.adoptOne(s)
			}
		}
		if last {
			close(b.settled)
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

// adoptOne takes a server over, unless it has been.
func (b *Broker) adoptOne(s Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
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
	r := &run{server: s, inherited: true, gone: make(chan struct{}), done: make(chan struct{})}
	b.take(g, r)
	b.rest()
	if !isKey(g.key) {
		return
	}
	b.busy.Go(func() { b.lockAdopted(g, r) })
}

// lockAdopted takes the lock of a server that runs already.
func (b *Broker) lockAdopted(g *group, r *run) {
	ctx, stop := b.whileServed()
	defer stop()
	lock, err := lockKey(ctx, b.o.LockDir, g.key)
	if err != nil {
		if ctx.Err() == nil {
			b.o.Log.Warn("a server of an earlier run goes on without the lock of its key", "server", r.server.Identity().String(), "error", err)
		}
		return
	}
	b.mu.Lock()
	if g.run == r {
		r.lock, lock = lock, nil
	}
	b.mu.Unlock()
	lock.release() // of one that has gone meanwhile
}

// untilSettled waits until all that earlier runs have left is known: a server that
// is started before might be the second one for its key.
func (b *Broker) untilSettled(ctx context.Context) error {
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-b.settled:
		return nil
	case <-timer.C:
		return fmt.Errorf("starting the server: %w", errNotSettled)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until the server of a key has been taken over, or it is known that
// there is none.
func (b *Broker) await(ctx context.Context, key string) {
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	for !b.known(key) {
		select {
		case <-b.settled:
			return
		case <-tick.C:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (b *Broker) known(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.groups[key]
	return g != nil && g.runs()
}

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
	adopted := map[string]bool{}
	for settled := false; !settled; {
		select {
		case <-b.o.Launch.Inherited():
			settled = true
		case <-time.After(adoptEvery):
		case <-ctx.Done():
			return
		}
		servers := b.o.Launch.Servers()
		b.mu.Lock()
		for _, s := range servers {
			if s.Lifetime() == launch.Shared && !adopted[s.ID()] {
				adopted[s.ID()] = true
				b.adoptOne(s)
			}
		}
		if b.settled = settled; settled {
			b.change()
		}
		b.mu.Unlock()
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
	b.begin(g, s)
}

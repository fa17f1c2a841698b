package share

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lamplighter/monitor"
)

// showEvery is how long there is between two shows at least: requests that come
// and go change what is shown.
const showEvery = 250 * time.Millisecond

// show shows each change, until ctx ends.
func (b *Broker) show(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-b.shown:
		case <-ctx.Done():
			return
		}
		select { // the first change is shown at once
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		b.o.Show(b.Shared())
		timer.Reset(showEvery)
	}
}

// Shared is all that is shared, and what clients have for themselves, by project.
// Servers that no client has are among it.
func (b *Broker) Shared() []monitor.Shared {
	b.weigh()
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []monitor.Shared
	for _, g := range b.groups {
		if len(g.members) > 0 || g.run != nil {
			list = append(list, g.shared())
		}
	}
	slices.SortFunc(list, func(x, y monitor.Shared) int {
		return cmp.Or(cmp.Compare(x.Project, y.Project), cmp.Compare(x.Key, y.Key))
	})
	for _, m := range b.alone {
		list = append(list, monitor.Shared{
			Server: m.server, Kind: m.program, Project: m.wish.Dir, Since: m.since, Clients: []monitor.Client{m.client}, Alone: m.why,
		})
	}
	return list
}

// weigh takes in the memory of the servers that run. Those that end keep what they
// had before: it is what a parked one gives back.
func (b *Broker) weigh() {
	weights := map[*group]*run{}
	b.mu.Lock()
	for _, g := range b.groups {
		if r := g.run; r.usable() && r.ordered == "" {
			weights[g] = r
		}
	}
	b.mu.Unlock()
	for g, r := range weights {
		rss := b.o.RSS(r.server.Identity())
		b.mu.Lock()
		if rss > 0 && g.run == r && r.usable() {
			g.rss = rss
		}
		b.mu.Unlock()
	}
}

// shared is the group as it is now. The caller holds mu.
func (g *group) shared() monitor.Shared {
	s := monitor.Shared{
		Server: g.last, Key: g.key, Kind: g.kind, Project: g.where,
		Parked: !g.runs(), Starting: g.starting != nil && g.run == nil, Since: g.since, Reason: g.reason, Waiting: g.inFlight,
	}
	if g.plan != nil {
		s.Context, s.Modes = g.plan.Context, slices.Clone(g.plan.Modes)
	}
	for _, m := range g.members {
		s.Clients = append(s.Clients, m.client)
	}
	// Each client would have one of its own. One that ends is as good as ended.
	saved := len(g.members)
	if g.run != nil {
		s.Server = g.run.server.Identity()
		saved--
	}
	s.SavedBytes = g.rss * uint64(max(saved, 0))
	return s
}

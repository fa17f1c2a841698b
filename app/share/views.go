package share

import (
	"cmp"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// Shared is all that is shared, and what clients have for themselves, by project.
// Servers that no client has are among it, also when they only start.
func (b *Broker) Shared() []monitor.Shared {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []monitor.Shared
	for _, g := range b.groups {
		if len(g.members) > 0 || g.runs() {
			list = append(list, g.shared())
		}
	}
	slices.SortFunc(list, func(x, y monitor.Shared) int {
		return cmp.Or(cmp.Compare(x.Project, y.Project), cmp.Compare(x.Key, y.Key))
	})
	for _, shown := range b.alone {
		list = append(list, *shown)
	}
	return list
}

// shared is the group as it is now. The caller holds mu.
func (g *group) shared() monitor.Shared {
	s := monitor.Shared{
		Server: g.last, Key: g.plan.Key, Kind: monitor.KindSerena, Project: g.plan.Spec.Project, Context: g.plan.Context, Modes: slices.Clone(g.plan.Modes),
		Parked: !g.runs(), Starting: g.starting != nil && g.run == nil, Since: g.since, Reason: g.reason, Waiting: g.inFlight,
	}
	for _, m := range g.members {
		s.Clients = append(s.Clients, m.client)
	}
	if r := g.run; r != nil {
		s.Server = r.server.Identity()
		if !r.usable() || r.ordered != "" {
			s.Reason = r.how()
		}
	}
	return s
}

// AttachUnshared shows a client whose server cannot be shared, and why, until detach: its
// shim runs that by itself. ran says which process it is; zero when it could not be started.
func (b *Broker) AttachUnshared(client monitor.Client, why string, wish Request) (ran func(server monitor.Identity), detach func()) {
	shown := &monitor.Shared{
		Kind: programOf(wish.Command), Project: wish.Dir, Since: time.Now(), Clients: []monitor.Client{client}, Alone: why,
	}
	change := func(how func()) {
		b.mu.Lock()
		defer b.mu.Unlock()
		how()
		b.change()
	}
	change(func() { b.alone = append(b.alone, shown) })
	ran = func(server monitor.Identity) { change(func() { shown.Server = server }) }
	return ran, func() {
		change(func() {
			b.alone = slices.DeleteFunc(b.alone, func(other *monitor.Shared) bool { return other == shown })
		})
	}
}

// programColumns is how much of a name is of use.
const programColumns = 60

// programOf is what to call the program of a command: the script or the package of
// an interpreter, "srv.py", else the program itself, "my-server". It is safe to show.
func programOf(words []string) string {
	c := command.Parse("", words)
	if c.Program == "" && len(words) > 0 {
		c.Program = words[0]
	}
	return monitor.Shorten(monitor.Clean(c.Label()), programColumns)
}

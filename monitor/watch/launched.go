package watch

import (
	"cmp"
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// Launched tells the watch of a server that we have started, or have adopted
// from its record: it is shown at once as managed, with who asked for it, whatever
// any rule says, until it ends. Told again, the newest word counts. It returns at
// once, and is safe for concurrent use; AskedBy must not be changed.
func (w *Watch) Launched(a monitor.Launch) {
	if a.Server.PID <= 0 {
		return
	}
	w.tell(func(g *given) {
		g.launches = maps.Clone(g.launches)
		g.launches[a.Server] = a
	}, func(ctx context.Context, l *loop, now time.Time) { l.takeIn(ctx, a, now) })
}

// launched tells a server that we have started ourselves, by our own word.
func (t *tracked) launched() bool { return t.launch != nil }

// takeIn makes the server of a launch an instance, or the instance that was
// found already a managed one.
func (l *loop) takeIn(ctx context.Context, a monitor.Launch, now time.Time) {
	info, err := l.o.System.Read(a.Server.PID)
	if st, statErr := l.o.System.Stat(a.Server.PID); err != nil || statErr != nil || st.Identity != a.Server || info.Identity != a.Server || st.State == process.Unreaped {
		l.over(a.Server) // it has ended meanwhile
		return
	}
	t := l.tracked[a.Server]
	if above := l.memberOf(a.Server); t == nil && above != nil && !above.launched() {
		l.moveTo(above, a.Server.PID)
		t = l.tracked[a.Server]
	}
	if t == nil {
		kind, cmd, _ := recognise(l.o.Rules, info)
		t = newTracked(info, kind, cmd, now)
		if !l.begin(t, info, now) {
			l.over(a.Server)
			return
		}
	}
	asker := t.in.Client
	if a.AskedBy != nil && a.AskedBy.Name == "" {
		a.AskedBy = l.clientOfProcess(a.AskedBy.Identity)
	}
	t.manage(a, info, now)
	if asker != nil {
		l.unwatch(asker.Identity)
	}
	l.lookAbove(t)
	l.absorbParts(t)
	t.members = slices.DeleteFunc(t.members, t.isBelowKeeper)
	t.awaited = false
	if t.probeDue(now, true) {
		l.probe(ctx, t, now)
	}
}

// manage takes in what the launch says. A Serena by its command line stays one
// whatever the template is called, because it has a dashboard.
func (t *tracked) manage(a monitor.Launch, info process.Info, now time.Time) {
	in := &t.in
	t.launch, t.link, in.Evidence.Pipe = &a, link{}, monitor.Pipe{}
	in.Managed, in.Recognised, in.Lifetime = true, true, a.Lifetime
	if t.kind != monitor.KindSerena {
		in.Kind = cmp.Or(a.Kind, t.kind, monitor.ProgramName(info.Exe))
	}
	in.Client = a.AskedBy
	if in.ProjectRoot == "" && filepath.IsAbs(a.Project) {
		in.ProjectRoot, in.ProjectName = a.Project, cmp.Or(in.ProjectName, filepath.Base(a.Project))
	}
	if t.cmd.Args == nil {
		t.cmd.Args = info.Args
	}
	t.cmd.Transport = "streamable-http"
	if path.Base(a.MCPURL) == "sse" {
		t.cmd.Transport = "sse"
	}
	if a.Port > 0 {
		in.MCPURL = cmp.Or(a.MCPURL, mcpURL(t.cmd.Transport, a.Port))
	}
	if !t.isSerena() {
		in.Port = a.Port
		return
	}
	t.active, t.wantOverview = true, true
	t.candidates = slices.DeleteFunc(t.candidates, func(c candidate) bool { return c.port == a.Port })
	if t.port == 0 && a.DashboardPort > 0 {
		in.Port, in.DashboardURL = a.DashboardPort, serena.DashboardURL(a.DashboardPort)
		t.offer(candidate{a.DashboardPort, a.Server.PID}, now)
	}
}

// clientOfProcess is the client of this identity with the name of its program, nil when it
// has ended: nobody can tell any more who it was.
func (l *loop) clientOfProcess(id monitor.Identity) *monitor.Client {
	if info, err := l.o.System.Read(id.PID); err == nil && info.Identity == id {
		return &monitor.Client{Identity: id, Name: clients.NameOf(info)}
	}
	return nil
}

// lookAbove finds the keeper of a launched server and what is between them. The
// launch names the keeper, so it need not have the server as its only child.
func (l *loop) lookAbove(t *tracked) {
	above, err := process.Above(l.o.System, t.in.Identity.PID)
	if err != nil {
		return
	}
	t.above = above
	keeper := t.in.Keeper
	t.in.Keeper = monitor.Identity{}
	for _, id := range above {
		if id == t.launch.Keeper || id == keeper {
			t.root, t.in.Keeper = id, id
			return
		}
	}
}

// isBelowKeeper reports whether a process is above a launched server, and no further up
// than its keeper.
func (t *tracked) isBelowKeeper(id monitor.Identity) bool {
	top := slices.Index(t.above, cmp.Or(t.in.Keeper, t.root))
	return t.launched() && slices.Contains(t.above[:top+1], id)
}

// aboveLaunched tells a process between a launched server and its keeper, which
// is no server of its own even if a rule knows it.
func (l *loop) aboveLaunched(id monitor.Identity) bool {
	for _, t := range l.tracked {
		if t.isBelowKeeper(id) {
			return true
		}
	}
	return false
}

// absorbParts makes part of t what was taken for another instance before: a wrapper that a
// rule knows, a child that runs the same.
func (l *loop) absorbParts(t *tracked) {
	for id, other := range l.tracked {
		isChild := other.parent == t.in.Identity && other.kind != "" && other.sameServer(t.kind, t.cmd)
		if other == t || other.launched() || !isChild && !t.isBelowKeeper(id) && !slices.Contains(t.members, id) {
			continue
		}
		for _, member := range other.members {
			if !slices.Contains(t.members, member) {
				t.members = append(t.members, member)
			}
		}
		l.move(id, t.in.Identity)
		l.drop(id)
	}
}

package watch

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// reports are what others have said, and what they were told: a loop that begins anew after
// a panic goes on with it.
type reports struct {
	proofs    map[monitor.Identity]monitor.Proof // see Watch.Restore; of those that were not found yet
	shared    []monitor.Shared                   // see Watch.SetShared; never changed
	warnings  []string
	announced map[monitor.Identity]*monitor.Instance // what events have told of those that live
}

// Hint makes the watch look at a process now instead of at its next round, and
// ask its dashboard, whose port is 0 when it is not known. It is somebody's word that the
// process is a server, Serena's tray protocol or the registry, and checked before anything
// is shown. It returns at once and is safe for concurrent use.
func (w *Watch) Hint(pid, port int) {
	w.enqueue(func(ctx context.Context, l *loop, now time.Time) { l.applyHint(ctx, pid, port, now) })
}

// applyHint looks at the process that a hint names. One that no rule knows, such as a program
// that runs Serena as a library, is shown once its own port answers as a Serena
// dashboard, and nobody may end it: see Instance.Recognised.
func (l *loop) applyHint(ctx context.Context, pid, port int, now time.Time) {
	info, err := l.o.System.Read(pid)
	if err != nil || port != 0 && process.ListensOn(l.o.System, port, pid) != nil {
		return
	}
	t := l.findByMember(info.Identity)
	if t == nil {
		if mine, err := l.o.System.SameUser(pid); err != nil || !mine {
			return
		}
		l.discover([]process.Info{info}, now)
		t = l.findByMember(info.Identity)
	}
	if t == nil && port != 0 {
		t = l.newTracked(info, monitor.KindSerena, serena.Command{}, now)
		t.in.Recognised = false
		t = l.track(t, info, now)
	}
	if t != nil && t.isDedicated() && port != 0 {
		t.in.Kind = monitor.KindSerena // by its own word, until the port answers as something else
	}
	if t == nil || !t.isSerena() {
		return
	}
	t.active, t.wantOverview = true, true
	if t.port == 0 && port != 0 {
		t.addCandidate(candidate{port, pid}, now)
	}
	if t.isProbeDue(now, true) {
		l.probe(ctx, t, now)
	}
}

// addCandidate takes in a port that is said to be the dashboard.
func (t *tracked) addCandidate(c candidate, now time.Time) {
	if slices.Contains(t.candidates, c) {
		return
	}
	t.notDashboard = slices.DeleteFunc(t.notDashboard, func(port int) bool { return port == c.port })
	t.candidates = append(t.candidates, c)
	if t.Failures == 0 {
		t.nextProbe = now
	}
}

// Launched tells the watch of a server that we have started, or have adopted
// from its record: it is shown at once as managed, with who asked for it, whatever
// any rule says, until it ends. Told again, the newest word counts. It returns at
// once, and is safe for concurrent use; AskedBy must not be changed.
func (w *Watch) Launched(a monitor.Launch) {
	w.enqueue(func(ctx context.Context, l *loop, now time.Time) { l.applyLaunch(ctx, a, now) })
}

// isLaunched tells a server that we have started ourselves, by our own word.
func (t *tracked) isLaunched() bool { return t.launch != nil }

// applyLaunch makes the server of a launch an instance, or the instance that was
// found already a managed one.
func (l *loop) applyLaunch(ctx context.Context, a monitor.Launch, now time.Time) {
	info, err := l.o.System.Read(a.Server.PID)
	if err != nil || info.Identity != a.Server || !l.isAlive(a.Server) {
		return // it has ended meanwhile
	}
	t := l.tracked[a.Server]
	if above := l.findByMember(a.Server); t == nil && above != nil && !above.isLaunched() {
		l.moveToOwner(above, a.Server.PID)
		t = l.tracked[a.Server]
	}
	if t == nil {
		kind, cmd, _ := recognise(l.o.Rules, info)
		t = l.track(l.newTracked(info, kind, cmd, now), info, now)
	}
	t.noteLaunch(a, info, now)
	l.findLaunchKeeper(t)
	l.absorbParts(t)
	t.members = slices.DeleteFunc(t.members, t.isBelowKeeper)
	t.awaited = false
	if t.isProbeDue(now, true) {
		l.probe(ctx, t, now)
	}
}

// noteLaunch takes in what the launch says. A Serena by its command line stays one
// whatever the template is called, because it has a dashboard.
func (t *tracked) noteLaunch(a monitor.Launch, info process.Info, now time.Time) {
	in := &t.in
	t.launch, t.clientLink, in.Evidence.Pipe = &a, clientLink{}, monitor.Pipe{}
	in.Managed, in.Recognised, in.Lifetime = true, true, a.Lifetime
	if t.ruleKind != monitor.KindSerena {
		in.Kind = cmp.Or(a.Kind, t.ruleKind, monitor.ProgramName(info.Exe))
	}
	in.Client = a.AskedBy
	if in.ProjectRoot == "" && filepath.IsAbs(a.Project) {
		in.ProjectRoot, in.ProjectName = a.Project, cmp.Or(in.ProjectName, filepath.Base(a.Project))
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
		t.addCandidate(candidate{a.DashboardPort, a.Server.PID}, now)
	}
}

// Restore tells the watch what was known of an instance before. It is for Serve to
// begin with: what has been found already keeps what is known of it. It is safe for
// concurrent use.
func (w *Watch) Restore(id monitor.Identity, p monitor.Proof) {
	w.enqueue(func(_ context.Context, l *loop, _ time.Time) { l.proofs[id] = p })
}

// restore takes in what was known of an instance when it is found. The client may
// have ended since: its exit is told to whoever watches it from now on. That it is
// alone, idle or failing is for the first look to bear out, see checkPipe, noteUse
// and noteFailure.
func (l *loop) restore(t *tracked) {
	p, known := l.proofs[t.in.Identity]
	if !known {
		return
	}
	delete(l.proofs, t.in.Identity)
	e := &t.in.Evidence
	if p.Client != nil && !t.in.Managed {
		t.in.Client, e.Pipe = p.Client, *cmp.Or(p.Pipe, new(monitor.Pipe))
	}
	if t.in.Entry == nil {
		t.in.Entry = p.Entry
	}
	t.aloneBefore = p.AloneSince
	e.IdleSince, t.lastTask, t.in.ToolCalls = p.IdleSince, p.LastTask, p.Calls
	if !p.CutOffUntil.IsZero() {
		t.calls.last = &cutOff{until: p.CutOffUntil}
	}
	e.RedSince = p.RedSince
	if !p.FailingSince.IsZero() {
		t.Failures, t.FailingSince = monitor.FailuresForRed, p.FailingSince
	}
}

// trackRemembered begins with a process of which only an entry of its client's settings told
// that it is a server, when its client is gone by now.
func (l *loop) trackRemembered(p process.Info, now time.Time) bool {
	entry := l.proofs[p.Identity].Entry
	if entry == nil || !entry.Proves || entry.Program != p.Exe || l.o.Rules.Hides(p.Exe, p.Args) {
		return false
	}
	l.track(l.newTracked(p, entryKind(entry.Name, p), serena.Command{}, now), p, now)
	return true
}

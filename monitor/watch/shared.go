package watch

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// SetShared tells the watch of all servers that clients have through us, in place
// of what it was told before. Those that run are shown with their clients; one
// that is parked is an instance without a process, as long as it has clients. It
// returns at once, and is safe for concurrent use; the list must not be changed.
func (w *Watch) SetShared(list []monitor.Shared) {
	w.enqueue(func(_ context.Context, l *loop, _ time.Time) { l.shared = list })
}

// Why a server that its clients keep does not run.
const (
	endedReason  = "its process has ended; the next request starts it again"
	unusedReason = "no request has needed it yet; starts at the first one"
	startReason  = "it is being started for a request"
	wakesSuffix  = "; wakes at the next request"
	triesSuffix  = "; the next request tries it again"
)

// addSharing puts what is known of shared servers into the instances of a snapshot, and
// adds those that have no process.
func (l *loop) addSharing(list []*monitor.Instance) []*monitor.Instance {
	shown := make(map[monitor.Identity]*monitor.Instance, len(list))
	for _, in := range list {
		shown[in.Identity] = in
	}
	last := make(map[string]monitor.Instance)
	var parked []*monitor.Instance
	for i := range l.shared {
		s := &l.shared[i]
		if s.Alone != "" {
			l.addDedicated(list, s)
			continue
		}
		before, known := l.lastShown[s.Key]
		if known {
			last[s.Key] = before
		}
		id := s.Place() // where it stands while it has no process
		if known && s.Server == (monitor.Identity{}) {
			id = before.Identity // where it stood before, as long as nobody names another process
		}
		in, memory := shown[id], before.RSSBytes
		switch starting := l.startingFor(list, s); {
		case in != nil && in.Cause != monitor.CauseDefunct:
			if in.RSSBytes > 0 && s.Reason == "" && !s.Starting { // else it ends, and what is left of it is not what it had
				memory = in.RSSBytes
			}
		case starting != nil:
			setSharing(starting, s, memory)
			continue
		// One that has just been started is not known yet. One that was known has
		// ended, and whoever has ended it may not have said so yet.
		case len(s.Clients) > 0 && (s.Parked || s.Starting || known && id == before.Identity):
			in = parkedInstance(id, s, before)
			parked = append(parked, in)
		default:
			continue
		}
		setSharing(in, s, memory)
		was := *in
		was.RSSBytes = memory // of what ran
		last[s.Key] = was
	}
	l.lastShown = last
	// What is left of the process of a parked one is an entry that waits for its
	// parent: not two instances.
	list = slices.DeleteFunc(list, func(in *monitor.Instance) bool {
		return slices.ContainsFunc(parked, func(p *monitor.Instance) bool { return p.Identity == in.Identity })
	})
	return append(list, parked...)
}

// setSharing puts into an instance by whom it is shared, and what its clients save who
// would have one of their own: as much memory each as it has, or had while it ran.
func setSharing(in *monitor.Instance, s *monitor.Shared, memory uint64) {
	in.Sharing, in.Client = s.Sharing(), nil
	separate := len(s.Clients)
	if !s.Parked && !s.Starting && separate > 0 {
		separate-- // which is this one
	}
	in.Sharing.SavedBytes = memory * uint64(separate)
	if len(s.Clients) > 0 {
		in.Client = &in.Sharing.Clients[0]
	}
}

// startingFor is what the scan has found below a keeper of ours, and nobody has
// told of yet, when it is the server that a group waits for; nil when there is none.
func (l *loop) startingFor(list []*monitor.Instance, s *monitor.Shared) *monitor.Instance {
	for _, in := range list {
		if t := l.tracked[in.Identity]; len(s.Clients) > 0 && t != nil && t.awaited && in.Sharing == nil && in.Cause != monitor.CauseDefunct &&
			in.ProjectRoot == s.Project && (s.Context == "" || in.Context == s.Context) {
			return in
		}
	}
	return nil
}

// parkedInstance is a server without a process, in its place. before is how it was
// when it ran, zero when nobody has seen that.
func parkedInstance(id monitor.Identity, s *monitor.Shared, before monitor.Instance) *monitor.Instance {
	in := &monitor.Instance{
		Identity: id, Kind: cmp.Or(s.Kind, monitor.KindSerena), Recognised: true, Managed: true, Lifetime: monitor.LifetimeShared,
		State:       monitor.StateParked,
		ProjectName: before.ProjectName, ProjectRoot: cmp.Or(before.ProjectRoot, s.Project),
		Context: cmp.Or(before.Context, s.Context), Modes: before.Modes, Version: before.Version, LastActivity: before.LastActivity,
	}
	if in.ProjectName == "" && s.Project != "" {
		in.ProjectName = filepath.Base(s.Project)
	}
	if in.Modes == nil {
		in.Modes = s.Modes
	}
	switch {
	case s.Starting || s.Waiting > 0:
		in.Reason = startReason
	case s.Parked && strings.HasPrefix(s.Reason, monitor.NotStarted):
		in.Reason = s.Reason + triesSuffix
	case s.Parked && s.Reason != "":
		in.Reason = s.Reason + wakesSuffix
	case id == (&monitor.Shared{Key: s.Key}).Place(): // it has had no process yet
		in.Reason = unusedReason
	default:
		in.Reason = endedReason
	}
	return in
}

// addDedicated puts into the instances what is known of a server that one client has
// for itself: the process that its shim has started is the server, or is above it.
func (l *loop) addDedicated(list []*monitor.Instance, s *monitor.Shared) {
	if s.Server == (monitor.Identity{}) {
		return
	}
	for _, in := range list {
		t := l.tracked[in.Identity]
		if in.Sharing != nil && len(in.Sharing.Clients) > 0 || t == nil || t.in.Managed || !l.isBelow(t, s.Server) {
			continue
		}
		in.Sharing = s.Sharing()
		if in.Client == nil && len(s.Clients) > 0 {
			in.Client = &in.Sharing.Clients[0]
		}
	}
}

// launcherTime is how long a launcher that a client has started gets until what it
// starts is found: a package may have to be downloaded first.
const launcherTime = 10 * time.Second

// trackDedicatedServers makes instances of the servers that clients have for themselves
// through us and that no rule knows: their shims say which processes they are. An
// instance stays until its process ends, also when its client has gone before.
func (l *loop) trackDedicatedServers(now time.Time) {
	for i := range l.shared {
		s := &l.shared[i]
		if s.Alone == "" || s.Server.PID <= 0 || s.Server == l.self {
			continue
		}
		switch t := l.tracked[s.Server]; {
		case t != nil && !t.isDedicated():
		case l.hasKnownServerBelow(s.Server):
			if t != nil { // the launcher of that: nothing has ended
				l.mergeInto(t, monitor.Identity{})
			}
		case t == nil:
			l.trackDedicated(s, now)
		}
	}
}

// isDedicated reports whether no rule knows t, and the shim of a client runs it.
func (t *tracked) isDedicated() bool { return t.in.Sharing != nil }

// trackDedicated tracks the server that a client has for itself, when it is what its
// shim says.
func (l *loop) trackDedicated(s *monitor.Shared, now time.Time) {
	info, err := l.o.System.Read(s.Server.PID)
	if err != nil || info.Identity != s.Server {
		return // it has ended meanwhile
	}
	if mine, err := l.o.System.SameUser(info.PID); err != nil || !mine {
		return
	}
	_, _, known := recognise(l.o.Rules, info)
	if known || command.IsLauncher(info.Exe, info.Args) && now.Sub(s.Since) < launcherTime || !l.isClientAbove(s) {
		return
	}
	kind := cmp.Or(s.Kind, monitor.ProgramName(info.Exe), monitor.ProgramName(info.Name))
	t := l.newTracked(info, kind, serena.Command{}, now)
	t.ruleKind, t.in.Recognised = "", false
	t.in.Sharing = &monitor.Sharing{Alone: s.Alone} // also when its client has gone
	l.track(t, info, now)
}

// isClientAbove reports whether a server is below the client that is said to have
// it. Nothing else is taken for a server on the word of a client.
func (l *loop) isClientAbove(s *monitor.Shared) bool {
	if len(s.Clients) == 0 || s.Clients[0].PID <= 0 {
		return true // nobody knows who it is
	}
	above, err := process.Above(l.o.System, s.Server.PID)
	return err == nil && slices.Contains(above, s.Clients[0].Identity)
}

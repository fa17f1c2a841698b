package watch

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// SetShared tells the watch of all servers that clients have through us, in place
// of what it was told before. Those that run are shown with their clients; one
// that is parked is an instance without a process, as long as it has clients. It
// returns at once, and is safe for concurrent use; the list must not be changed.
func (w *Watch) SetShared(list []monitor.Shared) {
	w.tell(func(g *given) { g.shared = list }, func(_ context.Context, l *loop, now time.Time) {
		l.shared = w.now().shared
		l.takeInAlone(now)
	})
}

// Why a server that its clients keep does not run.
const (
	endedReason  = "its process has ended; the next request starts it again"
	unusedReason = "no request has needed it yet; starts at the first one"
	firstReason  = "it is being started for its first request"
	againReason  = "it is being started again for a request"
	wakesSuffix  = "; wakes at the next request"
	triesSuffix  = "; the next request tries it again"
)

// share puts what is known of shared servers into the instances of a snapshot, and
// adds those that have no process.
func (l *loop) share(list []monitor.Instance) []monitor.Instance {
	if len(l.shared) == 0 {
		l.shownLast = nil
		return list
	}
	at := make(map[monitor.Identity]int, len(list))
	for i := range list {
		at[list[i].Identity] = i
	}
	last := make(map[string]monitor.Instance)
	var parked []monitor.Instance
	for i := range l.shared {
		s := &l.shared[i]
		if s.Alone != "" {
			l.shareAlone(list, s)
			continue
		}
		before, known := l.shownLast[s.Key]
		if known {
			last[s.Key] = before
		}
		id := place(s, before)
		if i, shown := at[id]; shown && list[i].Cause != monitor.CauseDefunct {
			in := &list[i]
			in.Sharing, in.Client = s.Sharing(), nil
			// What is told of it is from the last change; a server grows meanwhile.
			if n := len(s.Clients); n > 0 && !s.Parked && in.RSSBytes > 0 {
				in.Sharing.SavedBytes = in.RSSBytes * uint64(n-1)
			}
			if len(s.Clients) > 0 {
				in.Client = &in.Sharing.Clients[0]
			}
			last[s.Key] = *in
			continue
		}
		if in := l.startingFor(list, s); in != nil {
			in.Sharing = s.Sharing()
			in.Client = &in.Sharing.Clients[0]
			continue
		}
		// One that has just been started is not known yet. One that was known has
		// ended, and whoever has ended it may not have said so yet.
		if len(s.Clients) > 0 && (s.Parked || s.Starting || known && id == before.Identity) {
			in := parkedInstance(id, s, before)
			parked, last[s.Key] = append(parked, in), in
		}
	}
	l.shownLast = last
	// What is left of the process of a parked one is an entry that waits for its
	// parent: not two instances.
	list = slices.DeleteFunc(list, func(in monitor.Instance) bool {
		return slices.ContainsFunc(parked, func(p monitor.Instance) bool { return p.Identity == in.Identity })
	})
	return append(list, parked...)
}

// startingFor is what the scan has found below a keeper of ours, and nobody has
// told of yet, when it is the server that a group waits for; nil when there is none.
func (l *loop) startingFor(list []monitor.Instance, s *monitor.Shared) *monitor.Instance {
	if len(s.Clients) == 0 {
		return nil
	}
	for i := range list {
		in := &list[i]
		if t := l.tracked[in.Identity]; t != nil && t.awaited && !t.launched() && in.Sharing == nil && in.Cause != monitor.CauseDefunct &&
			in.ProjectRoot == s.Project && (s.Context == "" || in.Context == s.Context) {
			return in
		}
	}
	return nil
}

// parkedInstance is a server without a process, in its place. before is how it was
// when it ran, zero when nobody has seen that.
func parkedInstance(id monitor.Identity, s *monitor.Shared, before monitor.Instance) monitor.Instance {
	in := monitor.Instance{
		Identity: id, Kind: cmp.Or(s.Kind, monitor.KindSerena), Recognised: true, Managed: true, Lifetime: monitor.LifetimeShared,
		State: monitor.StateParked, Sharing: s.Sharing(),
		ProjectName: cmp.Or(before.ProjectName, projectName(s.Project)), ProjectRoot: cmp.Or(before.ProjectRoot, s.Project),
		Context: cmp.Or(before.Context, s.Context), Modes: before.Modes, Version: before.Version, LastActivity: before.LastActivity,
	}
	in.Client = &in.Sharing.Clients[0]
	if in.Modes == nil {
		in.Modes = s.Modes
	}
	never := id == (&monitor.Shared{Key: s.Key}).Place() // it has had no process yet
	switch {
	case (s.Starting || s.Waiting > 0) && never:
		in.Reason = firstReason
	case s.Starting || s.Waiting > 0:
		in.Reason = againReason
	case s.Parked && strings.HasPrefix(s.Reason, monitor.NotStarted):
		in.Reason = s.Reason + triesSuffix
	case s.Parked && s.Reason != "":
		in.Reason = s.Reason + wakesSuffix
	case never:
		in.Reason = unusedReason
	default:
		in.Reason = endedReason
	}
	return in
}

// place is the identity under which a server without a process stands: the one
// under which it stood before, as long as nobody names another process.
func place(s *monitor.Shared, before monitor.Instance) monitor.Identity {
	if s.Server == (monitor.Identity{}) && before.Identity != (monitor.Identity{}) {
		return before.Identity
	}
	return s.Place()
}

func projectName(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Base(dir)
}

// shareAlone puts into the instances what is known of a server that one client has
// for itself: the process that its shim has started is the server, or is above it.
func (l *loop) shareAlone(list []monitor.Instance, s *monitor.Shared) {
	if s.Server == (monitor.Identity{}) {
		return
	}
	for i := range list {
		in := &list[i]
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

// isBelow reports whether a process is the server itself or above it.
func (l *loop) isBelow(t *tracked, id monitor.Identity) bool {
	if id == t.in.Identity || id == t.root || slices.Contains(t.members, id) {
		return true
	}
	if t.above == nil {
		above, err := process.Above(l.o.System, t.in.Identity.PID)
		if err != nil {
			return false
		}
		t.above = above
	}
	return slices.Contains(t.above, id)
}

package registry

import (
	"slices"

	"lamplighter/monitor"
)

// wanted is what the registry should say of a snapshot: an entry for each
// Serena whose port is known and whose state is one of the registry's three,
// and the pids of all that live, whether they have an entry or not.
func wanted(s *monitor.Snapshot) (want []registration, live map[int]bool) {
	live = make(map[int]bool)
	for i := range s.Instances {
		in := &s.Instances[i]
		if in.Kind != monitor.KindSerena || in.Identity.PID <= 0 || in.State == monitor.StateParked || in.Cause == monitor.CauseDefunct {
			continue
		}
		live[in.Identity.PID] = true
		if in.Port == 0 || in.State == monitor.StateStarting {
			continue
		}
		e := Entry{
			PID: in.Identity.PID, Port: in.Port,
			StartedAt: in.StartedAt, LastHeartbeat: in.LastHeartbeat,
			Context: in.Context, Modes: in.Modes,
			ProjectName: in.ProjectName, ProjectRoot: in.ProjectRoot,
			State: in.State,
		}
		if e.LastHeartbeat.IsZero() { // it never answered
			e.LastHeartbeat = e.StartedAt
		}
		if e.StartedAt.IsZero() {
			e.StartedAt = s.At
		}
		want = append(want, registration{in.Identity, e})
	}
	// The order of a snapshot is for people and changes with names.
	slices.SortFunc(want, func(a, b registration) int { return a.PID - b.PID })
	return want, live
}

// news tells whether two lists differ in more than heartbeats.
func news(a, b []registration) bool {
	return !slices.EqualFunc(a, b, func(x, y registration) bool {
		return x.id == y.id && x.Port == y.Port && x.State == y.State &&
			x.ProjectName == y.ProjectName && x.ProjectRoot == y.ProjectRoot &&
			x.Context == y.Context && slices.Equal(x.Modes, y.Modes)
	})
}

// beats tells whether an instance has had a heartbeat since then that is worth
// writing. Both lists are of the same instances.
func beats(then, now []registration) bool {
	for i := range now {
		if now[i].LastHeartbeat.Sub(then[i].LastHeartbeat) >= touchAfter {
			return true
		}
	}
	return false
}

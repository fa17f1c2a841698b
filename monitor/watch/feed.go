package watch

import (
	"reflect"
	"slices"
	"time"

	"lamplighter/monitor"
)

type change int

const (
	same  change = iota
	drift        // only figures that move by themselves
	news
)

// compare tells how much two snapshots differ, their number and time aside. Less
// than a second of what the policies mean to do is nothing to tell.
func compare(a, b *monitor.Snapshot) change {
	if !a.AwakeSince.Equal(b.AwakeSince) || !slices.Equal(a.Warnings, b.Warnings) || !slices.Equal(a.Recent, b.Recent) || len(a.Instances) != len(b.Instances) ||
		!samePolicy(a.Policy, b.Policy) || !slices.Equal(a.Workspaces, b.Workspaces) {
		return news
	}
	result := same
	for i := range a.Instances {
		x, y := a.Instances[i], b.Instances[i]
		if !samePlan(x.Plan, y.Plan) {
			return news
		}
		x.Plan, y.Plan = monitor.Plan{}, monitor.Plan{}
		if reflect.DeepEqual(x, y) {
			continue
		}
		result = drift
		for _, in := range []*monitor.Instance{&x, &y} {
			in.LastHeartbeat, in.RSSBytes, in.CPUPercent, in.Processes = time.Time{}, 0, nil, 0
			in.Evidence.QuietSince, in.Evidence.SteadyBytes = time.Time{}, 0
			if in.Sharing != nil {
				steady := *in.Sharing
				steady.SavedBytes = 0
				in.Sharing = &steady
			}
		}
		if !reflect.DeepEqual(x, y) {
			return news
		}
	}
	return result
}

// keepPlans takes over what was planned, until it is said anew.
func keepPlans(before, after *monitor.Snapshot) {
	after.Policy = before.Policy
	for i := range min(len(before.Instances), len(after.Instances)) {
		if in := &after.Instances[i]; in.Identity == before.Instances[i].Identity {
			in.Plan, in.Evidence.Refused = before.Instances[i].Plan, before.Instances[i].Evidence.Refused
		}
	}
}

func samePlan(a, b monitor.Plan) bool {
	return a.Reason == b.Reason && sameTime(a.ShutdownAt, b.ShutdownAt) && sameTime(a.GivenUpSince, b.GivenUpSince) && sameTime(a.KeptUntil, b.KeptUntil)
}

func samePolicy(a, b monitor.Policy) bool {
	if !sameTime(a.PausedUntil, b.PausedUntil) {
		return false
	}
	a.PausedUntil, b.PausedUntil = time.Time{}, time.Time{}
	return reflect.DeepEqual(a, b)
}

// sameTime reports whether two times are the same to people: one that is counted
// anew from a span comes out a little different each time.
func sameTime(a, b time.Time) bool {
	return a.IsZero() == b.IsZero() && a.Sub(b).Abs() < time.Second
}

// gatherTime is how long what a probe has found waits for what the others find that
// are under way: one by one, n dashboards would make and compare n snapshots of n
// instances.
const gatherTime = 50 * time.Millisecond

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

// compare tells how much two snapshots differ, their number and time aside, and what the
// policies say of them.
func compare(a, b *monitor.Snapshot) change {
	if !a.AwakeSince.Equal(b.AwakeSince) || !slices.Equal(a.Warnings, b.Warnings) || !slices.Equal(a.Recent, b.Recent) || len(a.Instances) != len(b.Instances) {
		return news
	}
	result := same
	for i := range a.Instances {
		x, y := a.Instances[i], b.Instances[i]
		x.Plan, y.Plan = monitor.Plan{}, monitor.Plan{}
		x.Evidence.Refused, y.Evidence.Refused = monitor.Refused{}, monitor.Refused{}
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

// samePlans reports whether the policies say the same of two snapshots of the same
// instances.
func samePlans(a, b *monitor.Snapshot) bool {
	return reflect.DeepEqual(a.Policy, b.Policy) && slices.Equal(a.Recent, b.Recent) &&
		slices.EqualFunc(a.Instances, b.Instances, func(x, y monitor.Instance) bool {
			return x.Plan == y.Plan && x.Evidence.Refused == y.Evidence.Refused
		})
}

// gatherTime is how long what a probe has found waits for what the others find that
// are under way: one by one, n dashboards would make and compare n snapshots of n
// instances.
const gatherTime = 50 * time.Millisecond

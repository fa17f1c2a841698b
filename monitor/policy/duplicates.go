package policy

import (
	"cmp"
	"slices"
	"time"

	"lamplighter/monitor"
)

// duplicateAfter is how long the youngest server has to have run: a client that
// starts its server anew has two of them for a moment.
const duplicateAfter = time.Minute

// repeatedSince are the oldest of the servers that one client has started several times,
// with the start of the youngest.
func repeatedSince(s *monitor.Snapshot, r *Rules) map[monitor.Identity]time.Time {
	if !r.Duplicates || r.Off[Duplicates] {
		return nil
	}
	since := map[monitor.Identity]time.Time{}
	for _, list := range monitor.Repeated(s.Instances) {
		youngest := slices.MaxFunc(list, func(a, b *monitor.Instance) int { return a.StartedAt.Compare(b.StartedAt) })
		since[slices.MinFunc(list, byStart).Identity] = youngest.StartedAt
	}
	return since
}

// byStart orders instances by their start and, so that two of one moment have an
// order too, by their pid.
func byStart(a, b *monitor.Instance) int {
	return cmp.Or(cmp.Compare(a.Identity.Start, b.Identity.Start), cmp.Compare(a.Identity.PID, b.Identity.PID))
}

// duplicate is the rule for the oldest of the servers that one client has started
// several times, so that it is told once. It never ends anything: the client may use all
// of them.
func (c *look) duplicate() Action {
	started, isOldest := c.repeated[c.in.Identity]
	if !isOldest || c.forbidden != "" {
		return Action{}
	}
	return Action{Rule: Duplicates, Do: Notify, At: started.Add(duplicateAfter), Because: "all may be in use"}
}

package policy

import (
	"cmp"
	"time"

	"lamplighter/monitor"
)

// duplicateAfter is how long the youngest server has to have run: a client that
// starts its server anew has two of them for a moment.
const duplicateAfter = time.Minute

// repetition is a server that one client has started several times.
type repetition struct {
	oldest  *monitor.Instance
	started time.Time // the youngest of them
	count   int
}

// repetitionsIn are those of a snapshot.
func repetitionsIn(s *monitor.Snapshot, r *Rules) map[monitor.Repeat]repetition {
	if !r.Duplicates || r.Off[Duplicates] {
		return nil
	}
	found := map[monitor.Repeat]repetition{}
	for i := range s.Instances {
		in := &s.Instances[i]
		key, ok := in.Repeat()
		if !ok {
			continue
		}
		all := found[key]
		if all.oldest == nil || younger(all.oldest, in) {
			all.oldest = in
		}
		if in.StartedAt.After(all.started) {
			all.started = in.StartedAt
		}
		all.count++
		found[key] = all
	}
	return found
}

// younger orders instances by their start and, so that two of one moment have an
// order too, by their pid.
func younger(a, b *monitor.Instance) bool {
	return cmp.Or(cmp.Compare(a.Identity.Start, b.Identity.Start), cmp.Compare(a.Identity.PID, b.Identity.PID)) > 0
}

// duplicate is the rule for the oldest of the servers that one client has started
// several times, so that it is told once. It never ends anything: the client may use all
// of them.
func (c *look) duplicate(all map[monitor.Repeat]repetition) finding {
	key, ok := c.in.Repeat()
	if !ok || c.forbidden != "" {
		return finding{}
	}
	same := all[key]
	if same.count < 2 || same.oldest.Identity != c.in.Identity {
		return finding{}
	}
	return finding{rule: Duplicates, do: Notify, at: same.started.Add(duplicateAfter), because: "all may be in use"}
}

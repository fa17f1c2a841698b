package policy

import (
	"cmp"
	"time"

	"lamplighter/monitor"
)

// duplicateAfter is how long the newer server has to have run: a client that
// starts its server anew has two of them for a moment.
const duplicateAfter = time.Minute

// pair is what two servers have in common that one would do for.
type pair struct {
	client  monitor.Identity
	kind    string
	project string
}

// pairOf is the pair that an instance belongs to, if it can have a duplicate. A
// session is its client's own by agreement.
func pairOf(in *monitor.Instance) (pair, bool) {
	if beyond(in) || in.Managed || in.Client == nil || in.Client.PID == 0 || in.ProjectRoot == "" {
		return pair{}, false
	}
	return pair{client: in.Client.Identity, kind: in.Kind, project: in.ProjectRoot}, true
}

// youngestOf are the youngest instances of each pair.
func youngestOf(s *monitor.Snapshot, r *Rules) map[pair]*monitor.Instance {
	if !r.Duplicates || r.Off[Duplicates] {
		return nil
	}
	found := map[pair]*monitor.Instance{}
	for i := range s.Instances {
		in := &s.Instances[i]
		if p, ok := pairOf(in); ok && (found[p] == nil || younger(in, found[p])) {
			found[p] = in
		}
	}
	return found
}

// younger orders instances by their start and, so that two of one moment have an
// order too, by their pid.
func younger(a, b *monitor.Instance) bool {
	return cmp.Or(cmp.Compare(a.Identity.Start, b.Identity.Start), cmp.Compare(a.Identity.PID, b.Identity.PID)) > 0
}

// duplicate is the rule for a server whose client has a newer one for the same
// project. It never ends anything: the client may use both.
func (c *look) duplicate(youngest map[pair]*monitor.Instance) finding {
	p, ok := pairOf(c.in)
	if !ok || youngest[p] == nil || youngest[p].Identity == c.in.Identity || c.forbidden != "" {
		return finding{}
	}
	f := finding{rule: Duplicates, do: Notify, at: c.now, because: "both may be in use"}
	if started := youngest[p].StartedAt; !started.IsZero() {
		f.at = started.Add(duplicateAfter)
	}
	return f
}

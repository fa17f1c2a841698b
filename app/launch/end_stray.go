package launch

import (
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// strays returns those processes that somebody else has started: a terminal that
// serves many, for example, hands the environment of whoever asks for a window on
// to the shell in it, and the mark with that. Their parent lives, is neither among
// all nor ours, and takes in no orphans. One whose parent has gone may be a daemon
// of the launch, so it is no stray. Parent is asked only for those of which nothing
// else is known.
func strays(all []process.Stat, isOurs func(monitor.Identity) bool, parent func(process.Stat) (process.Info, bool)) map[monitor.Identity]bool {
	among, at := map[monitor.Identity]bool{}, map[int]process.Stat{}
	for _, p := range all {
		among[p.Identity], at[p.PID] = true, p
	}
	found := map[monitor.Identity]bool{}
	for _, p := range all {
		if above, ok := at[p.Parent]; isOurs(p.Identity) || ok && above.Start <= p.Start {
			continue
		}
		above, lives := parent(p)
		if lives && !among[above.Identity] && !isOurs(above.Identity) && !process.Adopts(above) {
			found[p.Identity] = true
		}
	}
	return found
}

// parentTries is how often the parent of a process is looked up while one after
// the other ends.
const parentTries = 3

// parentOf looks at the parent of a process; false when one of both has gone. Of a
// parent that may not be looked at, only the pid is known.
func parentOf(p process.Stat) (process.Info, bool) {
	for range parentTries {
		parent, err := process.Read(p.Parent)
		if err == nil && parent.Start <= p.Start {
			return parent, true
		}
		again, gone := process.ReadStat(p.PID)
		switch {
		case gone != nil || again.Identity != p.Identity:
			return process.Info{}, false
		case err != nil && again.Parent == p.Parent: // so it lives, where we cannot see it
			return process.Info{Identity: monitor.Identity{PID: p.Parent}}, true
		}
		p = again
	}
	return process.Info{}, false
}

package launch

import (
	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// divide returns those processes that people work in and those that are below
// one of them. A process that is ours is neither, whatever it is called. What is
// above the processes given does not matter: the terminal in which this program
// runs spares nobody.
func divide(all []process.Stat, isTheirs func(monitor.Identity) bool, isOurs func(monitor.Identity) bool) map[monitor.Identity]bool {
	spared, at := map[monitor.Identity]bool{}, map[int]process.Stat{}
	for _, p := range all {
		at[p.PID] = p
		if isTheirs(p.Identity) && !isOurs(p.Identity) {
			spared[p.Identity] = true
		}
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			parent, found := at[p.Parent]
			if found && spared[parent.Identity] && parent.Start <= p.Start && !spared[p.Identity] && !isOurs(p.Identity) {
				spared[p.Identity], more = true, true
			}
		}
	}
	return spared
}

// isTheirs reports whether people work in a process. What cannot be looked at is
// gone, or no program of theirs.
func isTheirs(id monitor.Identity, browsers bool) bool {
	info, err := process.Read(id.PID)
	return err == nil && info.Identity == id && command.IsUserApp(info.Exe, info.Name, browsers)
}

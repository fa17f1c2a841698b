package monitor

import (
	"slices"
	"strings"
)

// repeat is what servers have in common that are one server, started several times by
// one living client.
type repeat struct {
	client    Identity
	kind      string
	project   string
	directory string
	sum       uint64 // of the command line
	entry     string
}

// Repeated are the servers that one client has started several times, together, in the
// order of the list.
func Repeated(list []*Instance) (groups [][]*Instance) {
	alike := make(map[repeat]int) // the group of each
	for _, in := range list {
		key, ok := in.repeat()
		if !ok {
			continue
		}
		group, known := alike[key]
		if !known {
			group = len(groups)
			alike[key], groups = group, append(groups, nil)
		}
		groups[group] = append(groups[group], in)
	}
	return slices.DeleteFunc(groups, func(group []*Instance) bool { return len(group) == 1 })
}

// repeat says what the instance has in common with others like it, if it can have any: it
// is known for certain, and its client lives. A session is its client's own by agreement,
// and what clients share is there once.
func (in *Instance) repeat() (repeat, bool) {
	if !in.Recognised || in.Managed || in.Sharing != nil || in.Client == nil || in.Client.PID == 0 || in.Evidence.ClientGone || in.Evidence.Orphaned || in.Cause == CauseDefunct {
		return repeat{}, false
	}
	if in.Kind == KindSerena && in.ProjectRoot == "" {
		return repeat{}, false // it may be about to work on any
	}
	r := repeat{client: in.Client.Identity, kind: in.Kind, project: in.ProjectRoot, directory: in.Directory, sum: in.Sum}
	if in.Entry != nil {
		if strings.Contains(in.Entry.Name, OrName) {
			return repeat{}, false // each may be of another entry
		}
		r.entry = in.Entry.File + "\n" + in.Entry.Name
	}
	return r, true
}

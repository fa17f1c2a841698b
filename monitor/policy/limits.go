package policy

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// rulesFor are the rules as they are set for an instance.
func (r Rules) rulesFor(in *monitor.Instance) Rules {
	at := slices.IndexFunc(r.Overrides, func(o Override) bool { return o.matches(in, false) })
	if at < 0 {
		return r
	}
	o := &r.Overrides[at]
	if o.OrphanGrace != nil {
		r.OrphanGrace = *o.OrphanGrace
	}
	if o.IdleAfter != nil {
		r.IdleAfter = *o.IdleAfter
	}
	if o.MemoryOver != nil {
		r.MemoryOver = *o.MemoryOver
	}
	return r
}

// spares says why no policy ends an instance, "" if one may. Every override
// counts here, not only the first: one about something else must not take from an
// instance that it is spared.
func (r *Rules) spares(in *monitor.Instance) string {
	words := ""
	for i := range r.Overrides {
		o := &r.Overrides[i]
		switch {
		case !o.Never:
		case o.matches(in, false):
			return never
		case o.matches(in, true):
			words = perhapsNever
		}
	}
	return words
}

// matches reports whether an override is about an instance. With perhaps also whether it
// would be, if what is not known of the instance were so.
func (o *Override) matches(in *monitor.Instance, perhaps bool) bool {
	return (o.Project != "" || o.Client != "") &&
		(o.Project == "" || o.ofProject(in) || perhaps && o.projectUnknown(in)) &&
		(o.Client == "" || o.ofClient(in) || perhaps && (in.Client == nil || in.Client.Name == ""))
}

// ofProject reports whether an instance has the project of an override. People write
// names as they remember them, so that case does not count in those.
func (o *Override) ofProject(in *monitor.Instance) bool {
	return strings.EqualFold(o.Project, in.ProjectName) || sameDir(o.Project, in.ProjectRoot)
}

// projectUnknown reports whether what an override calls its project by, a name or a
// directory, is not known of an instance. Only a Serena has projects, and it may
// have none just now because its client is about to activate one.
func (o *Override) projectUnknown(in *monitor.Instance) bool {
	if in.Kind != monitor.KindSerena {
		return false
	}
	if strings.ContainsAny(o.Project, `/\`) {
		return in.ProjectRoot == ""
	}
	return in.ProjectName == ""
}

func (o *Override) ofClient(in *monitor.Instance) bool {
	return in.Client != nil && strings.EqualFold(o.Client, in.Client.Name)
}

// sameDir compares two directories. Windows writes the same one in more than one
// way.
func sameDir(a, b string) bool {
	if b == "" {
		return false
	}
	if strings.Contains(b, `\`) {
		plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, `\`, "/")) }
		a, b = plain(a), plain(b)
	}
	return strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}

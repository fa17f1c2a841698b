package policy

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Standing is how the rules stand, for views: each with its words and its switch,
// and how many instances an order for the idle or the orphaned ones would end.
// Whether this process acts on them is for the caller to fill in.
func (r Rules) Standing(s *monitor.Snapshot) monitor.Policy {
	p := monitor.Policy{Rules: make([]monitor.PolicyRule, 0, len(All))}
	if p.Paused = r.PausedAt(s.At); p.Paused {
		p.PausedUntil = view.Moment(r.PausedUntil)
	}
	for _, rule := range All {
		words, set := r.words(rule)
		row := monitor.PolicyRule{Name: string(rule), Words: words, On: set && !r.Off[rule], Set: set}
		if rule == Idle {
			row.Minutes, row.Attached = r.IdleAfter.Minutes(), new(r.IdleAttached)
		}
		p.Rules = append(p.Rules, row)
	}
	count := func(rule Rule) (n int) {
		eachMeant(s, rule, r, func(_ *look, f Action) {
			if f.Do == End {
				n++
			}
		})
		return n
	}
	p.Idle, p.Orphans = count(Idle), count(Orphans)
	return p
}

// words say what a rule does, and whether the settings give it something to do.
func (r *Rules) words(rule Rule) (words string, set bool) {
	switch rule {
	case Orphans:
		return r.ending("End orphaned servers", r.OrphanGrace, func(o *Override) *time.Duration { return o.OrphanGrace })
	case Idle:
		return r.ending("End idle servers", r.IdleAfter, func(o *Override) *time.Duration { return o.IdleAfter })
	case Zombies:
		if r.ZombieAfter > 0 {
			return "Tell of servers that need attention for " + monitor.Span(r.ZombieAfter), true
		}
		return "Tell of servers that need attention", false
	case Memory:
		return r.memoryWords()
	case Duplicates:
		return "Tell when one client runs the same server more than once", r.Duplicates
	}
	return "", false
}

// ending are the words of a rule that ends servers after a time.
func (r *Rules) ending(what string, after time.Duration, of func(*Override) *time.Duration) (words string, set bool) {
	switch {
	case after > 0:
		return what + " after " + monitor.Span(after), true
	case slices.ContainsFunc(r.Overrides, func(o Override) bool { return view.Value(of(&o)) > 0 }):
		return what + " of some projects or clients", true
	}
	return what, false
}

func (r *Rules) memoryWords() (words string, set bool) {
	what := "Tell of servers"
	if r.MemoryEnd {
		what = "End idle servers"
	}
	switch {
	case r.MemoryOver > 0:
		return what + " that use more than " + monitor.Memory(r.MemoryOver), true
	case slices.ContainsFunc(r.Overrides, func(o Override) bool { return view.Value(o.MemoryOver) > 0 }):
		return what + " that use much memory, of some projects or clients", true
	}
	return what + " that use much memory", false
}

package policies

import (
	"maps"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// said is what the user has said about the policies. Its maps are replaced,
// never changed, and its times have no monotonic reading. The zero value is that
// nothing was said.
type said struct {
	kept   map[monitor.Identity]time.Time // no policy ends it before
	paused bool
	until  time.Time // with paused; zero: until it is taken back
	off    map[policy.Rule]bool
}

// clone is a copy that may be changed.
func (s said) clone() said {
	s.kept, s.off = maps.Clone(s.kept), maps.Clone(s.off)
	if s.kept == nil {
		s.kept = map[monitor.Identity]time.Time{}
	}
	if s.off == nil {
		s.off = map[policy.Rule]bool{}
	}
	return s
}

// pausedAt reports whether the policies are paused then.
func (s said) pausedAt(now time.Time) bool {
	return s.paused && (s.until.IsZero() || now.Before(s.until))
}

// keptAt reports whether the instance is kept then.
func (s said) keptAt(id monitor.Identity, now time.Time) (until time.Time, kept bool) {
	until, kept = s.kept[id]
	return until, kept && now.Before(until)
}

// over reports whether something of it has come to its end by then.
func (s said) over(now time.Time) bool {
	if s.paused && !s.pausedAt(now) {
		return true
	}
	for _, until := range s.kept {
		if !now.Before(until) {
			return true
		}
	}
	return false
}

// tidy is it without what has come to its end by then.
func (s said) tidy(now time.Time) said {
	s = s.clone()
	if !s.pausedAt(now) {
		s.paused, s.until = false, time.Time{}
	}
	maps.DeleteFunc(s.kept, func(_ monitor.Identity, until time.Time) bool { return !now.Before(until) })
	return s
}

// next is when the first thing of it comes to its end, zero when nothing does.
func (s said) next() time.Time {
	var first time.Time
	if s.paused {
		first = s.until
	}
	for _, until := range s.kept {
		first = sooner(first, until)
	}
	return first
}

// sooner is the earlier of two times; a zero one is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

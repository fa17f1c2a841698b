package tray

import (
	"fmt"
	"time"

	"lamplighter/monitor"
)

// A planned end is told when it is near, by minutes at last. One that is far off
// moves with every call of the instance, and the menu would never be calm.
const (
	planTold   = 15 // minutes before the end
	planCounts = 10 // minutes; what is left of more is told as this
)

// planned tells whether a policy is about to end an instance. None ends one that
// cannot be stopped.
func planned(in *monitor.Instance, now time.Time) bool {
	return !in.Plan.ShutdownAt.IsZero() && stoppable(in) && minutesTo(in.Plan.ShutdownAt, now) < planTold
}

// kept tells whether the user keeps an instance from the policies for a while.
func kept(in *monitor.Instance, now time.Time) bool { return in.Plan.KeptUntil.After(now) }

// minutesTo counts the minutes as a clock on the wall does, whole ones only, so
// that all countdowns change together and the menu once a minute.
func minutesTo(at, now time.Time) int {
	return int(at.Truncate(time.Minute).Sub(now.Truncate(time.Minute)) / time.Minute)
}

// planWords tells when an instance ends: "ends in 4 min".
func planWords(at, now time.Time) string {
	if n := minutesTo(at, now); n > 0 {
		return fmt.Sprintf("ends in %d min", min(n, planCounts))
	}
	return "ends now"
}

// nextPlan is the time until something else is told of a plan, 0 for never.
func nextPlan(in *monitor.Instance, now time.Time) time.Duration {
	at := in.Plan.ShutdownAt
	if at.IsZero() || !stoppable(in) {
		return 0
	}
	n := minutesTo(at, now)
	switch {
	case n <= 0:
		return nextClock(at, now)
	case n >= planTold:
		n -= planTold - 1
	case n >= planCounts:
		n -= planCounts - 1
	default:
		n = 1
	}
	next := now.Truncate(time.Minute).Add(time.Duration(n) * time.Minute).Sub(now)
	if d := nextClock(at, now); planned(in, now) && d > 0 {
		next = min(next, d)
	}
	return next
}

// reasonOf is why a policy ends an instance: "no call for 30 min".
func reasonOf(in *monitor.Instance) string { return monitor.Clean(in.Plan.Reason) }

// planSentence is what a tooltip says of a plan. It tells the time by the clock,
// because a tooltip that counts would change all the time.
func planSentence(in *monitor.Instance, now time.Time) string {
	s := "will shut down at " + clock(in.Plan.ShutdownAt, now)
	if reason := reasonOf(in); reason != "" {
		s += ", because " + reason
	}
	return s
}

// keptWords is empty for an instance that is not kept.
func keptWords(in *monitor.Instance, now time.Time) string {
	if !kept(in, now) {
		return ""
	}
	return "kept until " + clock(in.Plan.KeptUntil, now)
}

// nextKept is the time until keptWords will say something else, 0 for never.
func nextKept(in *monitor.Instance, now time.Time) time.Duration {
	if !kept(in, now) {
		return 0
	}
	next := in.Plan.KeptUntil.Sub(now)
	if d := nextClock(in.Plan.KeptUntil, now); d > 0 {
		next = min(next, d)
	}
	return next
}

// clock tells a time: that of the day, before it the date if it is another
// day, both where now is.
func clock(at, now time.Time) string {
	at = at.In(now.Location())
	if day(at) == day(now) {
		return at.Format("15:04")
	}
	return at.Format("2 Jan 15:04")
}

// nextClock is the time until clock tells a time with its date, or a time to come
// without it; 0 for never.
func nextClock(at, now time.Time) time.Duration {
	at = at.In(now.Location())
	switch {
	case day(at) == day(now):
		return dayEnd(now).Sub(now)
	case at.Before(now):
		return 0
	}
	return dayStart(at).Sub(now)
}

// day is the same for all times of a day.
func day(t time.Time) [3]int {
	y, m, d := t.Date()
	return [3]int{y, int(m), d}
}

// dayStart is when the day of t begins.
func dayStart(t time.Time) time.Time {
	y, m, d := t.Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	for day(start) != day(t) {
		start = start.Add(time.Hour) // where clocks are set forward at midnight
	}
	return start
}

// dayEnd is when the next day begins.
func dayEnd(now time.Time) time.Time {
	y, m, d := now.Date()
	end := time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
	for day(end) == day(now) || !end.After(now) {
		end = end.Add(time.Hour) // where clocks are set forward at midnight
	}
	return end
}

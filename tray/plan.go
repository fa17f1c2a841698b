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

// reasonOf is why a policy ends an instance: "no call for 30 min".
func reasonOf(in *monitor.Instance) string { return monitor.Clean(in.Plan.Reason) }

// planSentence is what a tooltip says of a plan. It tells the time by the clock,
// because a tooltip that counts would change all the time.
func planSentence(in *monitor.Instance, now time.Time) string {
	s := "will shut down at " + monitor.Clock(in.Plan.ShutdownAt, now)
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
	return "kept until " + monitor.Clock(in.Plan.KeptUntil, now)
}

// day is the same for all times of a day.
func day(t time.Time) [3]int {
	y, m, d := t.Date()
	return [3]int{y, int(m), d}
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

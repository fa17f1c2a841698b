package cli

import (
	"context"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

// planned says what the policies mean to do about an instance, "" for nothing.
func planned(in *monitor.Instance, now time.Time) string {
	switch at, until := in.Plan.ShutdownAt, in.Plan.KeptUntil; {
	case !at.IsZero():
		when := "now"
		if wait := at.Sub(now); wait > 0 {
			when = "in " + upcoming(wait)
		}
		return strings.TrimSuffix("will end "+when+": "+monitor.Clean(in.Plan.Reason), ": ")
	case until.After(now):
		return "kept for " + upcoming(until.Sub(now))
	}
	return ""
}

// upcoming tells how long something takes yet, rounded.
func upcoming(d time.Duration) string {
	if d >= time.Minute {
		d = d.Round(time.Minute)
	}
	return roughly(max(d, time.Second))
}

// standing tells what the background process says of the policies and of what
// ended servers have given back, in whole lines. Where it does not run, or is
// older than these, there is nothing to tell.
func standing(ctx context.Context, client *api.Client, now time.Time) string {
	if client == nil {
		return ""
	}
	status, err := client.Status(ctx)
	if err != nil {
		return ""
	}
	return standingLines(status, now)
}

func standingLines(s api.Status, now time.Time) string {
	lines := ""
	switch {
	case s.Policy.Paused && s.Policy.PausedUntil != nil:
		lines = "The policies are paused until " + onClock(*s.Policy.PausedUntil, now) + ".\n"
	case s.Policy.Paused:
		lines = "The policies are paused until you resume them.\n"
	}
	if s.GivenBackBytes > 0 {
		lines += monitor.Memory(s.GivenBackBytes) + " given back"
		if s.GivenBackSince != nil {
			lines += " since " + onClock(*s.GivenBackSince, now)
		}
		lines += ".\n"
	}
	return lines
}

// onClock is a moment on the user's clock, with its day unless that is today.
func onClock(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

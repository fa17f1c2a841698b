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
			when = "in " + monitor.Span(wait)
		}
		return strings.TrimSuffix("will end "+when+": "+monitor.Clean(in.Plan.Reason), ": ")
	case until.After(now):
		return "kept for " + monitor.Span(until.Sub(now))
	}
	return ""
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
		lines = "The policies are paused until " + monitor.Clock(*s.Policy.PausedUntil, now) + ".\n"
	case s.Policy.Paused:
		lines = "The policies are paused until you resume them.\n"
	}
	if s.GivenBackBytes > 0 {
		lines += monitor.Memory(s.GivenBackBytes) + " given back"
		if s.GivenBackSince != nil {
			lines += " since " + monitor.Clock(*s.GivenBackSince, now)
		}
		lines += ".\n"
	}
	return lines
}

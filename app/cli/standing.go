package cli

import (
	"context"
	"time"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

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

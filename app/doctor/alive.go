package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor/process"
	"lamplighter/monitor/registry"
)

// aliveLimit is how long the lock for servers is tried. Who keeps it keeps it
// as long as it runs, so a moment is enough.
const aliveLimit = 300 * time.Millisecond

// gatherAlive looks at the lock that the background process holds as long as it
// may start servers.
func gatherAlive(ctx context.Context, state string) registry.Health {
	if state == "" {
		return registry.Health{}
	}
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	return registry.ExamineLock(ctx, launch.AliveLock(state))
}

// judgeAlive is about who holds that lock. Where that is not known, the process
// that runs is taken to be the one.
func judgeAlive(h registry.Health, b background) []Line {
	l := Line{Mark: Broken, Means: "No session can be started."}
	ours := h.Holder == b.health.PID && b.runs() || slices.ContainsFunc(b.silent, func(in process.Info) bool { return !b.runs() && in.PID == h.Holder })
	switch {
	case h.LockErr != nil:
		l.Text, l.Do = fmt.Sprintf("the lock %s cannot be taken: %v", h.Lock, reason(h.LockErr)), "Move it away."
	case !h.Held, ours, b.runs() && h.Holder == 0:
		return nil
	case h.Holder == 0:
		l.Text, l.Do = fmt.Sprintf("the lock %s is held by another program", h.Lock), "End that program."
	default:
		l.Text = fmt.Sprintf("the lock %s is held by %s (pid %d)", h.Lock, h.HolderName, h.Holder)
		l.Do = fmt.Sprintf("End pid %d.", h.Holder)
	}
	return []Line{l}
}

// judgeWarnings are those of the background process, which the page shows, too.
func judgeWarnings(warnings []string) []Line {
	var lines []Line
	for _, text := range warnings {
		l := Line{Mark: Warn, Text: "the background process warns: " + text}
		if strings.HasPrefix(text, launch.NoServers) {
			l.Mark, l.Means = Broken, "A session that is asked for is refused with this reason."
		}
		lines = append(lines, l)
	}
	return lines
}

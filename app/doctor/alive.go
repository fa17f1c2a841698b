package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor/statefile"
)

// aliveLimit is how long the lock for servers is tried. Who keeps it keeps it
// as long as it runs, so a moment is enough.
const aliveLimit = 300 * time.Millisecond

// gatherAlive looks at the lock that the background process holds as long as it
// may start servers.
func gatherAlive(ctx context.Context, state string) lockFacts {
	return tryLock(ctx, launch.AliveLock(state), aliveLimit)
}

// judgeAlive is about that lock. A background process that runs holds it, or warns
// that it does not.
func judgeAlive(f lockFacts, b background) []Line {
	l := Line{Mark: Broken, Means: "No session can be started."}
	switch {
	case f.err != nil:
		l.Text, l.Do = fmt.Sprintf("the lock %s cannot be taken: %v", f.path, statefile.Cause(f.err)), "Move it away."
	case f.held && !b.runs() && len(b.silent) == 0:
		l.Text, l.Do = fmt.Sprintf("the lock %s is held by another program", f.path), "End that program."
	default:
		return nil
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

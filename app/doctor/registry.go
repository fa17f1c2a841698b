package doctor

import (
	"context"
	"fmt"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/registry"
)

func gatherRegistry(ctx context.Context, o Options) registry.Health {
	if o.Places.SerenaHome == "" {
		return registry.Health{}
	}
	return registry.Examine(ctx, o.Places.SerenaHome)
}

// oldHeartbeat is the age at which the entry of a dead process is a left-over:
// Lamplighter takes it out after ten minutes.
const oldHeartbeat = 15 * time.Minute

func judgeRegistry(h registry.Health) []Line {
	var lines []Line
	switch {
	case h.Path == "":
		return []Line{{Mark: OK, Text: "there is no home directory, so there is no registry"}}
	case h.NotRegular:
		return []Line{{Mark: OK, Text: h.Path + " leads to something that is no file: that switches the registry off"}}
	case h.Corrupt != nil:
		lines = append(lines, Line{
			Mark: Broken, Text: fmt.Sprintf("%s cannot be used: %v", h.Path, h.Corrupt), Means: "Programs that read it fail or see nothing. Lamplighter sets it aside and makes a new one as soon as a server runs.",
			Do: "Move it away, unless you want to mend it.",
		})
	case h.Err != nil:
		lines = append(lines, Line{Mark: Broken, Text: fmt.Sprintf("%s cannot be read: %v", h.Path, reason(h.Err)), Means: "Servers are not entered there.", Do: "Check its owner and mode."})
	case !h.Exists:
		lines = append(lines, Line{Mark: OK, Text: "there is no registry " + h.Path + " yet; it is made with the first server"})
	default:
		lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s can be read: %s", h.Path, monitor.Plural(h.Entries, "server", "servers"))})
	}
	if h.Strange > 0 {
		lines = append(lines, Line{
			Mark: Warn, Text: fmt.Sprintf("%s there cannot be understood", monitor.Plural(h.Strange, "entry", "entries")),
			Means: "They are left as they are; other programs may fail on them.",
		})
	}
	if h.Dead > 0 {
		l := Line{Mark: OK, Text: fmt.Sprintf("%s ended; Lamplighter takes it out ten minutes after the last heartbeat", monitor.Plural(h.Dead, "server there has", "servers there have"))}
		if h.OldestDead > oldHeartbeat {
			l = Line{
				Mark: Warn, Text: fmt.Sprintf("%s ended long ago", monitor.Plural(h.Dead, "server there has", "servers there have")),
				Means: "Programs that read it believe that they run.", Do: "lamplighter run takes them out.",
			}
		}
		lines = append(lines, l)
	}
	return append(lines, judgeLock(h)...)
}

func judgeLock(h registry.Health) []Line {
	switch {
	case h.LockErr != nil:
		return []Line{{Mark: Broken, Text: fmt.Sprintf("its lock %s cannot be taken: %v", h.Lock, reason(h.LockErr)), Means: "Nothing is entered into the registry.", Do: "Move it away."}}
	case h.Held:
		l := Line{
			Mark: Broken, Text: fmt.Sprintf("its lock %s is held all the time", h.Lock), Means: "Nobody can enter a server. It is held for milliseconds only when all is well.",
			Do: "End the program that holds it.",
		}
		if h.Holder != 0 {
			l.Text = fmt.Sprintf("its lock %s is held all the time by %s (pid %d)", h.Lock, h.HolderName, h.Holder)
		}
		return []Line{l}
	}
	return nil
}

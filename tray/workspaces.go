package tray

import (
	"fmt"
	"time"

	"lamplighter/monitor"
)

// Workspace is a directory that a job has for itself: app/workspace.
type Workspace struct {
	ID        string // UUID
	Job       string
	Project   string
	SizeBytes int64 // when it was last measured, -1: nobody did
	CreatedAt time.Time
	EndsAt    time.Time // when it is taken away, zero: never or not known
	Ends      string    // what happens then, in words
	Problem   string    // what stands against it, in words
}

// workspaceLines is the number of workspaces in the menu; the page has them all.
const workspaceLines = 15

// workspaceSubmenu puts the workspaces of jobs in words, the youngest first. Times
// in it are of the clock, so that it reads the same until a day ends.
func workspaceSubmenu(list []Workspace, now time.Time) (top line, lines []line) {
	var bytes uint64
	for i := len(list) - 1; i >= 0; i-- {
		w := &list[i]
		bytes += uint64(max(w.SizeBytes, 0))
		if len(lines) < workspaceLines {
			lines = append(lines, line{Key: "workspace " + w.ID, Title: workspaceLine(w, now), Action: openPage})
		}
	}
	top = line{Key: "workspaces", Title: fmt.Sprintf("Workspaces: %d", len(list))}
	if bytes > 0 {
		top.Title += ", " + monitor.Memory(bytes)
	}
	if over := len(list) - len(lines); over > 0 {
		lines = append(lines, line{Key: "more workspaces", Title: fmt.Sprintf("and %d more: lamplighter workspace list", over), Action: openPage})
	}
	return top, padded(lines, workspaceLines+1, line{})
}

// workspaceLine is one workspace: its job, its project, how large it is, since
// when it is there, and what will happen when.
func workspaceLine(w *Workspace, now time.Time) string {
	job := monitor.Clean(w.Job)
	words := []string{monitor.Shorten(monitor.Clean(w.Project), eventColumns)}
	if w.SizeBytes > 0 {
		words = append(words, monitor.Memory(w.SizeBytes))
	}
	ends := monitor.Clean(w.Ends)
	if ends != "" && !w.EndsAt.IsZero() {
		ends += " " + monitor.Clock(w.EndsAt, now)
	}
	words = append(words, "since "+monitor.Clock(w.CreatedAt, now), ends, monitor.Clean(w.Problem))
	return title(recentColumns, job, job, words...)
}

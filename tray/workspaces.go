package tray

import (
	"fmt"
	"slices"
	"time"

	"lamplighter/monitor"
)

// workspaceLines is the number of workspaces in the menu; the page has them all.
const workspaceLines = 15

// workspaceMenu is the submenu of the workspaces of jobs.
type workspaceMenu struct {
	Title string   // of the submenu, empty for none
	Lines []string // the youngest first
	More  string   // how many found no room, empty for none
}

// workspaceList puts workspaces in words. Times in it are of the clock, so that it
// reads the same until a day ends.
func workspaceList(list []monitor.Workspace, now time.Time) workspaceMenu {
	if len(list) == 0 {
		return workspaceMenu{}
	}
	var w workspaceMenu
	var bytes uint64
	for i := len(list) - 1; i >= 0; i-- {
		one := &list[i]
		bytes += uint64(max(one.SizeBytes, 0))
		if len(w.Lines) < workspaceLines {
			w.Lines = append(w.Lines, workspaceLine(one, now))
		}
	}
	w.Title = fmt.Sprintf("Workspaces: %d", len(list))
	if bytes > 0 {
		w.Title += ", " + onDisk(bytes)
	}
	if over := len(list) - len(w.Lines); over > 0 {
		w.More = fmt.Sprintf("and %d more: lamplighter workspace list", over)
	}
	return w
}

// onDisk says how large workspaces are, in the words for memory; theirs may be
// less than those tell.
func onDisk(bytes uint64) string {
	if bytes < 1_000_000 {
		return "under 1 MB"
	}
	return monitor.Memory(bytes)
}

// workspaceLine is one workspace: its job, its project, how large it is, since
// when it is there, and what will happen when.
func workspaceLine(w *monitor.Workspace, now time.Time) string {
	job := monitor.Clean(w.Job)
	words := []string{monitor.Shorten(monitor.Clean(w.Project), eventColumns)}
	if w.SizeBytes > 0 {
		words = append(words, onDisk(uint64(w.SizeBytes)))
	}
	ends := monitor.Clean(w.Ends)
	if ends != "" && !w.EndsAt.IsZero() {
		ends += " " + clock(w.EndsAt, now)
	}
	words = append(words, "since "+clock(w.CreatedAt, now), ends, monitor.Clean(w.Problem))
	return title(recentColumns, job, job, words...)
}

// nextWorkspaces is the time until a workspace is told with another clock; 0 for
// never.
func nextWorkspaces(list []monitor.Workspace, now time.Time) (next time.Duration) {
	for i := range list {
		for _, at := range []time.Time{list[i].CreatedAt, list[i].EndsAt} {
			if d := nextClock(at, now); !at.IsZero() && d > 0 && (next == 0 || d < next) {
				next = d
			}
		}
	}
	return next
}

func (w workspaceMenu) equal(o workspaceMenu) bool {
	return w.Title == o.Title && w.More == o.More && slices.Equal(w.Lines, o.Lines)
}

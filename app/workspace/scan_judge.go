package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// besides is what a judgement needs to know that Stale does not tell.
type besides struct {
	prunable string    // why git would forget it
	unseen   error     // nobody could look who works in it
	job      string    // of ours; "" when it is somebody else's
	busy     bool      // of ours: something is being done with it
	done     bool      // of ours: its job has ended
	now      time.Time // by the wall clock
}

// judge reports whether nothing stands against removing a worktree, and in words
// what does, or why it is safe.
func judge(s Stale, also besides) (removable bool, why string) {
	switch {
	case s.Main:
		return false, "it is the main working tree of its repository"
	case s.barred != "":
		return false, s.barred
	case len(s.InUse) > 0:
		return false, "in use: " + usersWords(s.InUse)
	case also.unseen != nil:
		return false, "nobody could find out whether it is in use: " + also.unseen.Error()
	case s.Locked:
		return false, lockedWords(s.LockedWhy)
	case also.busy:
		return false, "it is a workspace that is being worked on"
	case s.Loss.Words != "":
		return false, "would be lost: " + s.Loss.Words
	case s.Missing:
		return true, "its directory has gone; what git remembers of it is all that is removed"
	case also.prunable != "":
		return false, "git would forget it: " + also.prunable
	case also.job != "" && !also.done:
		return false, fmt.Sprintf("it is the workspace of the job %q, which has not ended", also.job)
	}
	why = "nothing would be lost: all is committed, and "
	if s.Pushed {
		why += "on a remote"
	} else {
		why += "on another branch or a tag"
	}
	if with := withWords(s.with); with != "" {
		why += "; it goes " + with
	}
	if !s.UsedAt.IsZero() && !also.now.Before(s.UsedAt) {
		why += "; last used " + monitor.Span(also.now.Sub(s.UsedAt)) + " ago"
	}
	return true, why
}

// barredWords say what stands against removing a tree whatever is forced: the
// names of workspaces in it, and the error of looking what is mounted there.
func barredWords(ours []string, mounted error) string {
	switch {
	case errors.Is(mounted, tree.ErrMounted):
		return monitor.Clean(mounted.Error())
	case mounted != nil:
		return "nobody could find out whether a file system is mounted in it: " + monitor.Clean(mounted.Error())
	case len(ours) == 1:
		return fmt.Sprintf("the workspace %s lies in it; remove that first", ours[0])
	case len(ours) > 1:
		return fmt.Sprintf("%d workspaces lie in it (%s); remove those first", len(ours), some(ours, len(ours)))
	}
	return ""
}

// withWords say what goes with a tree, "" when there is nothing.
func withWords(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("with %s in it (%s)", monitor.Plural(len(paths), "other worktree or repository", "other worktrees and repositories"), some(paths, len(paths)))
}

// lockedWords say that a worktree is locked, and what to do.
func lockedWords(why string) string {
	text := "it is locked"
	if why != "" {
		text += " (" + why + ")"
	}
	return text + "; `git worktree unlock` with its path lets go of it"
}

// madeBy is who makes worktrees at places, or with branches, like these: "" when
// nobody is known to.
func madeBy(path, branch string) string {
	path = filepath.ToSlash(path)
	// Where it is tells more than what its branch is called.
	for _, place := range []struct{ part, who string }{
		{"/.claude/", "Claude Code"},
		{"/.codex/", "Codex"},
		{"/.cursor/", "Cursor"},
	} {
		if strings.Contains(path, place.part) {
			return place.who
		}
	}
	for _, name := range []struct{ prefix, who string }{
		{branchPrefix, "lamplighter"},
		{"claude/", "Claude Code"},
		{"codex/", "Codex"},
		{"cursor/", "Cursor"},
	} {
		if strings.HasPrefix(branch, name.prefix) {
			return name.who
		}
	}
	return ""
}

package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
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

// judge tells whether nothing stands against removing a worktree, and in words
// what does, or why it is safe.
func judge(s Stale, also besides) (removable bool, why string) {
	switch {
	case s.Main:
		return false, "it is the main working tree of its repository"
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
	if !s.UsedAt.IsZero() && !also.now.Before(s.UsedAt) {
		why += "; last used " + Span(also.now.Sub(s.UsedAt)) + " ago"
	}
	return true, why
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

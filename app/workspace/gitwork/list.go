package gitwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
)

// Worktree is a working tree of a repository besides its main one, or that.
type Worktree struct {
	Path      string
	Admin     string // its own directory below the common one; of the main one that itself
	Head      string // commit; "" when there is none yet
	Branch    string // short; "" when detached
	Locked    bool
	LockedWhy string
	Prunable  string // why git would forget it; "" when it is whole
	Main      bool
	Bare      bool // it is the main one, and has no tree
}

// List are the worktrees, the main one first. One whose own directory is broken
// is left out.
func (r Repo) List(ctx context.Context) ([]Worktree, error) {
	out, err := r.common().read(ctx, "worktree", "list", "--porcelain", "-z")
	end := "\x00"
	var failed *failure
	if errors.As(err, &failed) && failed.status == 129 { // wrong usage: git before 2.36
		out, err = r.common().read(ctx, "worktree", "list", "--porcelain")
		end = "\n"
	}
	if err != nil {
		return nil, fmt.Errorf("listing the worktrees of %s: %w", monitor.Clean(r.Common), err)
	}
	admins, err := r.admins()
	if err != nil {
		return nil, err
	}
	var list []Worktree
	for i, w := range parseList(string(out), end) {
		if w.Main = i == 0; w.Main {
			w.Admin = r.Common
			list = append(list, w)
			continue
		}
		if w.Admin = admins.of(w.Path); w.Admin == "" {
			continue
		}
		w.LockedWhy, w.Locked = locked(w.Admin)
		if _, err := os.Lstat(filepath.Join(w.Path, gitFile)); err != nil && w.Prunable == "" {
			w.Prunable = "its directory has gone"
			if _, err := os.Lstat(w.Path); err == nil {
				w.Prunable = "its directory has no .git any more"
			}
		}
		list = append(list, w)
	}
	return list, nil
}

// parseList reads what `git worktree list --porcelain` prints: lines "name value"
// with end at the end of each, and of each worktree an empty one.
func parseList(text, end string) []Worktree {
	var list []Worktree
	for _, block := range strings.Split(text, end+end) {
		var w Worktree
		for _, line := range strings.Split(block, end) {
			name, value, _ := strings.Cut(line, " ")
			switch name {
			case "worktree":
				w.Path = filepath.FromSlash(value)
			case "HEAD":
				if isHash(value) && value != noHash(value) {
					w.Head = value
				}
			case "branch":
				w.Branch = strings.TrimPrefix(value, "refs/heads/")
			case "bare":
				w.Bare = true
			case "prunable":
				if w.Prunable = value; value == "" {
					w.Prunable = "git does not say why"
				}
			}
		}
		if w.Path != "" {
			list = append(list, w)
		}
	}
	return list
}

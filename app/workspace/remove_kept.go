package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// aroundOf is the identity of the directory that a tree lies in, "" where it cannot
// be told.
func aroundOf(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	identity, err := tree.Identity(dir)
	if err != nil {
		return ""
	}
	return identity
}

// moved reports whether the directory around a tree is not the one that it was made
// in: the empty place of a drive that is not there now looks like one from which
// the tree was removed.
func (r *record) moved() bool {
	now := aroundOf(r.Path)
	return r.Around != "" && now != "" && now != r.Around
}

// remembered fills in what would be lost with what git remembers of a worktree whose
// tree is not there: it may have been moved.
func (m *Manager) remembered(ctx context.Context, r *record, verb verb, loss *Loss) (busy string) {
	if r.Source.Kind != FromGit || r.Source.Admin == "" {
		return ""
	}
	if _, err := os.Lstat(r.Source.Admin); errors.Is(err, fs.ErrNotExist) {
		return "" // it has been forgotten
	}
	repo, err := gitwork.Open(ctx, r.Source.Repository)
	var status gitwork.Status
	if err == nil {
		status, err = repo.Remembered(ctx, gitwork.Worktree{Path: r.Path, Admin: r.Source.Admin})
	}
	if err != nil {
		loss.Unknown = monitor.Clean(err.Error())
		return ""
	}
	m.takeStatus(r, verb, status, loss)
	return monitor.Clean(status.Busy)
}

// takeStatus takes over what git says would be lost. Commits on the branch of the
// workspace are lost with all of it only: when its tree ends that branch stays.
func (m *Manager) takeStatus(r *record, verb verb, status gitwork.Status, loss *Loss) {
	links := r.ownShares()
	for _, path := range status.Uncommitted {
		if !slices.Contains(links, path) && !m.ofSerena(r.Path, path) {
			loss.Uncommitted = append(loss.Uncommitted, monitor.Clean(path))
		}
	}
	loss.More = status.More
	if verb != stepEnd || !r.onBranch() {
		for _, commit := range status.Commits {
			loss.Commits = append(loss.Commits, monitor.Clean(commit))
		}
		loss.MoreCommits = status.MoreCommits
	}
	for _, path := range status.Submodules {
		loss.Submodules = append(loss.Submodules, monitor.Clean(path))
	}
}

// headLimit bounds what is read of a HEAD.
const headLimit = 1 << 12

// onBranch reports whether the branch of a workspace is what is checked out.
func (r *record) onBranch() bool {
	head, err := statefile.Read(filepath.Join(r.Source.Admin, "HEAD"), headLimit)
	return err == nil && r.Source.Branch != "" && strings.TrimSpace(string(head)) == "ref: refs/heads/"+r.Source.Branch
}

// barred is what keeps a workspace from being removed whatever is asked for, "" when
// nothing does: that git was told to keep its worktree, and workspaces in its tree.
func (m *Manager) barred(ctx context.Context, r *record) string {
	if r.State != Ready {
		return ""
	}
	if r.Source.Kind == FromGit && r.Source.Admin != "" {
		if _, err := os.Lstat(filepath.Join(r.Source.Admin, "locked")); err == nil {
			return "its worktree is locked; unlock it with `git worktree unlock` first"
		}
	}
	if lies, err := m.lies(r, r.Path); err != nil || lies != ours {
		return ""
	}
	known, err := m.ourTrees() // that nobody could look is a loss
	var names []string
	for path, other := range known {
		if other.ID != r.ID && below(path, r.Path) {
			names = append(names, monitor.Clean(other.Name))
		}
	}
	if len(names) == 0 {
		return unreadIn(ctx, r.Path, err)
	}
	slices.Sort(names)
	return monitor.Plural(len(names), "other workspace lies", "other workspaces lie") + " in it (" + some(names, len(names)) + "); remove that first"
}

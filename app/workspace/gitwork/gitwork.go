// Package gitwork speaks to git, in its own program, about worktrees. What a
// repository's settings would run (hooks, monitors, pagers, external diffs) is
// switched off: a worktree that somebody else has written to is looked at here.
package gitwork

import (
	"context"
	"errors"
	"time"
)

var errUnbuilt = errors.New("not built yet")

// What may be wrong.
var (
	ErrNoGit  = errors.New("git is not installed, or not in the PATH")
	ErrNoRepo = errors.New("not in a git repository")
	ErrNoRef  = errors.New("the repository has no such commit, branch or tag")
)

// Repo is a repository.
type Repo struct {
	Common string // its common directory, absolute
	Top    string // of the working tree that was asked about; "" where it is bare
	Name   string // for people: of its main working tree
}

// Open finds the repository that dir is in. The error Is ErrNoRepo or ErrNoGit.
func Open(ctx context.Context, dir string) (Repo, error) { return Repo{}, errUnbuilt }

// Resolve is the commit that a ref names; "" is what is checked out in Top. The
// error Is ErrNoRef. A ref that looks like an option is none.
func (r Repo) Resolve(ctx context.Context, ref string) (commit string, err error) {
	return "", errUnbuilt
}

// Worktree is a working tree of a repository besides its main one, or that.
type Worktree struct {
	Path      string
	Admin     string // its own directory below the common one
	Head      string // commit
	Branch    string // short; "" when detached
	Locked    bool
	LockedWhy string
	Prunable  string // why git would forget it; "" when it is whole
	Main      bool
}

// Add makes a worktree at path, which is not there or empty, with a new branch at
// commit. progress is told files and their total. When it fails nothing is left of it.
func (r Repo) Add(ctx context.Context, path, branch, commit string, progress func(files, total int64)) (Worktree, error) {
	return Worktree{}, errUnbuilt
}

// Attach makes a worktree at path of a branch that is there.
func (r Repo) Attach(ctx context.Context, path, branch string, progress func(files, total int64)) (Worktree, error) {
	return Worktree{}, errUnbuilt
}

// Adopt makes what is checked out at path, which is whole but for its .git, a worktree of a branch
// without touching its files, so that git status tells what differs.
func (r Repo) Adopt(ctx context.Context, path, branch string) (Worktree, error) {
	return Worktree{}, errUnbuilt
}

// List are the worktrees, the main one first.
func (r Repo) List(ctx context.Context) ([]Worktree, error) { return nil, errUnbuilt }

// Forget removes what the repository remembers of a worktree whose tree has gone
// or is about to go; admin as Worktree tells it, path as it was made. The tree itself is not touched. It is no
// error when it is not there.
func (r Repo) Forget(ctx context.Context, admin, path string) error { return errUnbuilt }

// Status is what a worktree has that is nowhere else.
type Status struct {
	Uncommitted []string // paths, changed, staged or untracked and not ignored; the first 20
	More        int
	Commits     []string // "1a2b3c4 subject": on HEAD, and on no other branch (than own) and no remote; the first 20
	MoreCommits int
	Merged      bool      // HEAD is on another branch or a remote
	Pushed      bool      // HEAD is on a remote
	Submodules  []string  // that have work of their own
	Busy        string    // "rebase", "merge", "bisect", … is going on; "" none
	HeadAt      time.Time // of the last commit
}

// Status looks at the worktree at path. admin is what its .git has to lead to:
// one that leads elsewhere is not trusted, and an error; "" trusts it.
func (r Repo) Status(ctx context.Context, path, admin string) (Status, error) {
	return Status{}, errUnbuilt
}

// DropBranch removes a branch when all its commits are elsewhere, and says
// whether it did.
func (r Repo) DropBranch(ctx context.Context, branch string) (dropped bool, err error) {
	return false, errUnbuilt
}

// Remove has git remove a worktree, with force also one with changes. A locked
// one is refused.
func (r Repo) Remove(ctx context.Context, path string, force bool) error { return errUnbuilt }

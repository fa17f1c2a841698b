package workspace

import (
	"context"
	"errors"
	"fmt"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/monitor"
)

// commits are where the work in a worktree was when it was packed.
type commits struct {
	Head   string `json:"head"`
	Branch string `json:"branch,omitempty"` // "" when it was detached
	Pinned bool   `json:"pinned,omitempty"` // a ref of ours holds Head
}

// saveCommits makes sure that what was committed in a worktree outlives it: what
// is on a branch does. A detached one's is put on the workspace's own branch where
// that leads there, else a ref holds it. It is nil when there is no repository any
// more.
func (m *Manager) saveCommits(ctx context.Context, r *record) (*commits, error) {
	if r.Source.Kind != FromGit || !isDir(r.Source.Repository) {
		return nil, nil
	}
	repo := gitwork.Repo{Common: r.Source.Repository}
	status, err := repo.Wary().Status(ctx, r.Path, r.Source.Admin)
	if err != nil {
		return nil, err
	}
	if status.Busy != "" {
		return nil, fmt.Errorf("%w: a %s is going on in it; finish or abort that", ErrState, status.Busy)
	}
	worktrees, err := repo.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range worktrees {
		if w.Admin != r.Source.Admin && w.Path != r.Path {
			continue
		}
		if w.Locked {
			return nil, fmt.Errorf("%w: somebody has locked its worktree (%s); `git worktree unlock` does away with that", ErrState, monitor.Clean(w.LockedWhy))
		}
		c := &commits{Head: w.Head, Branch: w.Branch}
		if c.Branch != "" || c.Head == "" {
			return c, nil
		}
		led, err := repo.Advance(ctx, r.Source.Branch, c.Head)
		if err != nil {
			return nil, err
		}
		if !led {
			c.Pinned = true
			err = repo.Pin(ctx, r.ID, c.Head)
		}
		return c, err
	}
	return nil, fmt.Errorf("%w: git does not know its worktree any more; `git worktree repair` in it may help", ErrState)
}

// forgetWorktree has git forget a worktree whose tree has gone. That it does not
// is no harm: git does so itself in time.
func (m *Manager) forgetWorktree(ctx context.Context, r *record) {
	if r.Source.Kind != FromGit || !isDir(r.Source.Repository) {
		return
	}
	repo := gitwork.Repo{Common: r.Source.Repository}
	if err := repo.Forget(ctx, r.Source.Admin, r.Path); err != nil {
		m.o.Log.Warn("git has not forgotten the worktree of an archived workspace; `git worktree prune` does", "workspace", r.Name, "error", err)
	}
}

// worktreeOf makes the files at a workspace's path, which are whole, its worktree
// again: of the branch that it was of when that still is at the same commit, of a new
// branch else. plain says why it could not be.
func (m *Manager) worktreeOf(ctx context.Context, r *record, was *commits) (plain string) {
	err := m.adopt(ctx, r, was)
	if err == nil {
		return ""
	}
	m.o.Log.Warn("a workspace is a directory without git now", "workspace", r.Name, "error", err)
	return monitor.Clean(err.Error())
}

func (m *Manager) adopt(ctx context.Context, r *record, was *commits) error {
	if !isDir(r.Source.Repository) {
		return fmt.Errorf("its repository %s has gone", r.Source.Repository)
	}
	repo := gitwork.Repo{Common: r.Source.Repository}
	if was == nil || was.Head == "" {
		was = &commits{Head: r.Source.Commit, Branch: r.Source.Branch}
		if head, err := repo.Resolve(ctx, "refs/heads/"+was.Branch); err == nil {
			was.Head = head
		}
	}
	// What a crash has left half made is made anew.
	if err := repo.Forget(ctx, r.Source.Admin, r.Path); err != nil {
		return err
	}
	if err := removeGitLink(r.Path); err != nil {
		return err
	}
	branch, err := m.branchFor(ctx, repo, r, was)
	if err != nil {
		return err
	}
	m.at("restore: branch")
	w, err := repo.Adopt(ctx, r.Path, branch)
	if err != nil {
		return err
	}
	r.Source.Admin = w.Admin
	if was.Branch != branch {
		r.Source.Branch = branch
	}
	if was.Pinned {
		if err := repo.Unpin(ctx, r.ID); err != nil {
			m.o.Log.Warn("a ref that held commits stays", "workspace", r.Name, "error", err)
		}
	}
	return nil
}

// mostBranches is how many names are tried for a branch.
const mostBranches = 100

// branchFor is the branch for a worktree whose commit was was.Head: nobody else
// has it checked out, and it is at that commit.
func (m *Manager) branchFor(ctx context.Context, repo gitwork.Repo, r *record, was *commits) (string, error) {
	worktrees, err := repo.List(ctx)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, w := range worktrees {
		taken[w.Branch] = true
	}
	candidates := []string{was.Branch, r.Source.Branch}
	for n := 2; n < mostBranches; n++ {
		candidates = append(candidates, fmt.Sprintf("%s%s-%d", branchPrefix, r.Name, n))
	}
	for _, branch := range candidates {
		if branch == "" || taken[branch] {
			continue
		}
		head, err := repo.Resolve(ctx, "refs/heads/"+branch)
		switch {
		case err == nil && head == was.Head:
			return branch, nil
		case errors.Is(err, gitwork.ErrNoRef):
			return branch, repo.MakeBranch(ctx, branch, was.Head)
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("no name is free for its branch")
}

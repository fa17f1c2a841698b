package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/monitor"
)

// worktreeCommits is what became of the commits of a worktree that goes.
type worktreeCommits struct {
	repo   gitwork.Repo
	none   bool   // there is no repository
	branch string // has what was checked out without a branch, and was nowhere else
	err    error  // they could not be looked at: git has to remember the worktree
}

// saveHead has a branch hold what is checked out in a worktree without one (a
// detached HEAD, or what a rebase has come to), when it is on no branch, tag or
// remote: with the worktree git would forget it. That is the workspace's own branch
// where it leads there, else another one. It may be called again at each point.
func (m *Manager) saveHead(ctx context.Context, r *record) (c worktreeCommits) {
	if r.Source.Kind != FromGit {
		return worktreeCommits{none: true}
	}
	c.repo, c.err = gitwork.Open(ctx, r.Source.Repository)
	if errors.Is(c.err, gitwork.ErrNoRepo) {
		return worktreeCommits{none: true} // it has gone, and all that it remembered
	}
	if c.err == nil {
		c.branch, c.err = m.branchOfHead(ctx, c.repo, r)
	}
	return c
}

func (m *Manager) branchOfHead(ctx context.Context, repo gitwork.Repo, r *record) (string, error) {
	worktrees, err := repo.List(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(worktrees, func(w gitwork.Worktree) bool {
		return !w.Main && (w.Admin == r.Source.Admin || w.Path == r.Path)
	})
	if i < 0 || worktrees[i].Branch != "" || worktrees[i].Head == "" {
		return "", nil
	}
	head := worktrees[i].Head
	if safe, err := repo.Safe(ctx, head); err != nil || safe {
		return "", err
	}
	if r.Source.Branch != "" {
		if led, err := repo.Advance(ctx, r.Source.Branch, head); err != nil || led {
			return r.Source.Branch, err
		}
	}
	return m.branchFor(ctx, repo, r, &commits{Head: head})
}

// forget has the repository of a worktree forget it, and with branch drops its
// branch, and what held its commits in an archive, when all of them are elsewhere;
// it says what stays. It keeps nothing from being removed that git cannot be asked:
// git finds out by itself that a tree has gone.
func (m *Manager) forget(ctx context.Context, r *record, c worktreeCommits, branch bool) (kept string) {
	if c.none {
		return ""
	}
	var stays []string
	if c.branch != "" {
		stays = append(stays, "the branch "+monitor.Clean(c.branch))
	}
	err := c.err
	if err == nil && r.Source.Admin != "" {
		err = c.repo.Forget(ctx, r.Source.Admin, r.Path)
	}
	if err == nil && branch && r.Source.Branch != "" {
		var dropped bool
		if dropped, err = c.repo.DropBranch(ctx, r.Source.Branch); err == nil && !dropped && c.branch != r.Source.Branch {
			stays = append(stays, "the branch "+monitor.Clean(r.Source.Branch))
		}
	}
	if err == nil && branch {
		var held string
		var safe bool
		held, safe, err = c.repo.Pinned(ctx, r.ID)
		switch {
		case err != nil || held == "":
		case safe:
			err = c.repo.Unpin(ctx, r.ID)
		default:
			stays = append(stays, pinOf(r))
		}
	}
	if len(stays) > 0 {
		kept = withCommits(stays)
	}
	if err != nil {
		m.o.Log.Warn("git could not be asked to forget a worktree", "workspace", r.Name, "error", err)
		rest := "what git remembers of it in " + monitor.Clean(r.Source.Repository)
		if kept != "" {
			rest = kept + "; " + rest
		}
		return rest
	}
	return kept
}

// wouldKeep is what would stay of the commits of a workspace with which loss would
// be lost.
func (m *Manager) wouldKeep(ctx context.Context, r *record, loss *Loss) string {
	if r.Source.Kind != FromGit {
		return ""
	}
	var stays []string
	if loss != nil && len(loss.Commits) > 0 && r.Source.Branch != "" {
		stays = append(stays, "the branch "+monitor.Clean(r.Source.Branch))
	}
	if r.State == Archived {
		repo := gitwork.Repo{Common: r.Source.Repository}
		if held, safe, err := repo.Pinned(ctx, r.ID); err == nil && held != "" && !safe {
			stays = append(stays, pinOf(r))
		}
	}
	if len(stays) == 0 {
		return ""
	}
	return withCommits(stays)
}

// pinOf is what holds the commits of an archived workspace, in words.
func pinOf(r *record) string { return "the ref refs/lamplighter/" + r.ID }

func withCommits(stays []string) string {
	return strings.Join(stays, " and ") + ", with commits that are nowhere else"
}

package gitwork

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// pins is where refs lie that hold commits of ours, and that no git command shows
// among branches and tags.
const pins = "refs/lamplighter/"

// MakeBranch makes a branch at a commit that is there. One of that name is an
// error.
func (r Repo) MakeBranch(ctx context.Context, branch, commit string) error {
	err := goodBranch(branch)
	if err == nil {
		err = goodCommit(commit)
	}
	if err == nil { // "branch" says no to what no branch may be called
		_, err = r.common().write(ctx, "branch", "--no-track", branch, commit)
	}
	if err != nil {
		return fmt.Errorf("making the branch %s: %w", monitor.Clean(branch), err)
	}
	return nil
}

// Advance moves a branch on to a commit that has all of its commits, or makes it
// there when there is none, and says whether it did. One that a worktree has checked
// out stays where it is.
func (r Repo) Advance(ctx context.Context, branch, commit string) (bool, error) {
	led, err := r.advance(ctx, branch, commit)
	if err != nil {
		return false, fmt.Errorf("moving the branch %s on: %w", monitor.Clean(branch), err)
	}
	return led, nil
}

func (r Repo) advance(ctx context.Context, branch, commit string) (bool, error) {
	if err := goodBranch(branch); err != nil {
		return false, err
	}
	if err := goodCommit(commit); err != nil {
		return false, err
	}
	ref := "refs/heads/" + branch
	tip, err := r.Resolve(ctx, ref)
	if errors.Is(err, ErrNoRef) {
		_, err = r.common().write(ctx, "update-ref", "--no-deref", ref, commit, noHash(commit))
		return err == nil, err
	}
	if err != nil || tip == commit {
		return tip == commit, err
	}
	list, err := r.List(ctx)
	if err != nil {
		return false, err
	}
	for _, w := range list {
		if w.Branch == branch {
			return false, nil
		}
	}
	_, err = r.common().read(ctx, "merge-base", "--is-ancestor", tip, commit)
	var failed *failure
	if errors.As(err, &failed) && failed.status == 1 {
		return false, nil
	}
	if err == nil {
		_, err = r.common().write(ctx, "update-ref", "--no-deref", ref, commit, tip)
	}
	return err == nil, err
}

// Pin has a ref hold a commit that may be on no branch, so that git keeps it.
// There is one for each name.
func (r Repo) Pin(ctx context.Context, name, commit string) error {
	err := goodPin(name)
	if err == nil {
		err = goodCommit(commit)
	}
	if err == nil {
		_, err = r.common().write(ctx, "update-ref", "--no-deref", pins+name, commit)
	}
	if err != nil {
		return fmt.Errorf("holding the commit %s: %w", monitor.Clean(commit), err)
	}
	return nil
}

// Unpin lets go of what Pin holds. It is no error when it holds nothing.
func (r Repo) Unpin(ctx context.Context, name string) error {
	err := goodPin(name)
	if err == nil {
		_, err = r.common().write(ctx, "update-ref", "--no-deref", "-d", pins+name)
	}
	if err != nil {
		return fmt.Errorf("letting go of a commit: %w", err)
	}
	return nil
}

// Pinned is the commit that Pin holds, "" when it holds none, and whether that is on
// a branch, a tag or a remote too.
func (r Repo) Pinned(ctx context.Context, name string) (commit string, safe bool, err error) {
	doing := "looking at what is held as " + monitor.Clean(name)
	if err := goodPin(name); err != nil {
		return "", false, fmt.Errorf("%s: %w", doing, err)
	}
	commit, err = r.Resolve(ctx, pins+name)
	if errors.Is(err, ErrNoRef) {
		return "", false, nil
	}
	if err == nil {
		safe, err = r.Safe(ctx, commit)
	}
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", doing, err)
	}
	return commit, safe, nil
}

// Safe reports whether a commit is on a branch, a tag or a remote.
func (r Repo) Safe(ctx context.Context, commit string) (bool, error) {
	if err := goodCommit(commit); err != nil {
		return false, err
	}
	own, err := r.common().read(ctx, append([]string{"rev-list", "-n", "1", commit}, elsewhere("")...)...)
	return err == nil && len(own) == 0, err
}

func goodPin(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%q cannot be the name of a ref", monitor.Clean(name))
	}
	return goodBranch(name)
}

// goodCommit refuses what is not the whole name of a commit: git would take it for
// an option, or for whatever is called so.
func goodCommit(commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%q is not the whole name of a commit", monitor.Clean(commit))
	}
	return nil
}

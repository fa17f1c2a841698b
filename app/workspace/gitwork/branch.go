package gitwork

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// dropTries is how often removing a branch is tried, when others move the one
// that has its commits meanwhile.
const dropTries = 5

// elsewhere are the arguments of rev-list that leave out what is on any branch
// but own, on a tag, or on a remote. No character that may be in a branch's name
// means anything in a pattern.
func elsewhere(own string) []string {
	args := []string{"--not"}
	if own != "" {
		args = append(args, "--exclude="+own)
	}
	return append(args, "--branches", "--tags", "--remotes")
}

// DropBranch removes a branch when all its commits are on another branch, a tag or
// a remote and no worktree has it checked out, and says whether it did: also when
// there was none.
func (r Repo) DropBranch(ctx context.Context, branch string) (dropped bool, err error) {
	doing := "removing the branch " + monitor.Clean(branch)
	if err := goodBranch(branch); err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	for range dropTries {
		dropped, again, err := r.dropBranch(ctx, branch)
		if err != nil {
			return false, fmt.Errorf("%s: %w", doing, err)
		}
		if !again {
			return dropped, nil
		}
	}
	return false, fmt.Errorf("%s: others change the branches all the time; try again", doing)
}

func (r Repo) dropBranch(ctx context.Context, branch string) (dropped, again bool, err error) {
	var failed *failure
	ref := "refs/heads/" + branch
	out, err := r.common().read(ctx, "rev-parse", "--verify", "--quiet", ref)
	if errors.As(err, &failed) {
		return true, false, nil
	}
	if err != nil {
		return false, false, err
	}
	tip := line(out)
	list, err := r.List(ctx)
	if err != nil {
		return false, false, err
	}
	for _, w := range list {
		if w.Branch == branch {
			return false, false, nil
		}
	}
	own, err := r.common().read(ctx, append([]string{"rev-list", "-n", "1", tip}, elsewhere(branch)...)...)
	if err != nil || len(own) > 0 {
		return false, false, err
	}
	other, at, err := r.holder(ctx, ref, tip)
	if err != nil || other == "" {
		return false, other == "" && err == nil, err
	}
	// Both in one transaction: two that have each other's commits cannot both go.
	_, err = r.common().run(ctx, call{
		args:  []string{"update-ref", "--no-deref", "--stdin"},
		input: fmt.Sprintf("verify %s %s\ndelete %s %s\n", other, at, ref, tip),
	})
	if errors.As(err, &failed) {
		return false, true, nil
	}
	return err == nil, false, err
}

// holder is a ref besides one that holds a commit, and where that ref is.
func (r Repo) holder(ctx context.Context, ref, commit string) (other, at string, err error) {
	out, err := r.common().read(ctx, "for-each-ref", "--contains="+commit, "--format=%(objectname) %(refname) %(symref)",
		"refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return "", "", err
	}
	for text := range strings.Lines(string(out)) {
		fields := strings.Fields(text) // three: it is another name of a ref
		if len(fields) == 2 && fields[1] != ref {
			return fields[1], fields[0], nil
		}
	}
	return "", "", nil
}

// Remove has git remove a worktree, with force also one with changes. A locked
// one is refused.
func (r Repo) Remove(ctx context.Context, path string, force bool) error {
	doing := "removing the worktree " + monitor.Clean(path)
	admin, err := r.adminFor(path)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if why, is := locked(admin); is {
		return fmt.Errorf("%s: it is locked (%s); unlock it with git worktree unlock first", doing, monitor.Clean(why))
	}
	g := r.common()
	if g.settings, err = r.filters(ctx, admin); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force")
	}
	if _, err := g.write(ctx, append(args, path)...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

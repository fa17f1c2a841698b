package gitwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lamplighter/monitor"
)

// Work tells in words what would be lost with the worktree or repository at path,
// which Nested has found in a tree that is to go, and "" when that is nothing. With
// a repository of its own all of its branches go, so a commit counts there that is
// on no remote and no tag, and so do other worktrees that it has. Nothing that its
// settings name is run. What is not understood is an error.
func Work(ctx context.Context, path string) (string, error) {
	words, err := workAt(ctx, path)
	if err != nil {
		return "", fmt.Errorf("looking at %s: %w", monitor.Clean(path), err)
	}
	return words, nil
}

func workAt(ctx context.Context, path string) (string, error) {
	own, err := ownDir(path)
	if err != nil {
		return "", err
	}
	if filepath.Base(filepath.Dir(own)) == worktreesDir {
		common, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(own)))
		if err != nil {
			return "", err
		}
		s, err := Repo{Common: common, Name: nameOf(common), wary: true}.status(ctx, path, "")
		if err != nil {
			return "", err
		}
		_, locked := locked(own)
		switch {
		case locked:
			return "a lock of `git worktree lock`", nil
		case len(s.Uncommitted) > 0:
			return "changes that are not committed", nil
		case len(s.Commits) > 0:
			return "commits that are on no other branch and no remote", nil
		case s.Busy != "":
			return "a " + s.Busy + " that is going on", nil
		case len(s.Submodules) > 0:
			return "a submodule with work of its own", nil
		}
		return "", nil
	}
	if info, err := os.Stat(own); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", errors.New("its .git leads to no directory")
	}
	list, err := Repo{Common: own}.List(ctx)
	if err != nil {
		return "", err
	}
	if len(list) > 1 {
		return "the repository of other worktrees", nil
	}
	with, err := git{dir: path, admin: own, tree: path}.work(ctx)
	if with {
		return "changes, or commits that are on no remote", err
	}
	return "", err
}

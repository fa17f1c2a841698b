package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
)

// Forget removes what the repository remembers of a worktree whose tree has gone
// or is about to go; admin as Worktree tells it, path as it was made. The tree
// itself is not touched, and no other worktree. A lock does not count. It is no
// error when nothing is remembered, or when admin is another worktree's by now.
func (r Repo) Forget(ctx context.Context, admin, path string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	doing := "forgetting the worktree " + monitor.Clean(path)
	if admin == "" {
		found, err := r.adminOf(path)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		if found == "" {
			return nil
		}
		admin = found
	}
	err := r.isAdmin(admin)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	tree, err := treeOf(admin)
	if errors.Is(err, fs.ErrNotExist) {
		forgetEmpty(admin)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if !samePlace(tree, path) {
		return nil
	}
	if err := forget(admin); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// newTime is for git to put something into a directory that it has made.
const newTime = time.Minute

// forgetEmpty removes what is left of a worktree's own directory where we were
// stopped at the last step. A new one is empty too, of whoever makes a worktree
// just now: that stays, and what is ours is forgotten the next time, or by git.
func forgetEmpty(admin string) {
	if info, err := os.Lstat(admin); err == nil && time.Since(info.ModTime()) > newTime {
		_ = os.Remove(admin)
	}
}

// forget removes a worktree's own directory, as git does. What says whose it is
// goes last, so that what a crash leaves is known again.
func forget(admin string) error {
	entries, err := os.ReadDir(admin)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == gitdirFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(admin, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(admin); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(admin)) // git has none where there are no worktrees
	return nil
}

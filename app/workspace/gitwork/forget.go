package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		_ = os.Remove(admin) // where we were stopped at the last step; nothing else is empty
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

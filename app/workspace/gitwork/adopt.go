package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// Adopt makes what is checked out at path, which is whole but for its .git, a
// worktree of a branch without touching its files, so that git status tells what
// differs. A .git that leads to nothing any more is replaced; any other one is
// refused. When it fails the tree is as it was.
func (r Repo) Adopt(ctx context.Context, path, branch string) (Worktree, error) {
	w, err := r.adopt(ctx, path, branch)
	if err != nil {
		return Worktree{}, fmt.Errorf("making a worktree of %s: %w", monitor.Clean(path), err)
	}
	return w, nil
}

func (r Repo) adopt(ctx context.Context, path, branch string) (w Worktree, err error) {
	if !filepath.IsAbs(path) {
		return w, errors.New("its path is not absolute")
	}
	if info, err := os.Lstat(path); err != nil {
		return w, err
	} else if !info.IsDir() {
		return w, errors.New("it is no directory")
	}
	if err := noRepository(path); err != nil {
		return w, err
	}
	if err := r.hasBranch(ctx, branch); err != nil {
		return w, err
	}
	// git makes a worktree only where nothing is: beside the tree, under its name,
	// after which its own directory is called.
	aside, err := os.MkdirTemp(filepath.Dir(path), ".adopt-*")
	if err != nil {
		return w, err
	}
	side := filepath.Join(aside, filepath.Base(path))
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	if _, err := r.common().write(ctx, "worktree", "add", "--quiet", "--no-checkout", side, branch); err != nil {
		return w, errors.Join(err, made{repo: r, path: side}.undo(true))
	}
	if w, err = r.at(ctx, side, branch); err != nil {
		return Worktree{}, errors.Join(err, made{repo: r, path: side}.undo(true))
	}
	w.Path = path
	if err := lead(ctx, w); err != nil {
		undone := forget(w.Admin)
		if left := os.Remove(filepath.Join(path, gitFile)); left != nil && !errors.Is(left, fs.ErrNotExist) {
			undone = errors.Join(undone, left)
		}
		return Worktree{}, errors.Join(err, undone)
	}
	return w, nil
}

// noRepository makes sure that the tree at path has no .git that leads anywhere,
// and removes one that leads to nothing.
func noRepository(path string) error {
	file := filepath.Join(path, gitFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	to, err := leadsTo(path)
	if err != nil {
		return fmt.Errorf("its .git is not that of a worktree: %w", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it belongs to %s already", monitor.Clean(to))
	}
	return os.Remove(file)
}

// lead has a worktree's own directory and its tree lead to each other, and fills
// in the index from HEAD. The files are compared with that once, so that git need
// not do so each time.
func lead(ctx context.Context, w Worktree) error {
	for path, text := range map[string]string{
		filepath.Join(w.Admin, gitdirFile): filepath.ToSlash(filepath.Join(w.Path, gitFile)),
		filepath.Join(w.Path, gitFile):     "gitdir: " + filepath.ToSlash(w.Admin),
	} {
		if err := plainfile.Replace(path, []byte(text+"\n")); err != nil {
			return err
		}
	}
	g := git{dir: w.Path, admin: w.Admin, tree: w.Path}
	if _, err := g.write(ctx, "read-tree", "HEAD"); err != nil {
		return err
	}
	_, err := g.write(ctx, "update-index", "-q", "--refresh")
	var failed *failure
	if errors.As(err, &failed) {
		return nil // some differ
	}
	return err
}

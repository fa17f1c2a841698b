package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// Adopt makes what is checked out at path, which is whole but for its .git, a
// worktree of a branch without touching its files, so that git status tells what
// differs. A .git that leads to nothing any more is replaced; any other one is
// refused. When it fails the tree is as it was; what a crash leaves is cleared away
// by the next try.
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
	side := beside(path)
	if err := r.clear(path, side); err != nil {
		return w, fmt.Errorf("clearing away what was left of another try: %w", err)
	}
	if err := os.Mkdir(filepath.Dir(side), 0o700); err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, r.clear("", side)) }()
	if _, err := r.common().write(ctx, "worktree", "add", "--quiet", "--no-checkout", side, branch); err != nil {
		return w, err
	}
	if w, err = r.at(ctx, side, branch); err != nil {
		return Worktree{}, err
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

// beside is where a worktree is made that is to be that of the tree at path.
func beside(path string) string {
	base := filepath.Base(path)
	return filepath.Join(filepath.Dir(path), "."+base+".adopt", base)
}

// clear takes away what a worktree made beside has left: what git remembers of it,
// also when its own directory leads to the tree at path already, which has no .git
// then; "" is none. No files but its .git are removed.
func (r Repo) clear(path, side string) error {
	for _, tree := range []string{path, side} {
		if tree == "" {
			continue
		}
		admin, err := r.adminOf(tree)
		if err == nil && admin != "" {
			err = forget(admin)
		}
		if err != nil {
			return err
		}
	}
	for _, place := range []string{filepath.Join(side, gitFile), side, filepath.Dir(side)} {
		if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
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
	for _, link := range []struct{ path, text string }{
		{filepath.Join(w.Admin, gitdirFile), filepath.ToSlash(filepath.Join(w.Path, gitFile))},
		{filepath.Join(w.Path, gitFile), "gitdir: " + filepath.ToSlash(w.Admin)},
	} {
		if err := statefile.Replace(link.path, []byte(link.text+"\n")); err != nil {
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

// hasBranch makes sure that a branch is there: git would otherwise make one that
// follows a remote's of its name.
func (r Repo) hasBranch(ctx context.Context, branch string) error {
	if err := goodBranch(branch); err != nil {
		return err
	}
	_, err := r.common().read(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	var failed *failure
	if errors.As(err, &failed) {
		return fmt.Errorf("branch %s: %w", monitor.Clean(branch), ErrNoRef)
	}
	return err
}

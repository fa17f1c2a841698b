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

// mostNested is how many files and directories Nested looks at.
const mostNested = 200_000

// Nested are the directories below dir, and not dir itself, that have a .git of
// their own: worktrees and repositories, of which git status says nothing where
// they lie in what is ignored. Submodules that git knows are left out: Status looks
// at them. Links are not followed, other file systems not entered, and repositories
// not looked into. It may be any directory. With the error, which is about what
// could not be looked at or was too much, comes what was found.
func Nested(ctx context.Context, dir string) ([]string, error) {
	n := &nester{left: mostNested}
	err := n.tree(ctx, dir)
	if err == nil {
		err = n.problem
	}
	if err != nil {
		err = fmt.Errorf("looking for repositories in %s: %w", monitor.Clean(dir), err)
	}
	return n.found, err
}

// errTooMany is about a tree that is too large to look through.
var errTooMany = fmt.Errorf("there are more than %d files and directories in it, and not all were looked at", mostNested)

type nester struct {
	left    int // files and directories that may still be looked at
	found   []string
	problem error // the first
}

// tree looks through a directory, and through the submodules in it.
func (n *nester) tree(ctx context.Context, top string) error {
	system, err := systemOf(top)
	if err != nil {
		return err
	}
	// Without them all are told, which is what is careful.
	modules, _ := modulesOf(ctx, top)
	level := []string{top}
	for len(level) > 0 {
		dir := level[len(level)-1]
		level = level[:len(level)-1]
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && n.problem == nil {
			n.problem = err
		}
		if n.left -= len(entries); n.left < 0 {
			return errTooMany
		}
		for _, entry := range entries {
			if entry.Name() == gitFile && dir != top {
				n.found = append(n.found, dir)
			}
			if !entry.IsDir() || entry.Name() == gitFile {
				continue
			}
			path := filepath.Join(dir, entry.Name())
			if modules[path] {
				if err := n.tree(ctx, path); err != nil {
					return err
				}
				continue
			}
			in, err := systemOf(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				if n.problem == nil {
					n.problem = err
				}
			case in == system:
				level = append(level, path)
			}
		}
	}
	return nil
}

// modulesOf are the places of submodules of the tree at top whose repositories are
// where git keeps them.
func modulesOf(ctx context.Context, top string) (map[string]bool, error) {
	own, err := ownDir(top)
	if err != nil {
		return nil, err
	}
	g := git{dir: top, admin: own, tree: top}
	links, err := g.links(ctx)
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for _, link := range links {
		tree := filepath.Join(top, filepath.FromSlash(link))
		if _, err := g.moduleOf(tree); err == nil {
			modules[tree] = true
		}
	}
	return modules, nil
}

// ownDir is the own directory of whatever tree is at top.
func ownDir(top string) (string, error) {
	path := filepath.Join(top, gitFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return path, nil
	}
	return leadsTo(top)
}

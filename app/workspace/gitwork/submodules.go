package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Where a worktree's own directory keeps the repositories of submodules, also of
// those that are not checked out at the moment; gitrepository-layout(5).
const modulesDir = "modules"

const (
	mostModules = 1000 // repositories of submodules that are looked at
	modulesDeep = 8    // directories that a submodule's name may have, and submodules in submodules
)

// submodules are those that have work of their own: paths in the tree, or names
// of what is not checked out; present tells whether there are any submodules. All of a submodule's repository goes with the
// worktree, so a commit counts that is on no remote and no tag. A repository in
// the tree itself counts always: its settings are not trusted, so nobody asks it.
func (g git) submodules(ctx context.Context) (with []string, present bool, err error) {
	links, err := g.links(ctx)
	if err != nil {
		return nil, false, err
	}
	seen := map[string]bool{}
	for _, link := range links {
		tree := filepath.Join(g.tree, filepath.FromSlash(link))
		if _, err := os.Lstat(filepath.Join(tree, gitFile)); errors.Is(err, fs.ErrNotExist) {
			continue // none is checked out there
		}
		own, err := g.moduleOf(tree)
		if err != nil {
			with = append(with, link)
			continue
		}
		seen[own] = true
		work, err := git{dir: tree, admin: own, tree: tree}.work(ctx)
		if err != nil {
			return nil, true, fmt.Errorf("looking at the submodule %s: %w", monitor.Clean(link), err)
		}
		if work {
			with = append(with, link)
		}
	}
	kept, err := g.moduleWork(ctx, seen)
	with = append(with, kept...)
	slices.Sort(with)
	_, none := os.Lstat(filepath.Join(g.admin, modulesDir))
	return slices.Compact(with), len(links) > 0 || none == nil, err
}

// moduleWork are the names of the repositories of submodules, but for those that
// were seen, that have work of their own.
func (g git) moduleWork(ctx context.Context, seen map[string]bool) ([]string, error) {
	modules, err := g.modules()
	if err != nil {
		return nil, err
	}
	var with []string
	for _, own := range modules {
		if seen[own] {
			continue
		}
		unpushed, err := git{dir: own, admin: own}.unpushedAll(ctx)
		if err != nil {
			return nil, fmt.Errorf("looking at the submodule %s: %w", monitor.Clean(own), err)
		}
		if unpushed {
			name, _ := filepath.Rel(filepath.Join(g.admin, modulesDir), own)
			with = append(with, filepath.ToSlash(name))
		}
	}
	return with, nil
}

// links are the paths in the index that are submodules.
func (g git) links(ctx context.Context) ([]string, error) {
	out, err := g.read(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	return parseLinks(string(out)), nil
}

// parseLinks reads what `git ls-files --stage -z` prints: "mode object stage TAB
// path" each.
func parseLinks(text string) []string {
	var links []string
	for record := range strings.SplitSeq(text, "\x00") {
		if !strings.HasPrefix(record, "160000 ") {
			continue
		}
		if _, path, ok := strings.Cut(record, "\t"); ok && path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			links = append(links, path)
		}
	}
	return slices.Compact(links) // of one that is merged there are up to three stages
}

// moduleOf is the repository of the submodule at tree, where git keeps it. One
// elsewhere is an error.
func (g git) moduleOf(tree string) (string, error) {
	own, err := leadsTo(tree)
	if err != nil {
		return "", err
	}
	// Only what lies there is no more open to those who write to the tree than
	// the repository itself.
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return "", err
	}
	modules, err := filepath.EvalSymlinks(filepath.Join(g.admin, modulesDir))
	if err != nil {
		return "", err
	}
	if name, err := filepath.Rel(modules, own); err != nil || name == "." || !filepath.IsLocal(name) {
		return "", fmt.Errorf("its repository is not where git keeps it: %s", monitor.Clean(own))
	}
	return own, nil
}

// modules are the repositories that a worktree's own directory keeps, without
// those of submodules in submodules.
func (g git) modules() ([]string, error) {
	var found []string
	var walk func(dir string, deep int) error
	walk = func(dir string, deep int) error {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			path := filepath.Join(dir, entry.Name())
			if _, err := os.Lstat(filepath.Join(path, "HEAD")); err == nil {
				if found = append(found, path); len(found) > mostModules {
					return fmt.Errorf("there are more than %d submodules", mostModules)
				}
			} else if deep > 0 {
				if err := walk(path, deep-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(g.admin, modulesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = walk(dir, modulesDeep)
	return found, err
}

// work reports whether a submodule has anything that would be lost with it.
func (g git) work(ctx context.Context) (bool, error) {
	if busy(g.admin) != "" {
		return true, nil
	}
	filters, err := g.filters(ctx)
	if err != nil {
		return false, err
	}
	g.settings = filters
	if paths, _, err := g.uncommitted(ctx); err != nil || len(paths) > 0 {
		return err == nil, err
	}
	if unpushed, err := g.unpushed(ctx); err != nil || unpushed {
		return unpushed, err
	}
	inner, _, err := g.submodules(ctx)
	return len(inner) > 0, err
}

// unpushed reports whether a repository has commits that are on no remote and on
// no tag, on any branch or in its stash.
func (g git) unpushed(ctx context.Context) (bool, error) {
	var failed *failure
	if _, err := g.read(ctx, "rev-parse", "--verify", "--quiet", "refs/stash"); err == nil {
		return true, nil
	} else if !errors.As(err, &failed) {
		return false, err
	}
	tips := []string{"--branches"}
	if _, err := g.read(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		tips = append(tips, "HEAD")
	} else if !errors.As(err, &failed) {
		return false, err
	}
	args := append([]string{"rev-list", "-n", "1"}, tips...)
	out, err := g.read(ctx, append(args, "--not", "--remotes", "--tags")...)
	return len(out) > 0, err
}

// unpushedAll is unpushed, also of the submodules of a repository that is not
// checked out.
func (g git) unpushedAll(ctx context.Context) (bool, error) {
	unpushed, err := g.unpushed(ctx)
	if err != nil || unpushed {
		return unpushed, err
	}
	modules, err := g.modules()
	for _, own := range modules {
		if unpushed, err := (git{dir: own, admin: own}).unpushedAll(ctx); err != nil || unpushed {
			return unpushed, err
		}
	}
	return false, err
}

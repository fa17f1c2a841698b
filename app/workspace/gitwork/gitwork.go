// Package gitwork speaks to git, in its own program, about worktrees. What a
// repository's settings would run (hooks, monitors, pagers, external diffs) is
// switched off: a worktree that somebody else has written to is looked at here.
//
// It works with git 2.25 and newer. What it reads of git's own files is described
// in gitrepository-layout(5) and git-worktree(1).
//
// What counts as a loss, and what is removed, is decided in app/workspace.
package gitwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
)

// What may be wrong.
var (
	ErrNoGit  = errors.New("git is not installed, or not in the PATH")
	ErrNoRepo = errors.New("not in a git repository")
	ErrNoRef  = errors.New("the repository has no such commit, branch or tag")
)

// Repo is a repository. One with nothing but Common works for all that does not
// need Top. Its methods are safe for concurrent use.
type Repo struct {
	Common string // its common directory, absolute
	Top    string // of the working tree that was asked about; "" where it is bare
	Name   string // for people: of its main working tree

	wary bool
	held string
}

// Holding is the same repository, whose git holds the directory at dir as long as
// it lives, also when we are killed meanwhile: see AwaitGit.
func (r Repo) Holding(dir string) Repo {
	r.held = dir
	return r
}

// Wary is the same repository, of whose own settings nothing is run, not even the
// filters of file contents (filter.NAME.clean): it is for repositories that
// somebody has put there. Files that need such a filter may then seem changed.
// Filters of the user's own settings are run.
func (r Repo) Wary() Repo {
	r.wary = true
	return r
}

// Open finds the repository that dir is in. The error Is ErrNoRepo or ErrNoGit.
func Open(ctx context.Context, dir string) (Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, err
	}
	if info, err := os.Stat(dir); err != nil {
		return Repo{}, fmt.Errorf("looking for a git repository: %w", err)
	} else if !info.IsDir() {
		return Repo{}, fmt.Errorf("%s is a file, and %w", monitor.Clean(dir), ErrNoRepo)
	}
	ask := func(question string) (string, error) {
		out, err := git{dir: dir}.read(ctx, "rev-parse", question)
		return line(out), err
	}
	common, err := ask("--git-common-dir")
	var failed *failure
	if errors.As(err, &failed) && strings.Contains(failed.says, "not a git repository") {
		return Repo{}, fmt.Errorf("%s is %w", monitor.Clean(dir), ErrNoRepo)
	}
	if err != nil {
		return Repo{}, fmt.Errorf("looking for the repository of %s: %w", monitor.Clean(dir), err)
	}
	if common, err = settled(dir, common); err != nil {
		return Repo{}, err
	}
	r := Repo{Common: common, Name: nameOf(common)}
	inside, err := ask("--is-inside-work-tree")
	if err != nil {
		return Repo{}, fmt.Errorf("looking for the working tree of %s: %w", monitor.Clean(dir), err)
	}
	if inside != "true" {
		return r, nil
	}
	top, err := ask("--show-toplevel")
	if err != nil {
		return Repo{}, fmt.Errorf("looking for the working tree of %s: %w", monitor.Clean(dir), err)
	}
	r.Top, err = settled(dir, top)
	return r, err
}

// settled is a path as git tells it, seen from dir, absolute and without links.
func settled(dir, path string) (string, error) {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("looking for a git repository: %w", err)
	}
	return path, nil
}

// nameOf is what people call the repository with a common directory.
func nameOf(common string) string {
	base := filepath.Base(common)
	if base == ".git" {
		return filepath.Base(filepath.Dir(common))
	}
	if name := strings.TrimSuffix(base, ".git"); name != "" {
		return name
	}
	return base
}

// Resolve is the commit that a ref names; "" is what is checked out in Top. The
// error Is ErrNoRef. A ref that looks like an option is none.
func (r Repo) Resolve(ctx context.Context, ref string) (commit string, err error) {
	asked := ref
	if ref == "" {
		ref = "HEAD"
	}
	none := fmt.Errorf("%q: %w", monitor.Clean(asked), ErrNoRef)
	if asked == "" {
		none = fmt.Errorf("%s has no commit yet: %w", monitor.Clean(r.Name), ErrNoRef)
	}
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, "\x00\r\n") {
		return "", none
	}
	g := r.common()
	if r.Top != "" {
		g = git{dir: r.Top}
	}
	out, err := g.read(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	var failed *failure
	if errors.As(err, &failed) {
		return "", none
	}
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", monitor.Clean(ref), err)
	}
	if commit = line(out); !isHash(commit) { // "^HEAD" comes back with its sign
		return "", none
	}
	return commit, nil
}

// isHash tells a whole object name, of either kind.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// noHash is the object name that stands for none, where names are as long as that.
func noHash(like string) string { return strings.Repeat("0", len(like)) }

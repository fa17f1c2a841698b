package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// mostShown is how many paths and commits are told.
const mostShown = 20

// Status is what a worktree has that is nowhere else. Paths and subjects are as
// they are. The stash belongs to the repository and stays.
type Status struct {
	Uncommitted   []string // paths, changed, staged or untracked and not ignored; the first 20
	More          int
	Commits       []string // "1a2b3c4 subject": on HEAD, and on no other branch (than own), no tag and no remote; the first 20
	MoreCommits   int
	Merged        bool      // HEAD is on another branch, a tag or a remote
	Pushed        bool      // HEAD is on a remote
	Submodules    []string  // that have work of their own
	HasSubmodules bool      // some are, or were, checked out: git removes it only when forced
	Busy          string    // "rebase", "merge", "bisect", … is going on; "" none
	HeadAt        time.Time // of the last commit; zero when there is none
}

// Status looks at the worktree at path. admin is what its .git has to lead to:
// one that leads elsewhere is not trusted, and an error. With "" that is whatever
// worktree of this repository, or its main one.
func (r Repo) Status(ctx context.Context, path, admin string) (Status, error) {
	s, err := r.status(ctx, path, admin)
	if err != nil {
		return Status{}, fmt.Errorf("looking at the worktree %s: %w", monitor.Clean(path), err)
	}
	return s, nil
}

func (r Repo) status(ctx context.Context, path, admin string) (Status, error) {
	if !filepath.IsAbs(path) {
		return Status{}, errors.New("its path is not absolute")
	}
	own, err := r.adminFor(path)
	if err != nil {
		return Status{}, err
	}
	if admin != "" && !sameDir(own, admin) {
		return Status{}, fmt.Errorf("its .git leads to %s and not to %s: somebody has changed it", monitor.Clean(own), monitor.Clean(admin))
	}
	g := git{dir: path, admin: own, tree: path}
	if g.settings, err = r.filters(ctx, own); err != nil {
		return Status{}, err
	}
	s := Status{Busy: busy(own)}
	if s.Uncommitted, s.More, err = g.uncommitted(ctx); err != nil {
		return Status{}, err
	}
	if err := g.commits(ctx, &s); err != nil {
		return Status{}, err
	}
	if s.Submodules, s.HasSubmodules, err = g.submodules(ctx); err != nil {
		return Status{}, err
	}
	return s, nil
}

// adminFor is the own directory of the tree at path, which is verified: that of a
// worktree, or the common one of the main tree.
func (r Repo) adminFor(path string) (string, error) {
	info, err := os.Lstat(filepath.Join(path, gitFile))
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		if !sameDir(filepath.Join(path, gitFile), r.Common) {
			return "", errors.New("its .git is a repository of its own: somebody has changed it")
		}
		return r.Common, nil
	}
	admin, err := leadsTo(path)
	if err != nil {
		return "", err
	}
	if sameDir(admin, r.Common) { // of a submodule, or one with a separate directory
		return r.Common, nil
	}
	if err := r.verify(admin); err != nil {
		return "", err
	}
	tree, err := treeOf(admin)
	if err != nil {
		return "", err
	}
	if !samePlace(tree, path) {
		return "", fmt.Errorf("its .git leads to what belongs to %s; `git worktree repair` there mends what was moved", monitor.Clean(tree))
	}
	return filepath.Join(r.Common, worktreesDir, filepath.Base(admin)), nil
}

// uncommitted are the paths that differ from HEAD, and how many there are beyond
// the first ones. Submodules count here when another commit of theirs is checked
// out; what else they have is not looked at, because git would run what their
// settings say.
func (g git) uncommitted(ctx context.Context) (paths []string, more int, err error) {
	g, done, err := g.seeing(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	out, err := g.read(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, 0, err
	}
	paths = parseStatus(string(out))
	if over := len(paths) - mostShown; over > 0 {
		return paths[:mostShown:mostShown], over, nil
	}
	return paths, 0, nil
}

// parseStatus reads the paths of what `git status --porcelain=v2 -z` prints.
func parseStatus(text string) []string {
	var paths []string
	before := map[string]int{"1": 8, "2": 9, "u": 10, "?": 1} // fields before the path, by kind
	skip := false
	for record := range strings.SplitSeq(text, "\x00") {
		if skip { // the path that what was renamed had before
			skip = false
			continue
		}
		kind, _, _ := strings.Cut(record, " ")
		fields, known := before[kind]
		skip = kind == "2"
		if !known { // headers, and what is ignored
			continue
		}
		if parts := strings.SplitN(record, " ", fields+1); len(parts) == fields+1 && parts[fields] != "" {
			paths = append(paths, parts[fields])
		}
	}
	return paths
}

// Remembered is Status of a worktree whose tree has gone: what its repository
// remembers of it and of nothing else.
func (r Repo) Remembered(ctx context.Context, w Worktree) (Status, error) {
	s, err := r.remembered(ctx, w)
	if err != nil {
		return Status{}, fmt.Errorf("looking at what is left of the worktree %s: %w", monitor.Clean(w.Path), err)
	}
	return s, nil
}

func (r Repo) remembered(ctx context.Context, w Worktree) (Status, error) {
	if err := r.verify(w.Admin); err != nil {
		return Status{}, err
	}
	g := git{dir: w.Admin, admin: w.Admin}
	s := Status{Busy: busy(w.Admin)}
	if err := g.commits(ctx, &s); err != nil {
		return Status{}, err
	}
	var err error
	s.Submodules, err = g.moduleWork(ctx, nil)
	return s, err
}

// commits fills in what is told of commits.
func (g git) commits(ctx context.Context, s *Status) error {
	own, err := g.branch(ctx)
	if err != nil {
		return err
	}
	var failed *failure
	out, err := g.read(ctx, "rev-list", "-n", "1", "--format=%ct", "HEAD", "--")
	if errors.As(err, &failed) && own != "" {
		if _, err := g.read(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+own); errors.As(err, &failed) && failed.status == 1 {
			return nil // a branch without a commit
		}
	}
	if err != nil {
		return err
	}
	// A line "commit 1a2b3c…", and one of seconds.
	head, seconds, _ := strings.Cut(strings.TrimPrefix(line(out), "commit "), "\n")
	if at, err := strconv.ParseInt(seconds, 10, 64); err == nil {
		s.HeadAt = time.Unix(at, 0)
	}
	if !isHash(head) {
		return fmt.Errorf("git does not say what its HEAD is: %q", monitor.Clean(line(out)))
	}
	list := func(args ...string) (string, error) {
		out, err := g.read(ctx, append([]string{"rev-list"}, args...)...)
		return line(out), err
	}
	mine, err := list(append([]string{"--count", head}, elsewhere(own)...)...)
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(mine)
	if err != nil {
		return fmt.Errorf("git does not count its commits: %q", monitor.Clean(mine))
	}
	if s.Merged = count == 0; !s.Merged {
		text, err := list(append([]string{"--oneline", "-n", strconv.Itoa(mostShown), head}, elsewhere(own)...)...)
		if err != nil {
			return err
		}
		s.Commits = strings.Split(text, "\n")
		s.MoreCommits = count - len(s.Commits)
	}
	missing, err := list("-n", "1", head, "--not", "--remotes")
	s.Pushed = missing == "" && err == nil
	return err
}

// branch is the branch that HEAD is on, "" when it is detached.
func (g git) branch(ctx context.Context) (string, error) {
	out, err := g.read(ctx, "symbolic-ref", "--quiet", "HEAD")
	var failed *failure
	if errors.As(err, &failed) && failed.status == 1 {
		return "", nil
	}
	return strings.TrimPrefix(line(out), "refs/heads/"), err
}

// busy is what is going on in a worktree, from its own directory: the files are
// those that `git status` looks at.
func busy(admin string) string {
	for _, sign := range []struct{ file, what string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
		{"sequencer", "cherry-pick or revert"},
	} {
		if _, err := os.Lstat(filepath.Join(admin, filepath.FromSlash(sign.file))); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return sign.what
		}
	}
	return ""
}

// filters are settings that switch off the filters of the repository's own
// settings, where it is a wary one.
func (r Repo) filters(ctx context.Context, admin string) ([]string, error) {
	if !r.wary {
		return nil, nil
	}
	return git{dir: r.Common, admin: admin}.filters(ctx)
}

// filters are settings that switch off what the repository's own settings say
// that is to be run on file contents, gitattributes(5). All settings are read at
// once, as git itself reads them: whether a file is included may hang on what
// another one says.
func (g git) filters(ctx context.Context) ([]string, error) {
	if err := statefile.Check(filepath.Join(g.admin, "config.worktree")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading its settings: %w", err)
	}
	var failed *failure
	scoped := true
	ask := []string{"config", "--includes", "-z", "--name-only", "--get-regexp", `^filter\.`}
	out, err := g.read(ctx, slices.Insert(slices.Clone(ask), 1, "--show-scope")...)
	if errors.As(err, &failed) && failed.status == 129 { // wrong usage: git before 2.26
		scoped = false
		out, err = g.read(ctx, ask...)
	}
	if errors.As(err, &failed) && failed.status == 1 {
		return nil, nil // there are none
	}
	if err != nil {
		return nil, fmt.Errorf("reading its settings: %w", err)
	}
	names, err := parseFilters(string(out), scoped)
	if err != nil {
		return nil, err
	}
	var settings []string
	for _, name := range names {
		for _, off := range []string{"clean=", "smudge=", "process=", "required=false"} {
			settings = append(settings, "filter."+name+"."+off)
		}
	}
	return settings, nil
}

// parseFilters reads the names of filters of what `git config -z --name-only`
// prints. With scopes those of the user's and the system's own settings are left
// out.
func parseFilters(text string, scoped bool) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var names []string
	fields := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	for len(fields) > 0 {
		scope := ""
		if scoped {
			scope, fields = fields[0], fields[1:]
		}
		if len(fields) == 0 {
			return nil, errors.New("its settings cannot be read: git says where one is, and not which")
		}
		name, is := strings.CutPrefix(fields[0], "filter.")
		fields = fields[1:]
		dot := strings.LastIndexByte(name, '.')
		if !is || dot < 0 || scope == "global" || scope == "system" {
			continue
		}
		// A name with these could not be named on a command line.
		if name = name[:dot]; strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("its settings have a filter with the odd name %q, which is not trusted", monitor.Clean(name))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

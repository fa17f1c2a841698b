package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/monitor"
)

// The bounds of looking for repositories.
const (
	scanDepth    = 8       // directories below one that was named
	placeDepth   = 4       // below a place where assistants leave worktrees
	scanMost     = 200_000 // directories, in all that was named
	placeMost    = 20_000  // in all those places
	mostProblems = 50      // are told
)

// usualPlaces are where assistants leave worktrees that are of no repository
// nearby: in the home directory, and where temporary files are.
func usualPlaces() []string {
	places := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		places = append(places, "/tmp", "/var/tmp")
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range []string{".claude/worktrees", ".codex", ".cursor"} {
			places = append(places, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	return places
}

// finder finds repositories.
type finder struct {
	repos    map[string]gitwork.Repo // by their common directories
	loose    map[string]string       // trees whose .git leads to what is not there, and that
	problems []string
	more     int // problems that are not told
	tell     func(at string)
}

// problem notes what could not be looked at.
func (f *finder) problem(format string, args ...any) {
	if len(f.problems) == mostProblems {
		f.more++
		return
	}
	f.problems = append(f.problems, monitor.Clean(fmt.Sprintf(format, args...)))
}

// said are the problems to tell.
func (f *finder) said() []string {
	if f.more > 0 {
		return append(slices.Clone(f.problems), fmt.Sprintf("and %d more like these", f.more))
	}
	return append([]string{}, f.problems...)
}

// commons are the common directories of what was found, sorted.
func (f *finder) commons() []string { return slices.Sorted(maps.Keys(f.repos)) }

// find finds the repositories in and below dirs, and those that these belong to.
// In places it finds trees that repositories have forgotten. The error tells that
// nothing can be found; it Is ErrBadRequest when none of dirs can be looked at.
func (f *finder) find(ctx context.Context, dirs, places []string) error {
	f.loose = map[string]string{}
	left := scanMost
	none := true
	for _, dir := range dirs {
		path, err := resolved(dir)
		if err != nil {
			f.problem("%v", err)
			continue
		}
		none = false
		if err := f.open(ctx, path); err != nil {
			return err
		}
		if err := f.walk(ctx, path, scanDepth, &left); err != nil {
			return err
		}
	}
	if none {
		return fmt.Errorf("%w: there is no directory to look through: %s", ErrBadRequest, strings.Join(f.said(), "; "))
	}
	if left <= 0 {
		f.problem("there are more than %d directories; name those to scan more closely", scanMost)
	}
	left = placeMost
	seen := map[string]bool{}
	elsewhere := &finder{repos: f.repos, loose: map[string]string{}, tell: f.tell}
	for _, place := range places {
		path, err := resolved(place)
		if err != nil || seen[path] {
			continue // there need not be any
		}
		seen[path] = true
		if err := elsewhere.walkLoose(ctx, path, &left); err != nil {
			return err
		}
	}
	for path, to := range elsewhere.loose {
		if _, known := f.repos[commonOf(to)]; known { // others may belong to anybody
			f.loose[path] = to
		}
	}
	return nil
}

// resolved is the absolute path of a directory, without links.
func resolved(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", monitor.Clean(dir))
	}
	return path, nil
}

// open notes the repository that a directory is in. The error tells that there is
// no point in going on.
func (f *finder) open(ctx context.Context, dir string) error {
	repo, err := gitwork.Open(ctx, dir)
	switch {
	case err == nil:
		if _, known := f.repos[repo.Common]; !known {
			f.repos[repo.Common] = repo.Wary() // whoever put it there
		}
	case errors.Is(err, gitwork.ErrNoGit), ctx.Err() != nil:
		return err
	case !errors.Is(err, gitwork.ErrNoRepo):
		f.problem("%v", err)
	}
	return nil
}

// walk looks through dir and what is below it, level by level, so that what is
// near is found where there is too much. It follows no links.
func (f *finder) walk(ctx context.Context, dir string, depth int, left *int) error {
	return eachDir(ctx, dir, depth, left, f.problem, func(path string, entries []fs.DirEntry) error {
		f.tell(path)
		switch {
		case has(entries, ".git"):
			to, err := gitwork.Leads(path)
			if err == nil {
				if _, known := f.repos[commonOf(to)]; known && isDir(to) {
					return nil // its repository tells of it
				}
				if !isDir(to) {
					f.loose[path] = to
					return nil
				}
			}
		case has(entries, "HEAD") && has(entries, "objects") && has(entries, "refs"): // a bare one
		default:
			return nil
		}
		return f.open(ctx, path)
	})
}

// walkLoose notes the trees below dir whose .git leads to what is not there.
func (f *finder) walkLoose(ctx context.Context, dir string, left *int) error {
	quiet := func(string, ...any) {} // much of what is in such places is not ours to read
	return eachDir(ctx, dir, placeDepth, left, quiet, func(path string, entries []fs.DirEntry) error {
		f.tell(path)
		if !has(entries, ".git") {
			return nil
		}
		if to, err := gitwork.Leads(path); err == nil && !isDir(to) {
			f.loose[path] = to
		}
		return nil
	})
}

// eachDir calls do with dir and the directories below it as deep as depth, level by
// level, until left comes to 0.
func eachDir(ctx context.Context, dir string, depth int, left *int, problem func(string, ...any), do func(string, []fs.DirEntry) error) error {
	level := []string{dir}
	for ; depth >= 0 && len(level) > 0; depth-- {
		var next []string
		for _, path := range level {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if *left--; *left < 0 {
				return nil
			}
			entries, err := os.ReadDir(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				problem("%v", err)
			}
			if err := do(path, entries); err != nil {
				return err
			}
			for _, entry := range entries {
				if entry.IsDir() && !dull(path, entry.Name()) {
					next = append(next, filepath.Join(path, entry.Name()))
				}
			}
		}
		level = next
	}
	return nil
}

// dull tells of a directory in which nobody has repositories, and that may be large.
func dull(parent, name string) bool {
	switch name {
	case ".git", "node_modules", "__pycache__":
		return true
	case "proc", "sys", "dev":
		return parent == "/"
	}
	return false
}

func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// commonOf is the common directory of the repository that a worktree's own
// directory is in, and "" when that is not a worktree's; gitrepository-layout(5).
func commonOf(admin string) string {
	if filepath.Base(filepath.Dir(admin)) != "worktrees" {
		return ""
	}
	return filepath.Dir(filepath.Dir(admin))
}

// forgotten are trees whose repository does not know them any more. One whose
// repository has gone itself is a problem.
func (f *finder) forgotten() []Stale {
	var found []Stale
	for _, path := range slices.Sorted(maps.Keys(f.loose)) {
		to := f.loose[path]
		repo, known := f.repos[commonOf(to)]
		if !known {
			f.problem("%s belongs to a repository that has gone: %s", path, to)
			continue
		}
		s := Stale{
			Path: path, Repository: repo.Common, Project: monitor.Clean(repo.Name), MadeBy: madeBy(path, ""), InUse: []User{},
			Loss: Loss{Uncommitted: []string{}, Commits: []string{}, Submodules: []string{}, Unknown: "git has forgotten this worktree"},
			Why:  "git has forgotten this worktree, so nobody can tell what is in it that is nowhere else; look at it, and remove it by hand",
		}
		s.Loss.Words = lossWords(s.Loss, "")
		found = append(found, s)
	}
	return found
}

// knows finds the worktree at a path in a list.
func knows(list []gitwork.Worktree, path string) (gitwork.Worktree, bool) {
	for _, w := range list {
		if w.Path == path || sameFile(w.Path, path) {
			return w, true
		}
	}
	return gitwork.Worktree{}, false
}

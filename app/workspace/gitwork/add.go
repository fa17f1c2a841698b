package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// undoTime is for taking back what a failed Add has made.
const undoTime = time.Minute

// Add makes a worktree at path, which is not there or empty, with a new branch at
// commit. progress is told files and their total. When it fails nothing is left of it.
func (r Repo) Add(ctx context.Context, path, branch, commit string, progress func(files, total int64)) (Worktree, error) {
	doing := "making a worktree at " + monitor.Clean(path)
	if err := goodBranch(branch); err != nil {
		return Worktree{}, fmt.Errorf("%s: %w", doing, err)
	}
	if !isHash(commit) {
		return Worktree{}, fmt.Errorf("%s: %q is not the whole name of a commit: %w", doing, monitor.Clean(commit), ErrNoRef)
	}
	if err := freePlace(path); err != nil {
		return Worktree{}, fmt.Errorf("%s: %w", doing, err)
	}
	if ctx.Err() != nil {
		return Worktree{}, fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	// The branch is made first, by itself and to the end: so that it is known to be
	// ours when it has to go again, whoever makes one of its name at the same time.
	ref := "refs/heads/" + branch
	if err := r.mend(ctx, "update-ref", "-m", "lamplighter: new workspace", ref, commit, noHash(commit)); err != nil {
		return Worktree{}, fmt.Errorf("%s: making the branch %s: %w", doing, monitor.Clean(branch), err)
	}
	w, err := r.add(ctx, path, branch, progress)
	if err != nil {
		err = fmt.Errorf("%s: %w", doing, err)
		if left := r.mend(ctx, "update-ref", "-d", ref, commit); left != nil {
			err = errors.Join(err, fmt.Errorf("removing the branch %s again: %w", monitor.Clean(branch), left))
		}
		return Worktree{}, err
	}
	return w, nil
}

// mend has git change something small also when ctx has ended.
func (r Repo) mend(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	_, err := r.common().write(ctx, args...)
	return err
}

// add makes a worktree of a branch at a place that is free, and takes it back
// when that fails.
func (r Repo) add(ctx context.Context, path, branch string, progress func(files, total int64)) (Worktree, error) {
	if taken, err := r.adminOf(path); err != nil {
		return Worktree{}, err
	} else if taken != "" {
		return Worktree{}, errors.New("git remembers another worktree there that has gone; `git worktree prune` makes it forget that")
	}
	_, err := os.Lstat(path)
	place := made{repo: r, path: path, there: err == nil}
	if _, err := r.common().write(ctx, "worktree", "add", "--quiet", "--no-checkout", path, branch); err != nil {
		return Worktree{}, errors.Join(err, place.undo(false))
	}
	w, err := r.at(ctx, path, branch)
	if err == nil {
		err = r.checkout(ctx, w, progress)
	}
	if err != nil {
		return Worktree{}, errors.Join(err, place.undo(true))
	}
	return w, nil
}

// at is the worktree that was made at path.
func (r Repo) at(ctx context.Context, path, branch string) (Worktree, error) {
	admin, err := leadsTo(path)
	if err != nil {
		return Worktree{}, fmt.Errorf("looking at the new worktree: %w", err)
	}
	if err := r.verify(admin); err != nil {
		return Worktree{}, err
	}
	head, err := r.common().read(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	if err != nil {
		return Worktree{}, fmt.Errorf("looking at the new worktree: %w", err)
	}
	admin = filepath.Join(r.Common, worktreesDir, filepath.Base(admin))
	return Worktree{Path: path, Admin: admin, Head: line(head), Branch: branch}, nil
}

// mostWriters bounds how many files are written at once: more do not make it
// faster.
const mostWriters = 8

// checkout writes the files of a worktree that has none. What `git worktree add`
// does itself is the same, with one writer and without a word.
func (r Repo) checkout(ctx context.Context, w Worktree, progress func(files, total int64)) error {
	g := git{dir: w.Path, admin: w.Admin, tree: w.Path, held: r.held}
	g.settings = []string{"checkout.workers=" + strconv.Itoa(min(runtime.NumCPU(), mostWriters))}
	c := call{args: []string{"read-tree", "--reset", "-u", "HEAD"}}
	if progress != nil {
		c.args = []string{"read-tree", "--reset", "-u", "-v", "HEAD"}
		c.env = []string{"GIT_PROGRESS_DELAY=0"}
		c.hear = func(text string) {
			if files, total, ok := updated(text); ok {
				progress(files, total)
			}
		}
	}
	if _, err := g.run(ctx, c); err != nil {
		return fmt.Errorf("checking out its files: %w", err)
	}
	return nil
}

// updated reads a line of git's progress, "Updating files:  12% (6000/50000)" with
// ", done." at the end.
func updated(text string) (files, total int64, ok bool) {
	text, ok = strings.CutPrefix(text, "Updating files:")
	if !ok {
		return 0, 0, false
	}
	_, text, _ = strings.Cut(text, "(")
	text, _, ok = strings.Cut(text, ")")
	if !ok {
		return 0, 0, false
	}
	done, all, _ := strings.Cut(text, "/")
	files, errFiles := strconv.ParseInt(done, 10, 64)
	total, errTotal := strconv.ParseInt(all, 10, 64)
	if errFiles != nil || errTotal != nil || files < 0 || total < files {
		return 0, 0, false
	}
	return files, total, true
}

// made is a place at which a worktree was begun.
type made struct {
	repo  Repo
	path  string
	there bool // its directory was, empty
}

// undo takes back what is at the place. All files there are git's only after it
// has said that it made a worktree there.
func (m made) undo(all bool) error {
	admin, err := m.repo.adminOf(m.path)
	if err != nil {
		return err
	}
	if !all && admin == "" {
		m.empty() // git has taken it back itself, or has refused
		return nil
	}
	if !all {
		err = os.Remove(filepath.Join(m.path, gitFile))
	} else if err = os.RemoveAll(m.path); err == nil && m.there {
		err = os.Mkdir(m.path, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what was made again: %w", err)
	}
	if admin != "" {
		if err := forget(admin); err != nil {
			return err
		}
	}
	m.empty()
	return nil
}

// empty removes the directory where it was not there before. One with something
// in it is somebody else's.
func (m made) empty() {
	if !m.there {
		_ = os.Remove(m.path)
	}
}

// freePlace makes sure that path is absolute, and that nothing is there.
func freePlace(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", monitor.Clean(path))
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("something is there that is no directory: %w", fs.ErrExist)
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if names, _ := dir.Readdirnames(1); len(names) > 0 {
		return fmt.Errorf("the directory is not empty: %w", fs.ErrExist)
	}
	return nil
}

// goodBranch refuses names that git would take for something else than a branch.
// What else no branch may be called git says itself, see git-check-ref-format(1).
func goodBranch(branch string) error {
	if branch == "" || strings.HasPrefix(branch, "-") || branch == "HEAD" || branch == "@" ||
		strings.ContainsAny(branch, "\x00\r\n\\*?[^~: ") || strings.Contains(branch, "@{") || strings.Contains(branch, "..") {
		return fmt.Errorf("%q cannot be the name of a branch", monitor.Clean(branch))
	}
	return nil
}

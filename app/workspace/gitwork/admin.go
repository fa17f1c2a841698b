package gitwork

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// Files of a worktree's own directory, and of its tree; gitrepository-layout(5).
const (
	worktreesDir  = "worktrees"
	gitdirFile    = "gitdir"    // names the .git of its tree
	commondirFile = "commondir" // names the common directory
	lockedFile    = "locked"    // says why it is locked
	gitFile       = ".git"      // leads from a tree to its own directory
)

// smallFile bounds what is read of such a file.
const smallFile = 64 << 10

// errAdmin is about a directory that is not a worktree's own of this repository.
var errAdmin = errors.New("it is not a worktree of this repository")

// isAdmin makes sure that dir is a worktree's own directory in this repository:
// one below "worktrees", and no link.
func (r Repo) isAdmin(dir string) error {
	dir = filepath.Clean(dir)
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: %w", monitor.Clean(dir), errAdmin)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("looking at a worktree: %w", err)
	}
	if !info.IsDir() || !sameDir(filepath.Dir(dir), filepath.Join(r.Common, worktreesDir)) {
		return fmt.Errorf("%s: %w", monitor.Clean(dir), errAdmin)
	}
	return nil
}

// verify makes sure of a worktree's own directory as isAdmin does, and that git
// would take it to this repository.
func (r Repo) verify(dir string) error {
	if err := r.isAdmin(dir); err != nil {
		return err
	}
	text, err := small(filepath.Join(dir, commondirFile))
	if err != nil {
		return fmt.Errorf("looking at a worktree: %w", err)
	}
	if !sameDir(from(dir, text), r.Common) {
		return fmt.Errorf("%s: %w", monitor.Clean(dir), errAdmin)
	}
	return nil
}

// treeOf is the path of the tree whose own directory dir is, which may be gone.
// Of a directory without that file the error Is fs.ErrNotExist.
func treeOf(dir string) (string, error) {
	text, err := small(filepath.Join(dir, gitdirFile))
	if err != nil {
		return "", err
	}
	if path := from(dir, text); filepath.Base(path) == gitFile {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("%s: %w", monitor.Clean(dir), errAdmin)
}

// Leads is the directory that the .git file of the tree at path names, which may
// be gone. Where there is no .git the error Is fs.ErrNotExist; where it is no file
// it is another one.
func Leads(path string) (string, error) { return leadsTo(path) }

// leadsTo is the directory that the .git file of a tree names.
func leadsTo(tree string) (string, error) {
	text, err := small(filepath.Join(tree, gitFile))
	if err != nil {
		return "", err
	}
	text, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok || text == "" {
		return "", fmt.Errorf("%s leads to no repository", monitor.Clean(filepath.Join(tree, gitFile)))
	}
	return from(tree, text), nil
}

// admins are the own directories of trees, by the last name of the tree's path.
type admins map[string][]owned

// owned is a tree with its own directory.
type owned struct{ dir, tree string }

// admins reads them all.
func (r Repo) admins() (admins, error) {
	entries, err := os.ReadDir(filepath.Join(r.Common, worktreesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the worktrees of a repository: %w", err)
	}
	all := admins{}
	for _, entry := range entries {
		dir := filepath.Join(r.Common, worktreesDir, entry.Name())
		if tree, err := treeOf(dir); err == nil {
			name := filepath.Base(tree)
			all[name] = append(all[name], owned{dir, tree})
		}
	}
	return all, nil
}

// of finds that of the tree at path, which may be gone: "" when there is none.
func (a admins) of(path string) string {
	path = filepath.Clean(path)
	for _, one := range a[filepath.Base(path)] { // else it is another place, see samePlace
		if samePlace(one.tree, path) {
			return one.dir
		}
	}
	return ""
}

// adminOf finds the own directory of the tree at path, as admins.of does.
func (r Repo) adminOf(path string) (string, error) {
	all, err := r.admins()
	return all.of(path), err
}

// locked says whether a worktree is locked, and why.
func locked(admin string) (why string, is bool) {
	path := filepath.Join(admin, lockedFile)
	if _, err := os.Lstat(path); err != nil {
		return "", false
	}
	why, _ = small(path) // it is locked whatever is in there
	return strings.TrimSpace(why), true
}

// small reads a file of one line. A path may have line ends of its own.
func small(path string) (string, error) {
	data, err := statefile.Read(path, smallFile)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// from is a path in a file of git's, seen from a directory.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// sameDir reports whether two paths lead to one directory that is there.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.IsDir() && os.SameFile(infoA, infoB)
}

// samePlace reports whether two paths are of one place, where nothing need be.
func samePlace(a, b string) bool {
	a, b = filepath.Clean(a), filepath.Clean(b)
	return a == b || filepath.Base(a) == filepath.Base(b) && sameDir(filepath.Dir(a), filepath.Dir(b))
}

package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownName is that of directories that are Lamplighter's by it.
const ownName = "lamplighter"

const (
	workspacesName = "workspaces" // in the state directory
	settingsName   = "config.yaml"
)

// whole reports whether a directory is Lamplighter's by its name and by where it is,
// so that all of our names in it may go, whatever is in them. One that the user chose, that is a link, that
// is above something else, or that is a working copy is not.
func (i *Installer) whole(path string) bool {
	if filepath.Base(path) != ownName || path == i.o.StateDir && i.o.Getenv("LAMPLIGHTER_STATE_DIR") != "" {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
		return false
	}
	for _, other := range []string{i.o.Home, i.o.ConfigHome, i.o.DataHome, i.o.LocalApps} {
		if within(other, path) {
			return false
		}
	}
	return true
}

// within reports whether path is dir or below it. Nothing is below no directory.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// removeTree removes a directory, or of it what may go. Its own files, of which the
// lock is held, stay until the end.
func (i *Installer) removeTree(tr tree) error {
	if !filepath.IsAbs(tr.Path) {
		return fmt.Errorf("%s is not a whole path and stays", shown(tr.Path))
	}
	entries, err := os.ReadDir(tr.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failure("the directory cannot be read:", tr.Path, err)
	}
	var failed error
	going := i.going(tr, entries)
	for _, path := range going {
		failed = errors.Join(failed, removeAll(path))
	}
	if failed != nil {
		return failed
	}
	if tr.Known {
		removeDirs(ownedDirs(tr.Path, going))
	}
	if filepath.Base(tr.Path) == ownName {
		removeEmpty(tr.Path)
	}
	return nil
}

// going are the paths that go of a tree with these entries.
func (i *Installer) going(tr tree, entries []fs.DirEntry) []string {
	stays := func(name string) bool {
		switch {
		case tr.Path == i.o.StateDir && (name == lockName || name == journalName):
			return true
		case name == workspacesName && slices.Contains(tr.Keep, name):
			return holdsWork(filepath.Join(tr.Path, name))
		}
		return slices.Contains(tr.Keep, name)
	}
	var list []string
	if tr.Known || !i.whole(tr.Path) {
		for _, path := range ownedIn(tr.Path) {
			rel, err := filepath.Rel(tr.Path, path)
			if top, _, _ := strings.Cut(rel, string(filepath.Separator)); err == nil && !stays(top) {
				list = append(list, path)
			}
		}
		return list
	}
	known := ownedNames()
	for _, e := range entries {
		if !stays(e.Name()) && known(e.Name()) {
			list = append(list, filepath.Join(tr.Path, e.Name()))
		}
	}
	return list
}

// holdsWork reports whether the directory of workspaces has more in it than what keeps
// order there, also when that cannot be told.
func holdsWork(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "locks" {
			continue
		}
		if inside, err := os.ReadDir(filepath.Join(dir, e.Name())); err != nil || len(inside) > 0 {
			return true
		}
	}
	return false
}

// removeAll removes a directory with all in it, also where directories in it are not to
// be written. Links are removed and not followed.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if errors.Is(err, fs.ErrPermission) {
		_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				_ = os.Chmod(path, 0o700) // what cannot be changed fails below
			}
			return nil
		})
		err = os.RemoveAll(path)
	}
	return failure("it cannot be removed:", path, err)
}

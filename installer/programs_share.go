package installer

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// paths notes that a terminal finds another program. Where it finds none, there is
// more to say than a plan knows.
func (w *wanted) paths(dir, program string) {
	path := w.i.o.Getenv("PATH")
	if path == "" || w.i.o.OS == "windows" {
		return
	}
	for _, d := range filepath.SplitList(path) {
		if filepath.Clean(d) == dir {
			return
		}
		if other := filepath.Join(d, w.i.exe(mainName)); filepath.IsAbs(d) && isRegular(other) && !sameFile(other, program) && !sameFile(d, dir) {
			w.plan.note(fmt.Sprintf("Another one comes first in PATH: %s. That is what lamplighter means in a terminal.", shown(other)))
			return
		}
		if sameFile(d, dir) {
			return
		}
	}
}

// share plans to have what an unpacked archive brings besides programs: man
// pages, completions, icons.
func (w *wanted) share(program string) error {
	from := filepath.Join(filepath.Dir(filepath.Dir(program)), "share")
	to := w.i.o.DataHome
	if to == "" || readMark(filepath.Join(from, ownName, "package")) != archiveWord {
		return nil
	}
	w.archive = true
	if sameFile(from, to) { // unpacked where it stays
		if sum, err := digestFile(filepath.Join(to, "applications", "lamplighter.desktop")); err == nil {
			w.known[sum] = true
		}
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return failure("the archive cannot be read:", path, err)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && rel == "applications":
			return fs.SkipDir
		case !e.Type().IsRegular() || !strings.Contains(rel, ownName):
			return nil // an archive may be unpacked where others are, too
		case rel == filepath.Join(ownName, "package") && !sameFile(from, to):
			return nil
		}
		w.file(Change{Op: OpCopy, From: path, Path: filepath.Join(to, rel)})
		return nil
	})
}

// icon plans to have the picture of the menu entry, which an archive brings itself.
func (w *wanted) icon() {
	path := filepath.Join(w.i.o.DataHome, "icons", "hicolor", "scalable", "apps", "lamplighter.svg")
	if len(w.i.o.Icon) > 0 && !slices.ContainsFunc(w.files, func(f InstalledFile) bool { return f.Path == path }) {
		w.file(Change{Op: OpWrite, Path: path, Content: w.i.o.Icon, Why: "its icon"})
	}
}

// startedFrom are the directories of programs that start at login names as it is.
func (w *wanted) startedFrom() []string {
	var dirs []string
	list, socket := w.i.startAtLogin().entries()
	if socket != nil {
		list = append(list, *socket)
	}
	for _, e := range list {
		if e.Ours && e.Program != "" {
			dirs = append(dirs, filepath.Dir(e.Program))
		}
	}
	return dirs
}

// obsolete plans to remove what an older version has brought and this one has
// not.
func (w *wanted) obsolete(o InstallOptions) {
	if w.old == nil {
		return
	}
	var started []string
	if o.NoLogin { // else what starts at login is changed as well
		started = w.startedFrom()
	}
	var gone []Change
	for _, f := range w.old.Files {
		if w.i.startsAtLogin(f.Path) || !f.lies() ||
			slices.ContainsFunc(w.files, func(g InstalledFile) bool { return f.Path == g.Path || sameFile(f.Path, g.Path) }) {
			continue
		}
		// The program alone, as it was installed, does not know its man pages.
		if !w.archive && within(f.Path, w.i.o.DataHome) && !within(f.Path, w.i.binDir()) {
			w.files = append(w.files, f)
			continue
		}
		if slices.ContainsFunc(started, func(dir string) bool { return sameFile(dir, filepath.Dir(f.Path)) }) {
			w.plan.note(fmt.Sprintf("%s stays: it is what starts at login. Without --no-login this one does.", shown(f.Path)))
			w.files = append(w.files, f)
			continue
		}
		gone = append(gone, Change{Op: OpRemove, Path: f.Path, Why: "of an older version"})
	}
	slices.Reverse(gone)
	w.plan.Changes = append(w.plan.Changes, gone...)
}

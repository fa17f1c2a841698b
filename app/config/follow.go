package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// maxLinks bounds the symbolic links on the way to the file.
const maxLinks = 40

// route tells in which directories something can happen that changes what path,
// which is absolute, leads to, and the names in each that matter: the directory
// of the file, those that hold a symbolic link on the way, and where the way
// ends early, the last directory that exists.
func route(path string) map[string][]string {
	places := make(map[string][]string)
	note := func(dir, name string) {
		if !slices.Contains(places[dir], name) {
			places[dir] = append(places[dir], name)
		}
	}
	links := 0
	root := filepath.VolumeName(path) + string(filepath.Separator)
	dir, todo := root, parts(path)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if name == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		here := filepath.Join(dir, name)
		target, linked, err := link(here)
		switch {
		case err != nil:
			note(dir, name)
			return places
		case linked:
			note(dir, name)
			if links++; links > maxLinks {
				return places
			}
			if filepath.IsAbs(target) {
				dir = filepath.VolumeName(target) + string(filepath.Separator)
			}
			todo = append(parts(target), todo...)
		case len(todo) == 0:
			note(dir, name)
		default:
			info, err := os.Stat(here)
			if err != nil || !info.IsDir() {
				note(dir, name)
				return places
			}
			dir = here
		}
	}
	return places
}

// link reads a symbolic link, or on Windows a junction. What cannot be read as
// one is none.
func link(path string) (target string, linked bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return "", false, err
	}
	target, err = os.Readlink(path)
	return target, err == nil, nil
}

// parts are the names in a path, without its volume.
func parts(path string) []string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// lookouts are the places of route, and on Windows their parents: there a
// directory that is watched does not always tell that it was renamed or removed.
func lookouts(path string) map[string][]string {
	places := route(path)
	if runtime.GOOS != "windows" {
		return places
	}
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		parent, name := filepath.Dir(dir), filepath.Base(dir)
		if parent != dir && !slices.Contains(places[parent], name) {
			places[parent] = append(places[parent], name)
		}
	}
	return places
}

// watching is one watcher and where it looks, which is not changed once it is
// made: on Windows the library may close a handle of somebody else's when a
// directory is taken from a watcher just as it goes.
type watching struct {
	notify *fsnotify.Watcher
	news   *inbox
	places map[string][]string // as of lookouts
	stale  bool                // one of the places has gone or moved, or something was missed
}

// watch watches the places on the route of path. It repeats until the route has
// not changed meanwhile, so that nothing that happens from now on is missed. A
// directory that must not be read cannot be watched; that is an error when
// there is no other.
func watch(path string) (*watching, error) {
	const attempts = 10
	for n := 1; ; n++ {
		w, err := open(lookouts(path))
		if err != nil || n == attempts || !w.stale && w.leads(path) {
			return w, err
		}
		w.close()
	}
}

// open watches those places that are there.
func open(places map[string][]string) (*watching, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watching{notify: notify, news: newInbox(notify), places: places}
	watched := 0
	var refusal error
	for dir := range places {
		switch err := notify.Add(dir); {
		case err == nil:
			watched++
		case errors.Is(err, fs.ErrNotExist): // it has gone meanwhile
			w.stale = true
		case errors.Is(err, fs.ErrPermission):
			refusal = err
		default:
			w.close()
			return nil, err
		}
	}
	if watched == 0 && refusal != nil {
		w.close()
		return nil, refusal
	}
	return w, nil
}

func (w *watching) close() {
	_ = w.notify.Close() // nothing of it is used any more
	<-w.news.emptied
}

// leads reports whether the places are still those on the route of path.
func (w *watching) leads(path string) bool {
	return maps.EqualFunc(lookouts(path), w.places, slices.Equal)
}

// heed reports whether an event may have changed what the route leads to. A
// directory that has gone or moved is watched no more: what is there now is
// another.
func (w *watching) heed(event fsnotify.Event) bool {
	dir, name := filepath.Split(event.Name)
	dir = filepath.Clean(dir)
	_, place := w.places[event.Name]
	names, within := w.places[dir]
	gone := event.Has(fsnotify.Remove | fsnotify.Rename)
	switch {
	case place:
		w.stale = w.stale || gone || event.Has(fsnotify.Create)
		return true
	case within:
		// Some systems do not regard case.
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	case gone && event.Name != "":
		// A directory known by the name it had before: which of those known
		// now is the same one, nobody can tell.
		w.stale = true
		return true
	}
	return false
}

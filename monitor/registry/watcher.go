package registry

import (
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// watcher hears of changes to the registry. The directory is watched, because
// every writer puts a new file in the place of the old one, and the directory to
// which a link leads as well.
type watcher struct {
	file   *File
	log    *slog.Logger
	notify *fsnotify.Watcher // nil when the system gives none
	target string            // where the registry lies
	failed repeated
}

// look makes sure that what should be watched is. It is not complete while a
// directory does not exist or the system refuses: look again later.
func (w *watcher) look() (complete bool) {
	if w.notify == nil {
		notify, err := fsnotify.NewWatcher()
		w.failed.note(w.log, "cannot watch the registry; changes by others are seen once a minute", err)
		if err != nil {
			return false
		}
		w.notify = notify
	}
	dirs := []string{w.file.dir()}
	w.target = w.file.path
	if path, err := target(w.file.path); err == nil {
		w.target = path
		if dir := filepath.Dir(path); dir != dirs[0] {
			dirs = append(dirs, dir)
		}
	}
	watched := w.notify.WatchList()
	for _, dir := range watched {
		if !slices.Contains(dirs, dir) {
			_ = w.notify.Remove(dir) // it may have gone by itself
		}
	}
	complete = true
	for _, dir := range dirs {
		if slices.Contains(watched, dir) {
			continue
		}
		if err := w.notify.Add(dir); err != nil {
			complete = false
			if exists(dir) {
				w.failed.note(w.log, "cannot watch the registry; changes by others are seen once a minute", err)
			}
		}
	}
	return complete
}

// concerns tells whether an event is about the registry, and whether what is
// watched has moved.
func (w *watcher) concerns(e fsnotify.Event) (registry, moved bool) {
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	switch name := filepath.Clean(e.Name); {
	case gone && (name == w.file.dir() || name == filepath.Dir(w.target)):
		_ = w.notify.Remove(name) // what is watched is the directory, not its name
		return true, true
	case name != w.file.path && name != w.target:
		return false, false
	default:
		return e.Op != fsnotify.Chmod, gone || e.Has(fsnotify.Create)
	}
}

// events is nil, which blocks, without a watcher.
func (w *watcher) events() <-chan fsnotify.Event {
	if w.notify == nil {
		return nil
	}
	return w.notify.Events
}

// errors is where the watcher says that it missed something.
func (w *watcher) errors() <-chan error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Errors
}

func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close()
	}
}

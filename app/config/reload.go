package config

import (
	"context"
	"reflect"
	"sync"
)

// Watcher notices when the settings file changes. Make one with NewWatcher.
// Load is for before Serve; Look may be called by any goroutine.
type Watcher struct {
	following
	required bool
	changed  func(Settings, error)

	mu       sync.Mutex // held in Look, also while changed is called
	settings Settings   // the last good ones
	problem  string     // with the file as it is now, empty when there is none

	read func(path string) ([]byte, error)
}

// NewWatcher watches the file that Load would read. changed gets the new
// settings each time they are others than before, and each time something else
// is wrong with the file: then the last good settings together with a
// *FileError. It is called in Serve and in Look, which wait for it. An empty path
// never changes.
func NewWatcher(path string, required bool, changed func(Settings, error)) *Watcher {
	return &Watcher{following: newFollowing(path), required: required, changed: changed, settings: Default(), read: readSettings}
}

// Load reads the file as the function Load does, and takes what it finds as
// that which changes are told from. Without it that is Default.
func (w *Watcher) Load() (Settings, error) {
	if w.path == "" {
		return Default(), nil
	}
	text, err := w.read(w.path)
	settings, err := judge(w.path, w.required, text, err)
	w.settings, w.problem = settings, errorText(err)
	return settings, err
}

// Serve watches until ctx ends and then returns its error. Any other error
// means that the system cannot tell of changes, so that they need a restart.
// What changed since Load is noticed at the start.
func (w *Watcher) Serve(ctx context.Context) error { return w.serve(ctx, w.Look) }

// Look reads the file and tells what is new: for who has just written it.
func (w *Watcher) Look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, err := w.read(w.path)
	settings, err := judge(w.path, w.required, text, err)
	if err != nil {
		if problem := errorText(err); problem != w.problem {
			w.problem = problem
			w.changed(w.settings, err)
		}
		return
	}
	mended := w.problem != ""
	w.problem = ""
	if mended || !reflect.DeepEqual(settings, w.settings) {
		w.settings = settings
		w.changed(settings, nil)
	}
}

func readSettings(path string) ([]byte, error) { return read(path, maxSize) }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

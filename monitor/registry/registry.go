// Package registry keeps instances.json, in which programs tell each other
// which Serena servers run: several of them write it, under the lock
// instances.lock beside it.
//
// File reads and changes the file as a guest: what others wrote and what we do
// not understand stays as it is, records of ours have the agreed fields and no
// other, and the shape that was found is kept. What we must remember beyond
// that lies in our own state directory. Mirror keeps the file in step with the
// snapshots of a watch, and tells what others write into it.
//
// Decisions are pure functions over a parsed document (change.go). Which
// processes are instances is not decided here, and nothing here signals one.
//
// What becomes of a file that cannot be read: it is set aside under another
// name beside it (instances.json.corrupt-TIME), and a new one is made as soon
// as there is something to write. A link to something that is no file is left
// alone: that is how users say that they want no registry.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// The names of the registry and its lock in the directory of Serena.
const (
	fileName = "instances.json"
	lockName = "instances.lock"
)

// lockLimit is how long an operation waits for the lock. Others hold it for
// milliseconds.
const lockLimit = 2 * time.Second

// Options of a File. The zero value works.
type Options struct {
	Log *slog.Logger // nil: silent
	// Notes is a file in our own state directory, in which it is remembered
	// whose entries we know; "" remembers nothing beyond this process.
	Notes string
	// Event is told of each dead entry that was taken out, on the goroutine of
	// the operation that did; nil for nobody.
	Event func(monitor.Event)
}

// File is the registry. It is safe for concurrent use. Each operation takes
// the lock, for at most two seconds, reads, and writes only what changed. Its
// error leaves the file as it was and says what to do; the operation can be
// tried again.
type File struct {
	path      string
	notesPath string
	log       *slog.Logger
	event     func(monitor.Event)

	limit time.Duration
	now   func() time.Time
	look  func(pid int) (p alive, lives bool)
	write func(*os.File, []byte) error

	mu          sync.Mutex // held while the lock is
	notes       notes      // nil until they are loaded
	notesFailed repeated
}

// Open names the registry in a directory of Serena (SERENA_HOME), which need not
// exist. It reads and makes nothing.
func Open(dir string, o Options) *File {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Event == nil {
		o.Event = func(monitor.Event) {}
	}
	return &File{
		path: filepath.Join(dir, fileName), notesPath: o.Notes, log: o.Log, event: o.Event,
		limit: lockLimit, now: time.Now, look: lookAt, write: writeSynced,
	}
}

func (f *File) dir() string      { return filepath.Dir(f.path) }
func (f *File) lockPath() string { return filepath.Join(f.dir(), lockName) }

// lookAt asks the system who has a pid. What has ended without being reaped
// lives no more; what is hidden from us does.
func lookAt(pid int) (alive, bool) {
	st, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, process.ErrGone):
		return alive{}, false
	case err != nil:
		return alive{}, true
	case st.State == process.Unreaped:
		return alive{}, false
	}
	began, err := process.StartedAt(st.Identity)
	if err != nil {
		began = time.Time{}
	}
	return alive{st.Start, began}, true
}

// List returns the entries that can be understood, those of dead processes
// included. It changes nothing, and a directory that does not exist is empty.
func (f *File) List(ctx context.Context) ([]Entry, error) {
	path, err := target(f.path)
	if err != nil {
		return nil, f.failed("read", err)
	}
	if !exists(path) {
		return nil, nil
	}
	unlock, err := f.lock(ctx)
	switch {
	case err == nil:
		defer unlock()
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		// Where no lock can be made, nobody of ours writes.
	default:
		return nil, f.failed("read", err)
	}
	d, err := load(path)
	if err != nil {
		return nil, f.failed("read", err)
	}
	return d.entries(), nil
}

func (f *File) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the registry %s: %w", what, monitor.Clean(f.path), err)
}

func load(path string) (*document, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return parseDocument(data)
}

// change is what a function has done to a document.
type change struct {
	changed bool
	events  []monitor.Event
}

// found is what an operation saw and did.
type found struct {
	entries []Entry     // after the change
	info    fs.FileInfo // of the file that holds them, nil when there is none
	aside   string      // where an unreadable file was moved to
}

// change lets fn change the document and what we remember, and writes what it
// changed. Without create, nothing is made where there is no registry.
func (f *File) change(ctx context.Context, create bool, fn func(*document, notes, time.Time) change) (found, error) {
	result, c, err := f.changeLocked(ctx, create, fn)
	if err != nil {
		return result, err
	}
	for _, e := range c.events {
		f.event(e)
	}
	return result, nil
}

func (f *File) changeLocked(ctx context.Context, create bool, fn func(*document, notes, time.Time) change) (found, change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loadNotes()
	known := maps.Clone(f.notes)
	path, err := target(f.path)
	if err != nil {
		return found{}, change{}, err
	}
	if !create && !exists(path) {
		fn(&document{}, known, f.now())
		f.saveNotes(known)
		return found{}, change{}, nil
	}
	if create {
		// The server that runs will want the directory too.
		if err := os.MkdirAll(f.dir(), 0o700); err != nil {
			return found{}, change{}, err
		}
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return found{}, change{}, err
	}
	defer unlock()
	// Whoever takes no lock may write at any moment: what is told of the file
	// must never be newer than what is known of its content.
	var result found
	if result.info, err = os.Stat(path); err != nil {
		result.info = nil
	}
	d, err := load(path)
	unreadable := errors.Is(err, errCorrupt)
	if unreadable {
		if info, statErr := os.Stat(path); path != f.path && statErr == nil && !info.Mode().IsRegular() {
			return found{}, change{}, errNotRegular
		}
		d = &document{}
	} else if err != nil {
		return found{}, change{}, err
	}
	why := err
	c := fn(d, known, f.now())
	if c.changed {
		// What is ours must be known to be, however we end.
		both := maps.Clone(f.notes)
		maps.Copy(both, known)
		f.saveNotes(both)
		if unreadable {
			if result.aside, err = f.setAside(path, why); err != nil {
				return result, c, err
			}
		}
		if result.info, err = replace(path, d.render(), f.write); err != nil {
			return result, c, err
		}
	}
	f.saveNotes(known)
	result.entries = d.entries()
	return result, c, nil
}

func (f *File) setAside(path string, why error) (string, error) {
	aside, lost, err := setAside(path, f.now())
	if lost != "" {
		f.log.Warn("too many unreadable registries are kept; the newest of them was deleted", "file", lost)
	}
	if err != nil {
		return "", fmt.Errorf("%w; and it cannot be set aside: %w", why, err)
	}
	f.log.Warn("the registry cannot be read and was set aside; a new one is made", "kept", aside, "error", why)
	return aside, nil
}

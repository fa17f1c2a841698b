// Package pins remembers which instances the user has pinned, so that they stay
// so when the background process starts again: pins.json in the state directory.
//
// A pin is for one process. It goes with it, and with the boot: a pid and a
// start time may both come again after the next. What a pin protects from is
// decided in monitor/stop, and who tells that one was set in whoever sets it
// (monitor.PinEvent).
package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"sync"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// Store is the set of pinned instances. Make one with Open. It is safe for
// concurrent use, and Pinned never waits for the disk. Another process may have
// the same file open: each change begins with what the file says.
type Store struct {
	file  statefile.File[form]
	log   *slog.Logger
	boot  func() (string, error)
	lives func(monitor.Identity) bool

	changing sync.Mutex // held by Set and Err, also while the disk hangs

	mu      sync.RWMutex
	pinned  set   // replaced, never changed
	unknown error // see Err
}

// set holds the pinned ones.
type set map[monitor.Identity]struct{}

// Open reads the file at path, which need not exist; "" remembers nothing
// beyond this process. What cannot be read is logged, Err tells of it, and
// nothing is written over it until it is mended or removed: a pin of its own
// would take all others with it. A file that is broken later, when it is known
// who is pinned, is set aside under another name beside it with the next change.
// A nil log is silent.
func Open(path string, log *slog.Logger) *Store {
	return open(path, log, bootID, lives)
}

func open(path string, log *slog.Logger, boot func() (string, error), lives func(monitor.Identity) bool) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		file: statefile.File[form]{Path: path, Limit: maxSize, Broken: errCorrupt},
		log:  log, boot: boot, lives: lives,
	}
	if path == "" {
		return s
	}
	if err := s.look(); err != nil {
		log.Warn("cannot read which servers are pinned; nothing is ended unless forced until that file is mended or removed", "error", err)
	}
	return s
}

// look takes over what the file says, or keeps why it says nothing.
func (s *Store) look() error {
	known, err := s.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unknown = err
		return err
	}
	s.replace(s.living(known))
	return nil
}

// Err is why it is not known who is pinned, nil when it is. Meanwhile Pinned says
// no of everybody. A file that could not be read is looked at again, so Err waits
// for the disk.
func (s *Store) Err() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.RLock()
	err := s.unknown
	s.mu.RUnlock()
	if err != nil {
		err = s.look()
	}
	return err
}

// bootID names this boot, because start times count from it. Elsewhere than on
// Linux they count from a year, and do not come again.
func bootID() (string, error) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	return process.BootID()
}

// lives reports whether the process runs. What is hidden from us does.
func lives(id monitor.Identity) bool {
	alive, err := process.Alive(process.Local(), id)
	return alive || err != nil
}

// Pinned reports whether the instance is pinned.
func (s *Store) Pinned(id monitor.Identity) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, pinned := s.pinned[id]
	return pinned
}

// Set pins an instance, or takes its pin back. What no longer lives is
// forgotten on the way. After an error nothing has changed; it wraps
// process.ErrGone when the instance to pin has ended, else what is wrong with
// the file, and says so.
func (s *Store) Set(id monitor.Identity, pinned bool) error {
	what := "unpinned"
	if pinned {
		what = "pinned"
	}
	if err := s.set(id, pinned); err != nil {
		return fmt.Errorf("process %d was not %s: %w", id.PID, what, err)
	}
	return nil
}

func (s *Store) set(id monitor.Identity, pinned bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if pinned && !s.lives(id) {
		return fmt.Errorf("it has ended: %w", process.ErrGone)
	}
	s.mu.RLock()
	before, known := s.pinned, s.unknown == nil
	s.mu.RUnlock()
	var written set // what the file says, nil when it says nothing
	var wrong error // why it is no list of pins
	if s.file.Path != "" {
		var err error
		written, err = s.load()
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist):
		case !errors.Is(err, errCorrupt):
			return err
		case !known:
			return fmt.Errorf("%w, and others may be pinned in it; mend or remove it", err)
		default:
			wrong = err
		}
		if written != nil {
			before = written
		}
	}
	after := s.living(before)
	if pinned {
		after[id] = struct{}{}
	} else {
		delete(after, id)
	}
	var err error
	switch {
	case s.file.Path == "":
	case wrong != nil:
		err = s.saveOver(wrong, after)
	case written == nil || !maps.Equal(written, after):
		err = s.save(after)
	}
	if err != nil {
		return err
	}
	s.replace(after)
	return nil
}

// living are those of a set whose processes run. It is a new set.
func (s *Store) living(all set) set {
	some := make(set, len(all))
	for id := range all {
		if s.lives(id) {
			some[id] = struct{}{}
		}
	}
	return some
}

// replace takes over who is pinned, which is known then.
func (s *Store) replace(pinned set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pinned, s.unknown = pinned, nil
}

// Package pins remembers which instances the user has pinned, so that they stay
// so when the background process starts again: pins.json in the state directory.
//
// A pin is for one process. It goes with it, and with the boot: a pid and a
// start time may both come again after the next. What a pin protects from is
// decided in monitor/stop, and who tells that one was set in whoever sets it
// (monitor.PinEvent).
package pins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// Store is the set of pinned instances. Make one with Open. It is safe for
// concurrent use, and Pinned never waits for the disk. Another process may have
// the same file open: each change begins with what the file says.
type Store struct {
	file    statefile.File[set]
	bootErr error // why it is not known which boot this is
	lives   func(monitor.Identity) bool

	changing sync.Mutex // held by Set and Err, also while the disk hangs
	unknown  error      // see Err
	pinned   atomic.Pointer[set]
}

// set holds the pinned ones. It is replaced, never changed.
type set map[monitor.Identity]bool

// maxSize is how large the file may be, in bytes. Ten thousand pins fit.
const maxSize = 1 << 20

// errCorrupt says that a file cannot be a list of pins.
var errCorrupt = errors.New("it is not a list of pins")

// form is the file.
type form struct {
	Boot string   `json:"boot"` // see process.BootID
	Pins []string `json:"pins"` // of processes, see monitor.Identity
}

// Open reads the file at path, which need not exist; "" remembers nothing
// beyond this process. What cannot be read is logged, Err tells of it, and
// nothing is written over it until it is mended or removed: a pin of its own
// would take all others with it. A nil log is silent.
func Open(path string, log *slog.Logger) *Store {
	boot, err := process.BootID()
	return open(path, log, boot, err, lives)
}

func open(path string, log *slog.Logger, boot string, bootErr error, lives func(monitor.Identity) bool) *Store {
	s := &Store{bootErr: bootErr, lives: lives}
	s.pinned.Store(&set{})
	s.file = statefile.File[set]{
		Path: path, Limit: maxSize, Broken: errCorrupt,
		Parse:  func(data []byte) (set, error) { return parse(data, boot) },
		Format: func(pinned set) ([]byte, error) { return format(pinned, boot) },
	}
	if err := s.look(); err != nil && log != nil {
		log.Warn("cannot read which servers are pinned; nothing is ended unless forced until that file is mended or removed", "error", err)
	}
	return s
}

// parse reads a file, nil when it says nothing about this boot.
func parse(data []byte, boot string) (set, error) {
	var f *form
	switch err := json.Unmarshal(data, &f); {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, errors.New("it says nothing")
	case f.Boot != boot:
		return nil, nil
	}
	pinned := set{}
	for _, text := range f.Pins {
		id, err := monitor.ParseIdentity(text)
		if err != nil {
			return nil, err
		}
		pinned[id] = true
	}
	return pinned, nil
}

func format(pinned set, boot string) ([]byte, error) {
	f := form{Boot: boot, Pins: []string{}}
	for id := range pinned {
		f.Pins = append(f.Pins, id.String())
	}
	slices.Sort(f.Pins)
	data, err := json.Marshal(f)
	return append(data, '\n'), err
}

// look takes over what the file says, or keeps why it says nothing.
func (s *Store) look() error {
	var known set
	known, s.unknown = s.read()
	if s.unknown == nil {
		s.pinned.Store(&known)
	}
	return s.unknown
}

// read is who lives of those that the file has or, where it does not say, of those that
// are known already. It is a new set.
func (s *Store) read() (set, error) {
	known := *s.pinned.Load()
	if s.file.Path != "" {
		if s.bootErr != nil {
			return nil, fmt.Errorf("which boot this is cannot be found out: %w", s.bootErr)
		}
		written, err := s.file.Read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if written != nil {
			known = written
		}
	}
	living := maps.Clone(known)
	maps.DeleteFunc(living, func(id monitor.Identity, _ bool) bool { return !s.lives(id) })
	return living, nil
}

// Err is why it is not known who is pinned, nil when it is. Meanwhile Pinned says
// no of everybody. A file that could not be read is looked at again, so Err waits
// for the disk.
func (s *Store) Err() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.unknown == nil {
		return nil
	}
	return s.look()
}

// lives reports whether the process runs. What is hidden from us does.
func lives(id monitor.Identity) bool { return process.MayLive(process.Local(), id) }

// Pinned reports whether the instance is pinned.
func (s *Store) Pinned(id monitor.Identity) bool { return (*s.pinned.Load())[id] }

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
	known, err := s.read()
	if errors.Is(err, errCorrupt) {
		return fmt.Errorf("%w, and others may be pinned in it; mend or remove it", err)
	}
	if err != nil {
		return err
	}
	if pinned {
		known[id] = true
	} else {
		delete(known, id)
	}
	if s.file.Path != "" {
		if err := s.file.Write(known); err != nil {
			return err
		}
	}
	s.pinned.Store(&known)
	s.unknown = nil
	return nil
}

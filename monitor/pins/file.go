package pins

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// maxSize is how large the file may be, in bytes. Ten thousand pins fit.
const maxSize = 1 << 20

// errCorrupt says that a file cannot be a list of pins.
var errCorrupt = errors.New("it is not a list of pins")

// form is the file.
type form struct {
	Boot string   `json:"boot"` // see bootID
	Pins []string `json:"pins"` // of processes, see monitor.Identity
}

// load reads the file, nil when it says nothing about this boot, and changes
// nothing. What is no identity is left out. The error wraps fs.ErrNotExist when there
// is no file, and errCorrupt when it is no list of pins.
func (s *Store) load() (set, error) {
	boot, err := s.boot()
	if err != nil {
		return nil, fmt.Errorf("which boot this is cannot be found out: %w", err)
	}
	f, err := s.file.Read()
	if err != nil || f.Boot != boot {
		return nil, err
	}
	pinned := make(set, len(f.Pins))
	leftOut := 0
	for _, text := range f.Pins {
		id, err := monitor.ParseIdentity(text)
		if err != nil {
			leftOut++
			continue
		}
		pinned[id] = struct{}{}
	}
	if leftOut > 0 {
		s.log.Warn("some of the pins cannot be read and are left out", "file", s.file.Path, "pins", leftOut)
	}
	return pinned, nil
}

// save writes the file. After an error the old one stands.
func (s *Store) save(pinned set) error {
	boot, err := s.boot()
	if err != nil {
		return err
	}
	f := form{Boot: boot, Pins: []string{}}
	for _, id := range slices.SortedFunc(maps.Keys(pinned), func(a, b monitor.Identity) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
	}) {
		f.Pins = append(f.Pins, id.String())
	}
	return s.file.Write(f)
}

// saveOver is save for a file that is no list of pins. That one is kept.
func (s *Store) saveOver(why error, pinned set) error {
	kept, err := statefile.Quarantine(s.file.Path, time.Now(), func() error { return s.save(pinned) })
	if err != nil {
		return fmt.Errorf("%w, and %w", why, err)
	}
	s.log.Warn("which servers are pinned cannot be read; the file was set aside", "kept", kept, "error", why)
	return nil
}

// Sweep removes what saves that were killed have left beside the file. Each save
// does so too, but most runs of the program save nothing. What cannot be removed is
// logged. It is not for those who only look.
func (s *Store) Sweep() {
	if s.file.Path == "" {
		return
	}
	if err := statefile.Sweep(s.file.Path, statefile.Abandoned); err != nil {
		s.log.Warn("a file that an interrupted save of the pins has left cannot be removed", "error", err)
	}
}

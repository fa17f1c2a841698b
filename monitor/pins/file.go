package pins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
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

// parse reads what encode wrote, and leaves out what is no identity.
func parse(data []byte) (boot string, pinned set, leftOut int, err error) {
	var f form
	switch {
	case len(data) > maxSize:
		return "", nil, 0, fmt.Errorf("%w: it is larger than %s", errCorrupt, monitor.Memory(maxSize))
	case !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return "", nil, 0, errCorrupt
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return "", nil, 0, fmt.Errorf("%w: %s", errCorrupt, monitor.Clean(err.Error()))
	}
	pinned = make(set, len(f.Pins))
	for _, text := range f.Pins {
		id, err := monitor.ParseIdentity(text)
		if err != nil {
			leftOut++
			continue
		}
		pinned[id] = struct{}{}
	}
	return f.Boot, pinned, leftOut, nil
}

func encode(boot string, pinned set) ([]byte, error) {
	f := form{Boot: boot, Pins: []string{}}
	for _, id := range slices.SortedFunc(maps.Keys(pinned), func(a, b monitor.Identity) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
	}) {
		f.Pins = append(f.Pins, id.String())
	}
	data, err := json.Marshal(f)
	return append(data, '\n'), err
}

// load reads the file, nil when it says nothing about this boot, and changes
// nothing. The error wraps fs.ErrNotExist when there is none, and errCorrupt when
// it is no list of pins.
func (s *Store) load() (set, error) {
	boot, err := s.boot()
	if err != nil {
		return nil, fmt.Errorf("which boot this is cannot be found out: %w", err)
	}
	data, err := plainfile.Read(s.path, maxSize)
	if err != nil {
		return nil, err
	}
	then, pinned, leftOut, err := parse(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", monitor.Clean(s.path), err)
	case then != boot:
		return nil, nil
	}
	if leftOut > 0 {
		s.log.Warn("some of the pins cannot be read and are left out", "file", s.path, "pins", leftOut)
	}
	return pinned, nil
}

// setAside moves a file that is no list of pins out of the way and says where
// to. The error says that it is still there.
func (s *Store) setAside(why error) error {
	aside, err := plainfile.SetAside(s.path, time.Now())
	if err != nil {
		return fmt.Errorf("%w, and it cannot be set aside: %w; remove it", why, err)
	}
	s.log.Warn("which servers are pinned cannot be read; the file was set aside", "kept", aside, "error", why)
	return nil
}

// save writes the file so that whoever reads it sees the old content or the new
// one, whole. After an error the old one stands, and nothing lies beside it.
func (s *Store) save(pinned set) error {
	boot, err := s.boot()
	if err != nil {
		return err
	}
	data, err := encode(boot, pinned)
	if err != nil {
		return err
	}
	s.Sweep()
	return plainfile.Replace(s.path, data)
}

// Sweep removes what saves that were killed have left beside the file. Each save
// does so too, but most runs of the program save nothing. What cannot be removed is
// logged. It is not for those who only look.
func (s *Store) Sweep() {
	if s.path == "" {
		return
	}
	if err := plainfile.Sweep(s.path); err != nil {
		s.log.Warn("a file that an interrupted save of the pins has left cannot be removed", "error", err)
	}
}

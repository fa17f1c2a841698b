package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/statefile"
)

// maxSize is how large the file may be, in bytes.
const maxSize = 1 << 20

// errCorrupt says that a file is not what encode wrote.
var errCorrupt = errors.New("it is not what the policies remember")

// form is the file. Times are RFC 3339.
type form struct {
	Boot   string               `json:"boot"` // Kept is of it
	Kept   map[string]time.Time `json:"kept"` // by the id of the instance
	Paused bool                 `json:"paused"`
	Until  *time.Time           `json:"paused_until,omitempty"` // none: until it is taken back
	Off    []policy.Rule        `json:"off"`
}

func encode(boot string, s policy.Wishes) ([]byte, error) {
	f := form{Boot: boot, Kept: map[string]time.Time{}, Paused: s.Paused, Off: []policy.Rule{}}
	for id, until := range s.Kept {
		f.Kept[id.String()] = until.UTC()
	}
	if s.Paused && !s.PausedUntil.IsZero() {
		until := s.PausedUntil.UTC()
		f.Until = &until
	}
	for _, rule := range policy.All {
		if s.Off[rule] {
			f.Off = append(f.Off, rule)
		}
	}
	data, err := json.Marshal(f)
	return append(data, '\n'), err
}

// parse reads what encode wrote. What it says of instances of another boot is
// left out.
func parse(data []byte, boot string) (policy.Wishes, error) {
	var f *form
	from := json.NewDecoder(bytes.NewReader(data))
	from.DisallowUnknownFields()
	if err := from.Decode(&f); err != nil {
		return policy.Wishes{}, err
	}
	if _, err := from.Token(); !errors.Is(err, io.EOF) {
		return policy.Wishes{}, errors.New("something stands behind its end")
	}
	if f == nil {
		return policy.Wishes{}, errors.New("it says nothing")
	}
	s := policy.Wishes{Paused: f.Paused}.Clone()
	if f.Until != nil {
		s.PausedUntil = *f.Until
	}
	for text, until := range f.Kept {
		id, err := monitor.ParseIdentity(text)
		if err != nil {
			return policy.Wishes{}, err
		}
		if f.Boot == boot {
			s.Kept[id] = until
		}
	}
	for _, rule := range f.Off {
		if !slices.Contains(policy.All, rule) {
			return policy.Wishes{}, fmt.Errorf("no rule is called %q", rule)
		}
		s.Off[rule] = true
	}
	return s, nil
}

// fileAt is the file at path, as of a boot.
func fileAt(path, boot string) statefile.File[policy.Wishes] {
	return statefile.File[policy.Wishes]{
		Path: path, Limit: maxSize, Broken: errCorrupt,
		Parse:  func(data []byte) (policy.Wishes, error) { return parse(data, boot) },
		Format: func(s policy.Wishes) ([]byte, error) { return encode(boot, s) },
	}
}

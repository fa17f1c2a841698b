// Package registry keeps instances.json, in which programs tell each other
// which Serena servers run: several of them write it, under the lock
// instances.lock beside it.
//
// Mirror keeps the file in step with the snapshots of a watch, as a guest: what
// others wrote and what we do not understand stays, records of ours have the
// agreed fields and no other, and the shape that was found is kept. List reads it.
// Decisions are pure functions over a parsed document (change.go). Which processes
// are instances is not decided here, and nothing here signals one.
//
// A file that cannot be understood is set aside under another name beside it
// (instances.json.corrupt-TIME), and a new one is made as soon as there is
// something to write. A link to something that is no file is left alone: that is
// how users say that they want no registry.
package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// The names of the registry and its lock in the directory of Serena.
const (
	FileName = "instances.json"
	LockName = "instances.lock"
)

// maxSize is how large a registry may be, in bytes. A thousand instances take
// half a megabyte.
const maxSize = 8 << 20

// Errors of List.
var (
	ErrBroken = errors.New("it is not a registry of instances")
	ErrOff    = errors.New("it is a link to something that is not a file, which switches the registry off")
)

// List returns the entries that can be understood, those of dead processes
// included, of the registry in a directory of Serena. The error wraps
// fs.ErrNotExist, ErrOff or ErrBroken, or is the system's. It takes no lock, because
// every writer puts a whole new file in the place of the old one.
func List(dir string) ([]Entry, error) {
	path, err := target(dir)
	if err != nil {
		return nil, err
	}
	d, err := file(path).Read()
	if err != nil {
		return nil, err
	}
	return d.entries(), nil
}

// target is where the registry lies when links are followed.
func target(dir string) (string, error) {
	path := filepath.Join(dir, FileName)
	end, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(path); err == nil { // to what is not there yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			return to, nil
		}
		return path, nil
	case err != nil:
		return "", statefile.Error(err, path)
	case end != path && statefile.Check(end) != nil:
		return "", ErrOff
	}
	return end, nil
}

func file(path string) statefile.File[document] {
	return statefile.File[document]{Path: path, Limit: maxSize, Broken: ErrBroken, Parse: parseDocument, Format: document.format}
}

// Entry is what the registry says about one instance. What a record does not
// say, or says in another type, is zero. Text is foreign: see monitor.Clean.
type Entry struct {
	PID           int           `json:"pid"`
	Port          int           `json:"port"` // of the dashboard
	StartedAt     seconds       `json:"started_at"`
	LastHeartbeat seconds       `json:"last_heartbeat"`
	Context       text          `json:"context"`
	Modes         []string      `json:"modes"`
	ProjectName   text          `json:"project_name"`
	ProjectRoot   text          `json:"project_root"`
	State         monitor.State `json:"state"`
}

// Ended reports whether the process has ended.
func (e Entry) Ended() bool {
	_, lives := look(e.PID)
	return !lives
}

// text is null in the registry when it is empty.
type text string

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// seconds is a time as the registry has it: seconds since the epoch, 0 for none.
type seconds float64

func secondsOf(t time.Time) seconds {
	if t.IsZero() {
		return 0
	}
	return seconds(float64(t.UnixMicro()) / 1e6)
}

// MarshalJSON writes a point always: there are readers that want a float.
func (s seconds) MarshalJSON() ([]byte, error) {
	number := strconv.FormatFloat(float64(s), 'f', -1, 64)
	if !strings.Contains(number, ".") {
		number += ".0"
	}
	return []byte(number), nil
}

// document is the content of the registry, in the shape in which it was found:
//
//	{"instances": {"31093": {…}}, "lifecycle_events": […], …}
//	[{"pid": 31093, …}, …]
//
// The first is what programs write, the second the first sketch of the format.
type document struct {
	top  map[string]json.RawMessage // of the first shape, with "instances" as it was read
	list bool                       // it is of the second
	all  []record
}

// record is one record and what it says; an entry without a PID was not
// understood, and stays as it is.
type record struct {
	key   string // "" in an array
	raw   json.RawMessage
	entry Entry
}

const fieldInstances = "instances"

// parseDocument reads a registry. An empty file, null and [] are empty ones.
func parseDocument(data []byte) (d document, err error) {
	data = bytes.TrimSpace(data)
	if d.list = bytes.HasPrefix(data, []byte("[")); d.list {
		var list []json.RawMessage
		err = json.Unmarshal(data, &list)
		for _, raw := range list {
			d.all = append(d.all, parseRecord("", raw))
		}
		return d, err
	}
	var byKey map[string]json.RawMessage
	if len(data) > 0 {
		err = json.Unmarshal(data, &d.top)
	}
	if instances := d.top[fieldInstances]; err == nil && instances != nil {
		err = json.Unmarshal(instances, &byKey)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		d.all = append(d.all, parseRecord(key, byKey[key]))
	}
	return d, err
}

func parseRecord(key string, raw json.RawMessage) record {
	r := record{key: key, raw: raw}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return r
	}
	_ = json.Unmarshal(raw, &r.entry) // a field of another type stays zero
	if key != "" {
		pid, _ := strconv.Atoi(key)
		if r.entry.PID != 0 && r.entry.PID != pid {
			pid = 0
		}
		r.entry.PID = pid
	}
	return r
}

// entries are the entries that were understood.
func (d document) entries() []Entry {
	var list []Entry
	for _, r := range d.all {
		if r.entry.PID > 0 {
			list = append(list, r.entry)
		}
	}
	return list
}

// find is the position of the record under a pid, -1 for none.
func (d document) find(pid int) int {
	return slices.IndexFunc(d.all, func(r record) bool { return r.entry.PID == pid })
}

// format is the document in JSON, in the shape in which it was found.
func (d document) format() ([]byte, error) {
	list, byKey, top := []json.RawMessage{}, map[string]json.RawMessage{}, map[string]any{}
	for _, r := range d.all {
		list = append(list, r.raw)
		byKey[r.key] = r.raw
	}
	if d.list {
		return monitor.JSON(list, "  ")
	}
	for key, value := range d.top {
		top[key] = value
	}
	top[fieldInstances] = byKey
	return monitor.JSON(top, "  ")
}

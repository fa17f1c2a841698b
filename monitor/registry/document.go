package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// errCorrupt is wrapped by every error about a registry that no program can
// read.
var errCorrupt = errors.New("not a registry of instances")

// fieldInstances is where the object shape keeps the records.
const fieldInstances = "instances"

// document is the content of the registry, in the shape in which it was found:
//
//	{"instances": {"31093": {…}}, "lifecycle_events": […], …}
//	[{"pid": 31093, …}, …]
//
// The first is what programs write, the second the first sketch of the format.
// Whatever we do not change is written as it was read.
type document struct {
	array bool   // the second shape
	top   object // of the first shape, including "instances" as it was read
	list  bool   // the records stand in an array
	slots []slot
}

// slot is the place of one record.
type slot struct {
	raw   json.RawMessage // its key as it was written; nil in an array
	value json.RawMessage
	entry Entry
	ok    bool // entry was understood; a record that was not stays as it is
}

// parseDocument reads a registry. An empty file, null and [] are empty ones.
func parseDocument(data []byte) (*document, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return &document{}, nil
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: it is not UTF-8", errCorrupt)
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: it is not valid JSON", errCorrupt)
	}
	d := &document{}
	switch data[0] {
	case 'n':
		return d, nil
	case '[':
		d.array = true
		return d, d.parseRecords(data)
	case '{':
		top, err := parseObject(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errCorrupt, err)
		}
		d.top = top
		return d, d.parseRecords(top.get(fieldInstances))
	}
	return nil, fmt.Errorf("%w: it is neither an object nor an array", errCorrupt)
}

// parseRecords reads the records from an object with pids as keys or from an
// array.
func (d *document) parseRecords(data []byte) error {
	if len(data) == 0 || data[0] == 'n' {
		return nil
	}
	switch data[0] {
	case '[':
		d.list = true
		values, err := parseArray(data)
		if err != nil {
			return fmt.Errorf("%w: %w", errCorrupt, err)
		}
		for _, v := range values {
			e, ok := parseEntry(v, 0)
			d.slots = append(d.slots, slot{value: v, entry: e, ok: ok})
		}
	case '{':
		members, err := parseObject(data)
		if err != nil {
			return fmt.Errorf("%w: %w", errCorrupt, err)
		}
		for _, m := range members {
			s := slot{raw: m.raw, value: m.value}
			if pid, err := strconv.Atoi(m.key); err == nil && pid > 0 {
				s.entry, s.ok = parseEntry(m.value, pid)
			}
			d.slots = append(d.slots, s)
		}
	default:
		return fmt.Errorf("%w: its instances are neither an object nor an array", errCorrupt)
	}
	return nil
}

// entries are the records that were understood. Of several with one key the
// last counts.
func (d *document) entries() []Entry {
	var list []Entry
	for i, s := range d.slots {
		if s.ok && (d.list || d.find(s.entry.PID) == i) {
			list = append(list, s.entry)
		}
	}
	return list
}

// find is the position of the record that counts for a pid, -1 for none.
func (d *document) find(pid int) int {
	for i := len(d.slots) - 1; i >= 0; i-- {
		if d.slots[i].ok && d.slots[i].entry.PID == pid {
			return i
		}
	}
	return -1
}

// add appends a record of our own.
func (d *document) add(e Entry) {
	s := slot{value: e.record(), entry: e, ok: true}
	if !d.list {
		s.raw = literal(strconv.Itoa(e.PID))
	}
	d.slots = append(d.slots, s)
}

// render is the document in JSON, in the shape in which it was found.
func (d *document) render() []byte {
	var records bytes.Buffer
	if d.list {
		records.WriteByte('[')
		for i, s := range d.slots {
			if i > 0 {
				records.WriteByte(',')
			}
			records.Write(s.value)
		}
		records.WriteByte(']')
	} else {
		members := make(object, len(d.slots))
		for i, s := range d.slots {
			members[i] = member{raw: s.raw, value: s.value}
		}
		members.append(&records)
	}
	whole := records.Bytes()
	if !d.array {
		top := append(object(nil), d.top...)
		top.set(fieldInstances, whole)
		whole = top.json()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		return whole // it cannot happen: all parts were valid
	}
	out.WriteByte('\n')
	return out.Bytes()
}

func (o object) json() []byte {
	var b bytes.Buffer
	o.append(&b)
	return b.Bytes()
}

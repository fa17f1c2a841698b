package registry

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"lamplighter/monitor"
)

// notesVersion is the form of the file of notes.
const notesVersion = 1

// savedNotes is that file.
type savedNotes struct {
	Version int         `json:"version"`
	Entries []savedNote `json:"entries"`
}

type savedNote struct {
	ID      string `json:"id"`         // of the process, see monitor.Identity
	Entry   int64  `json:"started_at"` // as the entry says, in microseconds since the epoch
	Created bool   `json:"created"`    // the entry was written by us
}

// parseNotes reads what encode wrote. Entries that make no sense are left out:
// to forget one means only that it is pruned later, as other people's are.
func parseNotes(data []byte) (notes, error) {
	var file savedNotes
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Version != notesVersion {
		return nil, fmt.Errorf("it has the version %d", file.Version)
	}
	n := make(notes, len(file.Entries))
	for _, e := range file.Entries {
		if id, err := monitor.ParseIdentity(e.ID); err == nil {
			n[id.PID] = note{Start: id.Start, Entry: e.Entry, Created: e.Created}
		}
	}
	return n, nil
}

func (n notes) encode() []byte {
	file := savedNotes{Version: notesVersion, Entries: []savedNote{}}
	for pid, e := range n {
		id := monitor.Identity{PID: pid, Start: e.Start}
		file.Entries = append(file.Entries, savedNote{ID: id.String(), Entry: e.Entry, Created: e.Created})
	}
	return literal(file)
}

// loadNotes reads the notes once. f.mu is held.
func (f *File) loadNotes() {
	if f.notes != nil {
		return
	}
	f.notes = notes{}
	if f.notesPath == "" {
		return
	}
	data, err := read(f.notesPath)
	if err == nil && data != nil {
		var n notes
		if n, err = parseNotes(data); err == nil {
			f.notes = n
		}
	}
	if err != nil {
		f.log.Warn("cannot read which entries of the registry are ours; they are pruned later", "file", f.notesPath, "error", err)
	}
}

// saveNotes keeps the notes, on disk too when they differ there. That they
// cannot be written does not keep us from keeping the registry. f.mu is held.
func (f *File) saveNotes(n notes) {
	before := f.notes
	f.notes = n
	if f.notesPath == "" || (maps.EqualFunc(before, n, sameOnDisk) && f.notesFailed == 0) {
		return
	}
	err := os.MkdirAll(filepath.Dir(f.notesPath), 0o700)
	if err == nil {
		_, err = replace(f.notesPath, n.encode(), f.write)
	}
	f.notesFailed.note(f.log, "cannot write down which entries of the registry are ours", err)
}

func sameOnDisk(a, b note) bool {
	a.Present, b.Present = false, false
	return a == b
}

// repeated counts a failure that may last, so that it is logged once, and once
// when it is over.
type repeated int

func (r *repeated) note(log *slog.Logger, what string, err error) {
	switch {
	case err != nil:
		if *r == 0 {
			log.Warn(what, "error", err)
		}
		*r++
	case *r > 0:
		log.Info("it works again: "+what, "failed", int(*r))
		*r = 0
	}
}

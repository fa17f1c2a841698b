package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter/app/setup/document"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/statefile"
)

const (
	// recordName is the file in our state that says what setup has changed.
	recordName = "setup.json"
	// recordVersion is that of its form. No other has ever been written.
	recordVersion = 1
	// maxRecord is how large it may be, in bytes: the text of an entry is a part of
	// a file of at most 32 MiB.
	maxRecord = 128 << 20
	// remembered is how long a step counts whose file and backup are both gone, in
	// case the disk with them comes back.
	remembered = 30 * 24 * time.Hour
)

// errRecord says that a file cannot be a record.
var errRecord = errors.New("it is not what setup has written there")

// step is one change of one file. It is noted before the file is written, so that
// it may not have happened.
type step struct {
	Path    string      `json:"path"`   // of the file itself, behind links
	Client  string      `json:"client"` // its ID; "" for a file that is nobody's
	At      time.Time   `json:"at"`
	Before  string      `json:"before_sha256"` // see sum
	After   string      `json:"after_sha256"`
	Backup  string      `json:"backup"` // path; "" for none
	Entries []stepEntry `json:"entries"`
}

// stepEntry is an entry that a step has changed.
type stepEntry struct {
	Path   []string        `json:"path"` // as in clients.Server
	Before document.Source `json:"before"`
	After  document.Source `json:"after"`
}

// is reports whether two steps are the same one.
func (s step) is(other step) bool {
	return s.Path == other.Path && s.At.Equal(other.At) && s.Before == other.Before && s.After == other.After && s.Backup == other.Backup
}

// sources takes out of a step the entries whose text from before no file can have
// had, so that undo takes those apart by their words and puts back the others. It
// tells whether there were none.
func (s *step) sources() bool {
	n := len(s.Entries)
	format := clients.FormatOf(s.Path) // of one that is not known nothing can be told
	s.Entries = slices.DeleteFunc(s.Entries, func(e stepEntry) bool { return format != "" && !document.IsSource(format, e.Before) })
	return len(s.Entries) == n
}

// valid reports whether setup can have written a step.
func (s step) valid() bool {
	return filepath.IsAbs(s.Path) && isHex(s.Before) && isHex(s.After) && (s.Backup == "" || filepath.IsAbs(s.Backup)) &&
		!slices.ContainsFunc(s.Entries, func(e stepEntry) bool { return len(e.Path) == 0 })
}

func isHex(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// sum is the SHA-256 of a file, in hexadecimal digits.
func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// record is what setup has changed and not yet undone. It is not safe for
// concurrent use: whoever changes it has the lock of setup since before it was
// loaded. After an error it is as before, here and on the disk.
type record struct {
	file statefile.File[notes]
	notes
	exists bool // there was a record

	// unread says why the file, or a part of it, is not known, as a sentence's
	// part with its path; nil when all is. Where it Is errRecord the file is set
	// aside when it is written. Else nothing is written: it may be read another
	// time.
	unread error

	write func(notes) error // replaced by tests of faults
}

// notes is what the file says.
type notes struct {
	all []step // the oldest first
	// partly tells that what a record has said was lost at some time: then it does not
	// know all that setup has written.
	partly bool
	newer  float64 // the version of a form that is not known here; else 0
	empty  bool    // nothing is in the file
}

// loadRecord reads the record in a directory, and changes nothing. What cannot be
// read or understood is left out, see unread: undo needs none of it. The error
// says that a newer version has written the file.
func loadRecord(dir string) (*record, error) {
	file := statefile.File[notes]{Path: filepath.Join(dir, recordName), Limit: maxRecord, Broken: errRecord, Parse: parseRecord, Format: encodeRecord}
	r := &record{file: file, write: file.Write}
	said, err := file.Read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errRecord):
		r.notes, r.exists, r.unread = said, true, without(err)
	case err != nil && isOther(file.Path):
		r.exists = true
		r.unread = without(fmt.Errorf("%s: %w: it is no file", monitor.Clean(file.Path), errRecord))
	case err != nil:
		r.unread = fmt.Errorf("what setup has changed before is not known: %w", err)
	case said.newer != 0:
		return nil, fmt.Errorf("%s: a newer lamplighter has written it (version %v, and this one knows %d); use that one", monitor.Clean(file.Path), said.newer, recordVersion)
	default:
		r.notes, r.exists = said, !said.empty
	}
	return r, nil
}

// whole reports whether the record knows all that setup has written.
func (r *record) whole() bool { return r.exists && !r.partly && r.unread == nil }

// without says that the record, or a part of it, is none.
func without(err error) error {
	return fmt.Errorf("%w; what it says there is left out, and the next change sets it aside, as a copy with another name beside it", err)
}

// isOther reports whether something lies at path that is no file, as a link, which
// is not followed.
func isOther(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

// parseRecord reads what encodeRecord wrote. With an error come the steps that can be
// understood all the same.
func parseRecord(data []byte) (said notes, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return notes{empty: true}, nil
	}
	var form struct {
		Version float64         `json:"version"`
		Partly  bool            `json:"partly"`
		Steps   json.RawMessage `json:"steps"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return notes{}, err
	}
	switch {
	case form.Version > recordVersion:
		return notes{newer: form.Version}, nil
	case form.Version == 0:
		return notes{}, errors.New("it has no version")
	case form.Version != recordVersion:
		return notes{}, fmt.Errorf("there is no version %v of it", form.Version)
	}
	var steps []json.RawMessage
	if err := json.Unmarshal(form.Steps, &steps); err != nil || steps == nil {
		return notes{}, errors.New("it has no list of steps")
	}
	said.partly = form.Partly
	bad := 0
	for _, text := range steps {
		var s step
		if json.Unmarshal(text, &s) != nil || !s.valid() {
			bad++
			continue
		}
		if !s.sources() {
			bad++ // in part: it still tells how to put back the whole file
		}
		said.all = append(said.all, s)
	}
	if bad > 0 {
		return said, fmt.Errorf("%d of %d steps cannot be understood", bad, len(steps))
	}
	return said, nil
}

func encodeRecord(said notes) ([]byte, error) {
	if said.all == nil {
		said.all = []step{}
	}
	data, err := json.MarshalIndent(struct {
		Version int    `json:"version"`
		Partly  bool   `json:"partly,omitempty"`
		Steps   []step `json:"steps"`
	}{recordVersion, said.partly, said.all}, "", "\t")
	return append(data, '\n'), err
}

// steps are those of a file, the oldest first, and the caller's. The path is that
// of the file itself, behind links.
func (r *record) steps(path string) []step {
	var its []step
	for _, s := range r.all {
		if s.Path == path {
			its = append(its, s)
		}
	}
	return its
}

// paths are the files that there are steps of, in the order in which they were
// changed first.
func (r *record) paths() []string {
	var list []string
	for _, s := range r.all {
		if !slices.Contains(list, s.Path) {
			list = append(list, s.Path)
		}
	}
	return list
}

// push notes a step. It is on the disk then. Steps of files that are gone for
// long are forgotten.
func (r *record) push(s step) error {
	if !utf8.ValidString(s.Path) || !utf8.ValidString(s.Backup) { // JSON would make another of it
		return fmt.Errorf("%s: its name is not UTF-8, so that it cannot be noted what was changed", monitor.Clean(s.Path))
	}
	if !s.valid() {
		return fmt.Errorf("%s: the step cannot be noted: %w", monitor.Clean(s.Path), errRecord)
	}
	all := slices.DeleteFunc(slices.Clone(r.all), func(old step) bool {
		return s.At.Sub(old.At) > remembered && isGone(old.Path) && (old.Backup == "" || isGone(old.Backup))
	})
	return r.save(append(all, s))
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// drop forgets a step. One that is not there is forgotten already.
func (r *record) drop(s step) error {
	i := slices.IndexFunc(r.all, s.is)
	if i < 0 {
		return nil
	}
	return r.save(slices.Delete(slices.Clone(r.all), i, i+1))
}

// save writes the file. The error names it.
func (r *record) save(all []step) error {
	next := notes{all: all, partly: r.partly || r.unread != nil}
	save := func() error {
		if err := r.write(next); err != nil {
			return fmt.Errorf("what setup changes cannot be noted: %w", err)
		}
		return nil
	}
	var err error
	switch {
	case r.unread == nil:
		err = save()
	case !errors.Is(r.unread, errRecord):
		return r.unread
	default:
		if _, err = statefile.Quarantine(r.file.Path, time.Now(), save); err != nil {
			err = fmt.Errorf("%w; that failed: %w", r.unread, err)
		}
	}
	if err == nil {
		r.notes, r.unread, r.exists = next, nil, true
	}
	return err
}

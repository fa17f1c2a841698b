// Package events keeps the lifecycle log: events.jsonl in the state directory,
// one monitor.Event per line as JSON. Any process appends lines with Write; the
// background process does so through a Log, and it alone rotates the file.
//
// What an event is, and which ones there are, is in package monitor; who sees
// them happen in monitor/watch and monitor/stop.
package events

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// The names in the state directory. Rotated files carry the time (UTC) at which
// they were set aside, so that their names sort by age.
const (
	fileName    = "events.jsonl"
	rotatedForm = "events-2006-01-02T15-04-05.000.jsonl"
)

func path(dir string) string { return filepath.Join(dir, fileName) }

// rotated lists the paths of the rotated files in dir, oldest first.
func rotated(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, statefile.Error(err, dir)
	}
	var paths []string
	for _, e := range entries {
		if _, err := time.Parse(rotatedForm, e.Name()); err == nil {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// Write appends events to the lifecycle log in the state directory dir, each
// with one call of the system, so that the lines of several processes do not mix.
// It makes the file, with mode 0600, and the directory where they are missing. It
// returns how many of the events are written.
func Write(dir string, list ...monitor.Event) (done int, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, statefile.Error(err, dir)
	}
	f, err := statefile.Open(path(dir), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := finishLine(f); err != nil {
		return 0, statefile.Error(err, path(dir))
	}
	for _, e := range list {
		if _, err := f.Write(encode(e)); err != nil {
			return done, statefile.Error(err, path(dir))
		}
		done++
	}
	return done, nil
}

// finishLine ends a line of which a full disk took only a part, so that the
// next one is whole.
func finishLine(f *os.File) error {
	var last [1]byte
	_, _ = f.Seek(-1, io.SeekEnd) // fails in an empty file
	if n, _ := f.Read(last[:]); n == 0 || last[0] == '\n' {
		return nil
	}
	_, err := f.Write([]byte("\n"))
	return err
}

// encode makes the line of an event, its end included. Nothing in it can
// disturb a terminal. Of a year after 9999 it makes nothing.
func encode(e monitor.Event) []byte {
	e = clean(e)
	e.At = e.At.UTC().Truncate(time.Millisecond)
	line, _ := monitor.JSON(e, "")
	return line
}

// parse reads a line. Another program may have written it, so its texts are
// cleaned.
func parse(line []byte) (e monitor.Event, err error) {
	err = json.Unmarshal(line, &e)
	return clean(e), err
}

// clean returns e without what could disturb a terminal.
func clean(e monitor.Event) monitor.Event {
	e.Kind = monitor.EventKind(monitor.Clean(string(e.Kind)))
	e.ID, e.Label, e.Detail = monitor.Clean(e.ID), monitor.Clean(e.Label), monitor.Clean(e.Detail)
	return e
}

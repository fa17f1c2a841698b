package events

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// Query says which events to read. The zero value means all.
type Query struct {
	Since time.Time // not those before it
	Last  int       // only so many, the newest; 0 means all
}

// List is what was read, newest last. The texts of the events have been
// through monitor.Clean.
type List struct {
	Events  []monitor.Event
	Skipped int // lines that are broken
}

// Read reads the lifecycle log in the state directory dir, its rotated files
// included. No log is an empty one. The error says which file could not be
// read; the list has what is in the others.
func Read(dir string, q Query) (List, error) {
	list, _, err := readAll(dir, q)
	return list, err
}

// followEvery is how often Follow looks whether something was appended.
const followEvery = time.Second

// Follow reads the lifecycle log in the state directory dir as Read does, and
// then once a second what was appended, until ctx ends or each returns an error,
// which it returns. It calls each with what it has read, if that is anything.
// Only what is read first is limited by q. The log may be rotated or removed, and
// need not exist; it misses what is appended in the second before that.
func Follow(ctx context.Context, dir string, q Query, each func(List) error) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	list, at, err := readAll(dir, q)
	for {
		if len(list.Events)+list.Skipped > 0 {
			if err := each(list); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		list = List{}
		at, err = readFile(path(dir), at, Query{}.into(&list))
	}
}

// readAll reads all files, oldest first, but for those that ended before what is asked
// for. It returns the offset of the next line in the last one, too.
func readAll(dir string, q Query) (list List, at int64, err error) {
	each := q.into(&list)
	paths, err := rotated(dir)
	for _, path := range paths {
		if info, gone := os.Lstat(path); gone == nil && !info.ModTime().Before(q.Since) {
			_, readErr := readFile(path, 0, each)
			err = errors.Join(err, readErr)
		}
	}
	at, readErr := readFile(path(dir), 0, each)
	return list, at, errors.Join(err, readErr)
}

// readFile calls each with the lines from the offset at, without their ends, and
// returns the offset of the next one. A file that has become shorter is another
// one, and is read from its beginning; no file is an empty one. An empty line is left
// out. A last line without an end is not read: it is being written.
func readFile(path string, at int64, each func(line []byte)) (next int64, err error) {
	file, err := statefile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return at, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() < at {
		at = 0
	}
	for lines := bufio.NewReader(io.NewSectionReader(file, at, math.MaxInt64-at)); ; {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, statefile.Error(err, path)
		}
		at += int64(len(line))
		if line = bytes.TrimSpace(line); len(line) > 0 {
			each(line)
		}
	}
}

// into is what takes the lines of a file, and puts those that were asked for into a
// list, so that no more than the newest are kept.
func (q Query) into(list *List) func(line []byte) {
	return func(line []byte) {
		e, err := parse(line)
		switch {
		case err != nil:
			list.Skipped++
		case !e.At.Before(q.Since):
			list.Events = append(list.Events, e)
		}
		if q.Last > 0 && len(list.Events) > q.Last {
			list.Events = list.Events[1:]
		}
	}
}

package events

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
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
	Skipped int // lines that are broken or too long
}

// Read reads the lifecycle log in the state directory dir, its rotated files
// included. No log is an empty one. The error says which file could not be
// read; the list has what is in the others.
func Read(dir string, q Query) (List, error) {
	files, err := openAll(dir, q.Since)
	c := collector{query: q}
	for _, f := range files {
		var lines splitter
		err = errors.Join(err, copyLines(f, &lines, c.line))
		lines.end(c.line)
		f.Close()
	}
	return c.take(), err
}

// openAll opens the current file and the rotated ones that may have events
// since then, oldest first. The current one is opened before the others are
// listed, so that a rotation between the two hides nothing.
func openAll(dir string, since time.Time) ([]*os.File, error) {
	current, err := openFile(path(dir))
	names, listErr := rotated(dir)
	if errors.Is(listErr, fs.ErrNotExist) {
		listErr = nil
	}
	err = errors.Join(err, listErr)
	var files []*os.File
	for _, name := range names {
		f, openErr := openFile(filepath.Join(dir, name))
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		if f == nil {
			continue
		}
		if same(f, current) || endsBefore(f, since) {
			f.Close()
			continue
		}
		files = append(files, f)
	}
	if current != nil {
		files = append(files, current)
	}
	return files, err
}

// openFile is nil without an error when there is no such file.
func openFile(path string) (*os.File, error) {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

func same(a, b *os.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameFile(a, b)
}

// endsBefore tells that nothing was written to f since then.
func endsBefore(f *os.File, since time.Time) bool {
	info, err := f.Stat()
	return err == nil && info.ModTime().Before(since)
}

// copyLines feeds what is left of r to lines. The end is no error.
func copyLines(r io.Reader, lines *splitter, each func([]byte)) error {
	piece := make([]byte, 32<<10)
	for {
		n, err := r.Read(piece)
		lines.feed(piece[:n], each)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return plainfile.Error(err, fileName)
		}
	}
}

// collector makes a List of lines.
type collector struct {
	query Query
	list  List
}

// line takes one line as a splitter gives it.
func (c *collector) line(line []byte) {
	e, err := parse(line) // nil, too long, is no event either
	switch {
	case err != nil:
		c.list.Skipped++
		return
	case e.At.Before(c.query.Since):
		return
	}
	c.list.Events = append(c.list.Events, e)
	// Twice as many may be there, so that the rest is not moved each time.
	if n := c.query.Last; n > 0 && len(c.list.Events) >= 2*n {
		c.list.Events = append(c.list.Events[:0], c.list.Events[len(c.list.Events)-n:]...)
	}
}

// take returns what was collected, and begins anew.
func (c *collector) take() List {
	list := c.list
	if n := c.query.Last; n > 0 && len(list.Events) > n {
		list.Events = list.Events[len(list.Events)-n:]
	}
	c.list = List{}
	return list
}

package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lamplighter/monitor/plainfile"
)

// Follow reads the lifecycle log in the state directory dir as Read does, calls
// each with that, and from then on with whatever is appended, until ctx ends or
// each returns an error. That error is returned and is never nil. Only what is
// read first is limited by q.
//
// The system tells of changes; nothing is polled. Rotation, truncation and the
// removal of the file or the directory are survived, and neither has to exist;
// on Windows the removal of the directory is not noticed.
func Follow(ctx context.Context, dir string, q Query, each func(List) error) error {
	c := &collector{query: q}
	begun := false
	return followLines(ctx, dir, q.Since, c.line, func() error {
		list := c.take()
		if begun && len(list.Events)+list.Skipped == 0 {
			return nil
		}
		begun, c.query = true, Query{}
		return each(list)
	})
}

// followLines calls line with each line there is, as a splitter does, but for files
// that end before since, and then with each that is appended. It calls caughtUp
// whenever it has reached the end, and ends with its error.
func followLines(ctx context.Context, dir string, since time.Time, line func([]byte), caughtUp func() error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	changes, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("the system does not tell of changes: %w", err)
	}
	defer changes.Close()
	f := follower{dir: dir, changes: changes, line: line}
	defer f.close()
	// Watched first, so that nothing falls between.
	if err := f.watch(); err != nil {
		return err
	}
	if err := f.begin(since); err != nil {
		return err
	}
	if err := caughtUp(); err != nil {
		return err
	}
	for {
		if err := f.catchUp(); err != nil {
			return err
		}
		if err := caughtUp(); err != nil {
			return err
		}
		if err := f.wait(ctx); err != nil {
			return err
		}
	}
}

// follower reads on where it has stopped.
type follower struct {
	dir     string
	changes *fsnotify.Watcher
	watched string // dir, or the nearest directory above it that exists
	line    func([]byte)

	current *os.File // what was at the path when it was last looked at; may be nil
	read    int64    // bytes of current
	lines   splitter // of current
	known   []string // the rotated files that are older than current
}

func (f *follower) close() {
	if f.current != nil {
		f.current.Close()
	}
}

// watch watches the directory, or while that does not exist the nearest one
// above it, where something has to appear first.
func (f *follower) watch() error {
	if f.watched != "" {
		_ = f.changes.Remove(f.watched) // it may be gone
	}
	at := f.dir
	for {
		err := f.changes.Add(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			at = filepath.Dir(at)
			continue
		}
		if err != nil {
			return plainfile.Error(err, at)
		}
		f.watched = at
		if at == f.dir {
			return nil
		}
		// What is missing may have been made before it was watched for.
		if _, err := os.Stat(f.below(at)); err != nil {
			return nil
		}
		_ = f.changes.Remove(at)
		at = f.dir
	}
}

// below is the directory in at on the way to dir.
func (f *follower) below(at string) string {
	rest, err := filepath.Rel(at, f.dir)
	if err != nil {
		return f.dir
	}
	first, _, _ := strings.Cut(rest, string(filepath.Separator))
	return filepath.Join(at, first)
}

// begin reads everything that is there and stays at its end.
func (f *follower) begin(since time.Time) error {
	files, err := openAll(f.dir, since)
	if err == nil {
		f.known, err = rotated(f.dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, file := range files {
		f.finish()
		f.current, f.read = file, 0
		if err == nil {
			err = f.readOn()
		}
	}
	return err
}

// finish ends the reading of current.
func (f *follower) finish() {
	if f.current != nil {
		f.lines.end(f.line)
		f.current.Close()
		f.current = nil
	}
}

// readOn reads current to its end. One that has become shorter is read from
// its beginning.
func (f *follower) readOn() error {
	info, err := f.current.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.read {
		f.lines.end(f.line)
		if _, err := f.current.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	if err := copyLines(f.current, &f.lines, f.line); err != nil {
		return err
	}
	f.read, err = f.current.Seek(0, io.SeekCurrent)
	return err
}

// catchUp reads what is new, in whichever files it is by now.
func (f *follower) catchUp() error {
	next, err := openFile(path(f.dir))
	if err != nil {
		return err
	}
	if f.current != nil {
		if err := f.readOn(); err != nil {
			return err
		}
	}
	if same(next, f.current) {
		if next != nil {
			next.Close()
		}
		return nil
	}
	names, err := rotated(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// What was set aside meanwhile: the file that was current, and those that
	// came and went since.
	for _, name := range names {
		if slices.Contains(f.known, name) {
			continue
		}
		file, err := openFile(filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		if same(file, f.current) || same(file, next) {
			file.Close()
			continue
		}
		f.finish()
		f.current, f.read = file, 0
		if err := f.readOn(); err != nil {
			return err
		}
	}
	f.known = names
	f.finish()
	if f.current, f.read = next, 0; next == nil {
		return nil
	}
	return f.readOn()
}

// wait returns when the log may have changed.
func (f *follower) wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-f.changes.Events:
			if !ok {
				return fsnotify.ErrClosed
			}
			switch {
			case f.watched != f.dir, e.Name == f.dir && e.Has(fsnotify.Remove|fsnotify.Rename):
				// The directory has come or gone.
				if err := f.watch(); err != nil {
					return err
				}
				return nil
			case strings.HasPrefix(filepath.Base(e.Name), "events"):
				return nil
			}
		case err, ok := <-f.changes.Errors:
			if !ok {
				return fsnotify.ErrClosed
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			return nil
		}
	}
}

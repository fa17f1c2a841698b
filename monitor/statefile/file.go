// Package statefile keeps small files of ours: it reads them, replaces them whole,
// locks them, and moves broken ones aside. Somebody may have put something else in
// their place, so it follows no symbolic link, waits for no pipe, and takes nothing
// but a regular file.
//
// What is in the files, and whether their directory is private, is the business of
// others. Files of other programs are app/setup/foreignfile's.
package statefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"lamplighter/monitor"
)

// File is a small file of ours that holds a value. Whoever changes one that another
// process may change too keeps a Lock from before Read until after Write.
type File[T any] struct {
	Path  string
	Limit int64       // bytes; one that is larger is broken
	Mode  fs.FileMode // of what is written; 0: 0600
	// Broken says what a file is not that cannot be understood, as in "it is not a
	// list of pins".
	Broken error
	// Parse reads a content, and Format makes one. They default to a JSON object.
	Parse  func(data []byte) (T, error)
	Format func(value T) ([]byte, error)
}

// Read reads the value. The error names the path and wraps fs.ErrNotExist when there
// is no file, Broken when it cannot be understood, else the system's. With Broken
// comes what Parse returned.
func (f File[T]) Read() (value T, err error) {
	data, err := Read(f.Path, f.Limit)
	switch {
	case errors.Is(err, ErrTooLarge):
	case err != nil:
		return value, err
	case f.Parse != nil:
		value, err = f.Parse(data)
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		err = json.Unmarshal(data, &value)
	default:
		err = errors.New("it is no JSON object")
	}
	if err != nil {
		err = pathError{f.Path, fmt.Errorf("%w: %s", f.Broken, monitor.Clean(Cause(err).Error()))}
	}
	return value, err
}

// Write replaces the file, see Replace.
func (f File[T]) Write(value T) error {
	format := f.Format
	if format == nil {
		format = func(value T) ([]byte, error) {
			data, err := json.Marshal(value)
			return append(data, '\n'), err
		}
	}
	data, err := format(value)
	if err == nil && int64(len(data)) > f.Limit {
		err = fmt.Errorf("it would be larger than %s", monitor.Memory(f.Limit))
	}
	if err != nil {
		return pathError{f.Path, err}
	}
	return replace(f.Path, data, cmp.Or(f.Mode, ownMode))
}

// ErrTooLarge says that a file is larger than it may be.
var ErrTooLarge = errors.New("it is larger than")

// Read reads the file at path, as Open opens it. The error Is ErrTooLarge when it
// has more than limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var data bytes.Buffer
	if info, err := file.Stat(); err == nil {
		data.Grow(int(min(info.Size(), limit)) + bytes.MinRead) // else a large one takes more than twice its size
	}
	_, err = data.ReadFrom(io.LimitReader(file, limit+1))
	if err == nil && int64(data.Len()) > limit {
		err = fmt.Errorf("%w %s", ErrTooLarge, monitor.Memory(limit))
	}
	if err != nil {
		return nil, Error(err, path)
	}
	return data.Bytes(), nil
}

// Quarantine replaces a file that cannot be understood, and keeps it under another name
// beside it, which it returns. After an error it lies where it was, and nowhere else; the
// error is that of replace, or says that it cannot be set aside.
func Quarantine(path string, now time.Time, replace func() error) (kept string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // somebody has removed it since
		return "", replace()
	}
	kept = path + ".corrupt-" + now.UTC().Format("20060102T150405.000Z")
	// As a hard link it is never missing at its path. Some disks know none, and what is no
	// file is replaced by none.
	if Check(path) != nil || os.Link(path, kept) != nil {
		if err := Rename(path, kept); err != nil {
			return "", fmt.Errorf("it cannot be set aside: %w; remove it", Cause(err))
		}
	}
	if err = replace(); err == nil {
		return kept, nil
	}
	if undo := Rename(kept, path); undo != nil {
		return "", errors.Join(err, undo)
	}
	// Renaming one of two names of the same file does nothing. Source: POSIX, rename().
	if undo := os.Remove(kept); !errors.Is(undo, fs.ErrNotExist) {
		err = errors.Join(err, undo)
	}
	return "", err
}

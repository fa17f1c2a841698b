package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lamplighter/monitor"
)

// Open opens the file at path as os.OpenFile does. The error names the path
// once, cleaned, and wraps the system's.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := open(path, flag, perm)
	if err != nil {
		return nil, Error(err, path)
	}
	// What lay there may have been replaced before it was opened.
	if err := plain(path, f.Stat); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check refuses what lies at path when it is anything but a file. The error
// wraps fs.ErrNotExist when nothing lies there.
func Check(path string) error {
	return plain(path, func() (fs.FileInfo, error) { return os.Lstat(path) })
}

func plain(path string, look func() (fs.FileInfo, error)) error {
	info, err := look()
	if err != nil {
		return Error(err, path)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		err = errors.New("it is a symbolic link, which is not followed; remove it")
	default:
		err = fmt.Errorf("it is %s, not a file; remove it", Kind(mode))
	}
	return pathError{path, err}
}

// Kind is what lies somewhere that is no file, for people: "a directory".
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "something else"
}

// pathError is an error about a file, with its path once, cleaned, at the front.
type pathError struct {
	path string
	err  error
}

func (e pathError) Error() string { return monitor.Clean(e.path) + ": " + e.err.Error() }
func (e pathError) Unwrap() error { return e.err }

// Error says the path of a system's error once, cleaned, at the front: that of
// the error where it has one, else path.
func Error(err error, path string) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		path = pathErr.Path
	}
	return pathError{path, Cause(err)}
}

// Cause is an error of this package or of the system without the names of files, where
// they are said otherwise, or one is only for a moment.
func Cause(err error) error {
	var ours pathError
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &ours):
		return ours.err
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}

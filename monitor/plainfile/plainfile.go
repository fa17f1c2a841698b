// Package plainfile opens, reads, replaces and locks files of ours in directories
// where somebody may have put something else in their place: it follows no
// symbolic link, waits for no pipe, and takes nothing but a regular file.
//
// What is in the files, and whether their directory is private, is the business of
// others. Files of other programs are app/setup/foreignfile's.
package plainfile

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
	if err := CheckOpened(f, path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check refuses what lies at path when it is anything but a file. The error
// wraps fs.ErrNotExist when nothing lies there.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return Error(err, path)
	}
	return plain(info, path)
}

// CheckOpened is Check for what was opened at path.
func CheckOpened(file interface{ Stat() (fs.FileInfo, error) }, path string) error {
	info, err := file.Stat()
	if err != nil {
		return Error(err, path)
	}
	return plain(info, path)
}

func plain(info fs.FileInfo, path string) error {
	what := "not a file"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link, which is not followed"
	case mode.IsDir():
		what = "a directory, not a file"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe, not a file"
	case mode&fs.ModeDevice != 0:
		what = "a device, not a file"
	case mode&fs.ModeSocket != 0:
		what = "a socket, not a file"
	}
	return fmt.Errorf("%s: it is %s; remove it", monitor.Clean(path), what)
}

// Error says the path of a system's error once, cleaned, at the front: that of
// the error where it has one, else path.
func Error(err error, path string) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		path, err = pathErr.Path, pathErr.Err
	}
	return fmt.Errorf("%s: %w", monitor.Clean(path), err)
}

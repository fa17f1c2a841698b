//go:build unix

package installer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"lamplighter/monitor/statefile"
)

// isFull reports whether there is no room for a file, for this user.
func isFull(err error) bool { return errors.Is(err, syscall.EDQUOT) }

// setAside moves a file or link to where nothing lies. A file stays at its path
// as well, until another is put there, so that there is no moment without one.
func setAside(path, aside string, replaced bool) error {
	if info, err := os.Lstat(path); replaced && err == nil && info.Mode().IsRegular() {
		// Where there are no hard links there is such a moment.
		if err := os.Link(path, aside); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return statefile.Rename(path, aside)
}

// putBack moves what setAside took to its path again, over what lies there.
func putBack(aside, path string) error {
	if err := statefile.Rename(aside, path); err != nil {
		return err
	}
	// Renaming one of two names of the same file does nothing. Source: POSIX,
	// rename().
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// discard removes what was set aside.
func discard(aside string) error { return os.Remove(aside) }

//go:build unix

package installer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow is the flag that makes opening fail where a link lies.
const noFollow = unix.O_NOFOLLOW

// openShared opens a file for reading so that others can still rename it.
func openShared(path string) (*os.File, error) { return os.Open(path) }

// rename is os.Rename.
func rename(from, to string) error { return os.Rename(from, to) }

// isFull tells whether there is no room for a file, for this user.
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
	return rename(path, aside)
}

// putBack moves what setAside took to its path again, over what lies there.
func putBack(aside, path string) error {
	if err := rename(aside, path); err != nil {
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

// syncDir has the names in a directory written to the disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) { // where directories cannot be synced
		return err
	}
	return nil
}

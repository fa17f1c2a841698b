package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// noFollow makes opening take a symbolic link for what it is, so that it is
// found out.
const noFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// OpenShared opens a file for reading, whatever it is and through links, so that
// others can still rename and remove it.
func OpenShared(path string) (*os.File, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: Cause(err)}
	}
	return openIn(target, os.O_RDONLY, 0)
}

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return openIn(path, flag|noFollow, perm)
}

// openIn is os.OpenFile, except that others can still rename and remove the
// file, as elsewhere: os.OpenFile does not share that right, as an os.Root does, so
// that a reader would be in the way of whoever sets a log aside, and he in the way of
// a writer.
func openIn(path string, flag int, perm fs.FileMode) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := dir.OpenFile(filepath.Base(path), flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: Cause(err)}
	}
	return file, nil
}

// How long a file is tried that somebody else has open, and how often.
const (
	againFor   = 2 * time.Second
	againEvery = 10 * time.Millisecond
)

// again does something to a file, and does it again while somebody who has it
// open is in the way.
func again(do func() error) error {
	deadline := time.Now().Add(againFor)
	for {
		err := do()
		if !isHeld(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(againEvery)
	}
}

// isHeld reports whether somebody may have the file open. To replace one that is
// open Windows calls an access that is denied, and one that was removed while it
// was open lies in its directory until it is closed.
func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY)
}

// Owner is -1: files are protected by access lists.
func Owner(fs.FileInfo) int { return -1 }

// SyncDir does nothing: NTFS keeps its own journal of names.
func SyncDir(string) error { return nil }

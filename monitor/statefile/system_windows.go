package statefile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// noFollow makes opening take a symbolic link for what it is, so that it is
// found out.
const noFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// OpenShared opens a file for reading, whatever it is and through links, so that
// others can still rename and remove it.
func OpenShared(path string) (*os.File, error) { return shared(path, os.O_RDONLY) }

func open(path string, flag int, _ fs.FileMode) (*os.File, error) {
	return shared(path, flag|noFollow)
}

// shared is os.OpenFile, except that others can still rename and remove the
// file, as elsewhere: os.OpenFile does not share that right, so that a reader
// would be in the way of whoever sets a log aside, and he in the way of a
// writer.
func shared(path string, flag int) (*os.File, error) {
	access := uint32(windows.GENERIC_READ)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	}
	if flag&os.O_APPEND != 0 {
		// All that the right to write consists of, but for writing elsewhere
		// than at the end.
		access &^= windows.GENERIC_WRITE
		access |= windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES | windows.FILE_WRITE_EA |
			windows.STANDARD_RIGHTS_WRITE | windows.SYNCHRONIZE
	}
	create := uint32(windows.OPEN_EXISTING)
	switch flag & (os.O_CREATE | os.O_EXCL) {
	case os.O_CREATE:
		create = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_EXCL:
		create = windows.CREATE_NEW
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, access, share, nil, create, windows.FILE_ATTRIBUTE_NORMAL|uint32(flag&noFollow), 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(h), path)
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// How long a file is tried that somebody else has open, and how often.
const (
	againFor   = 2 * time.Second
	againEvery = 10 * time.Millisecond
)

// again does something to a file, and does it again while somebody who has it
// open is in the way.
func again(do func() error) error {
	deadline := time.NewTimer(againFor)
	defer deadline.Stop()
	tick := time.NewTicker(againEvery)
	defer tick.Stop()
	for {
		err := do()
		if !isHeld(err) {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return err
		}
	}
}

// isHeld reports whether somebody may have the file open. To replace one that is
// open Windows calls an access that is denied, and one that was removed while it
// was open lies in its directory until it is closed.
func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY)
}

// SyncDir does nothing: NTFS keeps its own journal of names.
func SyncDir(string) error { return nil }

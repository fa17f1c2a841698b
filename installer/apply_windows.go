package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// noFollow is no flag here: what lies there is looked at before and after.
const noFollow = 0

// isFull tells whether there is no room for a file.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// openShared opens a file for reading so that others can still rename it, which
// os.Open does not.
func openShared(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// How long somebody who reads a file is waited for, such as a scanner of what is
// new, and how often it is tried.
const (
	sharingTime  = 2 * time.Second
	sharingEvery = 20 * time.Millisecond
)

// rename is os.Rename, which waits for those who have one of the files open. Of a
// file that is to be replaced Windows then says that access is denied.
func rename(from, to string) error {
	tick := time.NewTicker(sharingEvery)
	defer tick.Stop()
	for end := time.Now().Add(sharingTime); ; <-tick.C {
		err := os.Rename(from, to)
		open := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) && isPlain(to)
		if !open || time.Now().After(end) {
			return err
		}
	}
}

// setAside moves a file or link to where nothing lies. That can be done to a
// program that runs, which can be neither replaced nor removed.
func setAside(path, aside string, _ bool) error { return rename(path, aside) }

// putBack moves what setAside took to its path again, over what lies there.
func putBack(aside, path string) error {
	err := rename(aside, path)
	if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return err
	}
	// What lies there may be a program that runs.
	if err := discard(path); err != nil {
		return err
	}
	return rename(aside, path)
}

// discard removes what was set aside. A program that runs is moved to where the
// system keeps what is thrown away, when that is on the same disk.
func discard(aside string) error {
	name := strings.Trim(filepath.Base(aside), ".")
	if thrown, err := filepath.Glob(filepath.Join(os.TempDir(), name+"-*")); err == nil {
		for _, path := range thrown {
			_ = os.Remove(path) // what still runs stays
		}
	}
	err := os.Remove(aside)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := range 100 {
		thrown := filepath.Join(os.TempDir(), fmt.Sprintf("%s-%d-%d", name, os.Getpid(), n))
		if _, there := os.Lstat(thrown); !errors.Is(there, fs.ErrNotExist) {
			continue
		}
		if rename(aside, thrown) == nil {
			return nil
		}
		break
	}
	return err
}

// syncDir does nothing: NTFS keeps its own journal of names.
func syncDir(string) error { return nil }

package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"lamplighter/monitor/statefile"
)

// isFull reports whether there is no room for a file.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// setAside moves a file or link to where nothing lies. That can be done to a
// program that runs, which can be neither replaced nor removed.
func setAside(path, aside string, _ bool) error { return statefile.Rename(path, aside) }

// putBack moves what setAside took to its path again, over what lies there.
func putBack(aside, path string) error {
	err := statefile.Rename(aside, path)
	if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return err
	}
	// What lies there may be a program that runs.
	if err := discard(path); err != nil {
		return err
	}
	return statefile.Rename(aside, path)
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
		if statefile.Rename(aside, thrown) == nil {
			return nil
		}
		break
	}
	return err
}

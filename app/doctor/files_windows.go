package doctor

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

func isPipe(path string) bool { return strings.HasPrefix(path, `\\.\pipe\`) }

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// writable reports whether files can be made in a directory, without making one: it
// is opened with the right to.
func writable(dir string) error {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const addFile = 0x2 // FILE_ADD_FILE of winnt.h
	h, err := windows.CreateFile(name, addFile, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

func freeSpace(dir string) space {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return space{err: err}
	}
	var s space
	s.err = windows.GetDiskFreeSpaceEx(name, &s.bytes, nil, nil)
	return s
}

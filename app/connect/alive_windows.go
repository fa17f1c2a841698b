package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockedBytes is how much of the file is locked, from its start on.
const lockedBytes = 1

// lockShared waits until nobody holds the lock exclusively.
func lockShared(f *os.File) error { return lock(f, 0) }

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, lockedBytes, 0, &windows.Overlapped{})
}

// isHeld reports whether somebody holds the lock exclusively.
func isHeld(f *os.File) bool {
	err := lock(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == nil {
		unlock(f)
	}
	return err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING
}

func lock(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, lockedBytes, 0, &windows.Overlapped{})
}

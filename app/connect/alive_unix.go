//go:build unix

package main

import (
	"os"
	"syscall"
)

// lockShared waits until nobody holds the lock exclusively.
func lockShared(f *os.File) error { return lock(f, syscall.LOCK_SH) }

func unlock(f *os.File) { _ = lock(f, syscall.LOCK_UN) }

// isHeld reports whether somebody holds the lock exclusively.
func isHeld(f *os.File) bool {
	err := lock(f, syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		unlock(f)
	}
	return err == syscall.EWOULDBLOCK
}

func lock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

package daemon

import "golang.org/x/sys/unix"

// keepDescriptors keeps what we have inherited from what we start: the lock of a
// script that started us would otherwise be held for as long as a server runs.
// Before Linux 5.11 that cannot be done at once, and is left.
func keepDescriptors() {
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
}

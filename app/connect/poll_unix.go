//go:build unix

package main

import "golang.org/x/sys/unix"

const (
	readable = unix.POLLIN
	writable = unix.POLLOUT
)

// waitFor waits until a descriptor is ready, or has an error.
func waitFor(fd int, events int16) { _, _ = poll(fd, events, -1) }

// hasHungUp reports whether whoever writes to a descriptor has closed it, even
// when not all of that is read.
func hasHungUp(fd int) bool {
	got, err := poll(fd, 0, 0)
	return err == nil && got&(unix.POLLHUP|unix.POLLERR) != 0
}

func poll(fd int, events int16, milliseconds int) (int16, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		_, err := unix.Poll(fds, milliseconds)
		if err != unix.EINTR {
			return fds[0].Revents, err
		}
	}
}

func inputClosed() bool { return hasHungUp(0) }

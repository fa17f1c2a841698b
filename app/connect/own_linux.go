package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// hungUp is what to wait for when only the end of the other side counts. A
// client that uses sockets may close only that half.
const hungUp = unix.POLLRDHUP

// watchShim does nothing: the system sends us SIGTERM.
func watchShim(int, func()) {}

// waitProcess waits until our parent has ended. It is false where there is none
// to wait for, because it is not visible or the system is too old.
func waitProcess(parent int) bool {
	if parent <= 0 {
		return false
	}
	fd, err := unix.PidfdOpen(parent, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(fd)
	if os.Getppid() == parent { // it is not another process
		waitFor(fd, readable)
	}
	return true
}

// serverBelow is the process that serves, when wrappers such as uvx or npx have
// started it: those pass on our standard input, and have no other child. It is
// the zero proc when there is no such thing.
func serverBelow() proc {
	f := newFamily()
	input, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return proc{}
	}
	var found proc
	for next := f.children(self()); len(next) == 1; next = f.children(found) {
		link, err := os.Readlink("/proc/" + strconv.Itoa(next[0].pid) + "/fd/0")
		if err != nil || link != input {
			break
		}
		found = next[0]
	}
	return found
}

//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var (
	terminateSignal os.Signal = syscall.SIGTERM
	suspendSignal   os.Signal = syscall.SIGSTOP
	continueSignal  os.Signal = syscall.SIGCONT
)

// isOver asks a pidfd, which is readable when the last thread has ended.
func isOver(pidfd uintptr) bool {
	n, err := retry(func() (int, error) {
		return unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	})
	return err == nil && n > 0
}

// retry repeats a call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

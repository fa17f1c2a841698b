//go:build unix

package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// LeadsSession reports whether a process is the leader of a session of its own.
func LeadsSession(pid int) (bool, error) {
	session, err := unix.Getsid(pid)
	if errors.Is(err, unix.ESRCH) {
		return false, gone(pid)
	}
	if err != nil {
		return false, fmt.Errorf("reading the session of process %d: %w", pid, err)
	}
	return session == pid, nil
}

package launch

import (
	"errors"

	"golang.org/x/sys/unix"
)

func awaitUnreaped(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	var event unix.Kevent_t
	unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	event.Fflags = unix.NOTE_EXIT
	for add := []unix.Kevent_t{event}; ; add = nil {
		n, err := unix.Kevent(queue, add, make([]unix.Kevent_t, 1), nil)
		switch {
		case errors.Is(err, unix.ESRCH):
			return nil // it ended before
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n > 0:
			return nil
		}
	}
}

// killMarked does nothing: macOS shows no environments. What leaves the group
// there stays.
func killMarked(string) {}

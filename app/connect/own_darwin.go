package main

import "golang.org/x/sys/unix"

// hungUp is what to wait for when only the end of the other side counts.
const hungUp = unix.POLLHUP

// watchShim calls gone when the shim above us has ended, which it may have
// before we could ask who it is.
func watchShim(shim int, gone func()) {
	const launchd = 1
	if shim == launchd || waitProcess(shim) {
		gone()
	}
}

// waitProcess waits until our parent has ended. It is false when that cannot be
// watched.
func waitProcess(parent int) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, parent, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil); err != nil {
		return err == unix.ESRCH
	}
	for {
		var events [1]unix.Kevent_t
		if n, err := unix.Kevent(queue, nil, events[:], nil); err != unix.EINTR {
			return n > 0
		}
	}
}

// serverBelow is not known: a descriptor's name says nothing here.
func serverBelow() proc { return proc{} }

package main

import (
	"golang.org/x/sys/unix"
)

// checkPeer refuses what another user listens to.
func checkPeer(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	return checkUID(peer.Uid)
}

// watchOutput calls gone when nobody reads our output any more, though nothing
// is written. It returns where that cannot be known.
func watchOutput(gone func()) {
	var s unix.Stat_t
	if unix.Fstat(1, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO && s.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return
	}
	if got, err := poll(1, 0, -1); err == nil && got&(unix.POLLHUP|unix.POLLERR) != 0 {
		gone()
	}
}

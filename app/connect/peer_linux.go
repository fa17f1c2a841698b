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

// runs tells that who listens is seen to run: it is not suspended. Who only made
// the socket, as systemd does, counts for who serves it.
func (s socket) runs() bool {
	peer, err := unix.GetsockoptUcred(s.fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return false
	}
	who, ok := readStat(int(peer.Pid))
	return ok && !who.suspended
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

package main

import "golang.org/x/sys/unix"

// checkPeer refuses what another user listens to.
func checkPeer(fd int) error {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return err
	}
	return checkUID(peer.Uid)
}

// watchOutput does nothing: a write tells in time.
func watchOutput(func()) {}

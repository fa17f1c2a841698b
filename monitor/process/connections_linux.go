package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func listeningEnds(pids []int) ([]tcpEnd, error) {
	all, err := tcpSockets(tcpListen)
	if err != nil {
		return nil, err
	}
	return system().withHolders(all, pids)
}

// connectedEnds are both ends of the connections to a port.
func connectedEnds(port int) ([]tcpEnd, error) {
	all, err := tcpSockets(tcpEstablished)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s tcpEnd) bool { return int(s.local.Port()) != port && int(s.remote.Port()) != port })
	proc := system()
	var pids []int
	if len(all) > 0 {
		if pids, err = list(proc.root); err != nil {
			return nil, fmt.Errorf("listing %s: %w", proc.root, err)
		}
	}
	return proc.withHolders(all, pids)
}

// withHolders adds to sockets an end for each of some processes that has one of them
// open. Processes that are gone or hidden from us have none.
func (p procfs) withHolders(all []tcpEnd, pids []int) ([]tcpEnd, error) {
	at := make(map[uint64][]tcpEnd)
	for _, s := range all {
		at[uint64(s.inode)] = append(at[uint64(s.inode)], s)
	}
	for _, pid := range pids {
		held, err := p.sockets(pid)
		if err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		for _, inode := range held {
			for _, s := range at[inode] {
				s.pid = pid
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// sockets are the inodes of those that a process has open, once for each descriptor. Who has
// one is asked of each server in turn, so that no more is read than that.
func (p procfs) sockets(pid int) (inodes []uint64, err error) {
	dir, err := openAt(unix.AT_FDCWD, p.path(pid, "/fd"), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, p.failed("listing the descriptors of", pid, err)
	}
	defer unix.Close(dir)
	err = links(dir, func(_ int, socket bool, inode uint64) error {
		if socket {
			inodes = append(inodes, inode)
		}
		return nil
	})
	if err != nil {
		return nil, p.failed("listing the descriptors of", pid, err)
	}
	return inodes, nil
}

// PeerIsOurs reports whether the other end of a connection within this machine is
// open in a process of our user: local and remote are our end's addresses. The
// error is fs.ErrNotExist when there is no such end here, and ErrGone when its
// owner has closed it.
func PeerIsOurs(local, remote netip.AddrPort) (bool, error) {
	peer, err := peerOf(plain(local), plain(remote))
	if err == nil && peer.inode == 0 { // then its user means nothing either
		err = ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("looking for the owner of %v: %w", remote, err)
	}
	return int(peer.uid) == os.Getuid(), nil
}

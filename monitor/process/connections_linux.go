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
	return system().ends(all, listening, pids)
}

// connectedEnds are both ends of the connections to a port.
func connectedEnds(port int) ([]tcpEnd, error) {
	all, err := tcpSockets(tcpEstablished)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s tcpSocket) bool { return int(s.local.Port()) != port && int(s.remote.Port()) != port })
	proc := system()
	var pids []int
	if len(all) > 0 {
		if pids, err = list(unix.AT_FDCWD, proc.root); err != nil {
			return nil, fmt.Errorf("listing %s: %w", proc.root, err)
		}
	}
	return proc.ends(all, established, pids)
}

// ends are sockets with those of some processes that have them open.
func (p procfs) ends(all []tcpSocket, status string, pids []int) (ends []tcpEnd, err error) {
	wanted := make(map[uint32]bool)
	for _, s := range all {
		wanted[s.inode] = s.inode != 0
	}
	owners, err := p.holders(pids, wanted)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		pids := owners[s.inode]
		if len(pids) == 0 {
			pids = []int{0}
		}
		for _, pid := range pids {
			ends = append(ends, tcpEnd{s.local, s.remote, status, pid})
		}
	}
	return ends, nil
}

// holders finds out which of some processes have these sockets open. Processes
// that are gone or hidden from us have none.
func (p procfs) holders(pids []int, wanted map[uint32]bool) (map[uint32][]int, error) {
	owners := make(map[uint32][]int)
	for _, pid := range pids {
		var sockets []end
		o, err := p.open(pid)
		if err == nil {
			sockets, err = o.ends(SocketPair)
			o.close()
		}
		if err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		for _, e := range sockets {
			inode := uint32(e.inode)
			if wanted[inode] && !slices.Contains(owners[inode], pid) {
				owners[inode] = append(owners[inode], pid)
			}
		}
	}
	return owners, nil
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

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
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
		if pids, err = list(proc.root, make([]byte, listing)); err != nil {
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
		o, err := p.open(pid)
		if err == nil {
			var ends []end
			ends, err = o.endsOf(true)
			o.close()
			for _, e := range ends {
				for _, s := range at[e.inode] {
					if e.socket {
						s.pid = pid
						all = append(all, s)
					}
				}
			}
		}
		if err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
	}
	return all, nil
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

//go:build windows || darwin

package process

import (
	"fmt"
	"io/fs"
	"net/netip"
)

// Connections returns the established TCP connections whose end on this machine
// has that port, sorted by the far end. Of processes that share the far end,
// one is named: on macOS the one that used it last.
func Connections(port int) ([]Connection, error) {
	if err := checkPort(port); err != nil {
		return nil, err
	}
	table, err := tcpTable()
	if err != nil {
		return nil, fmt.Errorf("listing the connections to port %d: %w", port, err)
	}
	return connectionsIn(table, port), nil
}

// PeerIsOurs tells whether the other end of a connection within this machine is
// open in a process of our user: local and remote are our end's addresses. The
// error is fs.ErrNotExist when there is no such end here.
func PeerIsOurs(local, remote netip.AddrPort) (bool, error) {
	ours, err := peerIsOurs(local, remote)
	if err != nil {
		return false, fmt.Errorf("looking for the owner of %v: %w", remote, err)
	}
	return ours, nil
}

func peerIsOurs(local, remote netip.AddrPort) (bool, error) {
	table, err := tcpTable()
	if err != nil {
		return false, err
	}
	for _, e := range table {
		if e.local == plain(remote) && e.remote == plain(local) {
			return e.isOurs()
		}
	}
	return false, fs.ErrNotExist
}

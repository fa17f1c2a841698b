package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Listeners returns the TCP addresses on which these processes listen, sorted
// by port. A socket that several of them share is listed for each. Processes
// that are gone or hidden from us have none.
//
// Sockets are joined by inode, so a process in another network namespace has no
// listeners unless it holds a socket of ours, which we can reach.
func Listeners(pids []int) ([]Listener, error) {
	if len(pids) == 0 {
		return nil, nil
	}
	all, err := tcpSockets(tcpListen)
	if err != nil {
		return nil, fmt.Errorf("listing the listening sockets: %w", err)
	}
	wanted := make(map[uint32]bool)
	for _, s := range all {
		wanted[s.inode] = true
	}
	owners, err := system().holders(pids, wanted)
	if err != nil {
		return nil, err
	}
	var found []Listener
	for _, s := range all {
		for _, pid := range owners[s.inode] {
			found = append(found, Listener{PID: pid, Addr: s.local})
		}
	}
	return sortListeners(found), nil
}

// Connections returns the established TCP connections whose end on this machine
// has that port, sorted by the far end. One that nobody has accepted yet counts
// too. A far end on this machine that several processes share is listed for
// each of them.
//
// One call reads the descriptors of every process of ours that it may look at,
// so it is for an order to end something, not for each tick. It knows our own network
// namespace only: a server in a container has no connections here.
func Connections(port int) ([]Connection, error) {
	if err := checkPort(port); err != nil {
		return nil, err
	}
	all, err := tcpSockets(tcpEstablished)
	if err != nil {
		return nil, fmt.Errorf("listing the connections to port %d: %w", port, err)
	}
	type way struct{ from, to netip.AddrPort }
	inodes := make(map[way]uint32)
	for _, s := range all {
		if s.inode != 0 {
			inodes[way{s.local, s.remote}] = s.inode
		}
	}
	near := slices.DeleteFunc(all, func(s tcpSocket) bool { return int(s.local.Port()) != port })
	wanted := make(map[uint32]bool)
	for _, s := range near {
		if inode := inodes[way{s.remote, s.local}]; inode != 0 {
			wanted[inode] = true
		}
	}
	proc := system()
	var pids []int
	if len(wanted) > 0 {
		if err := list(proc.root, make([]byte, pidListing), func(n int) { pids = append(pids, n) }); err != nil {
			return nil, fmt.Errorf("listing %s: %w", proc.root, err)
		}
	}
	owners, err := proc.holders(pids, wanted)
	if err != nil {
		return nil, err
	}
	var found []Connection
	for _, s := range near {
		pids := owners[inodes[way{s.remote, s.local}]]
		if len(pids) == 0 {
			pids = []int{0}
		}
		for _, pid := range pids {
			found = append(found, Connection{PID: pid, Peer: s.remote})
		}
	}
	return sortConnections(found), nil
}

// holders finds out which of some processes have these sockets open. Processes
// that are gone or hidden from us have none.
func (p procfs) holders(pids []int, wanted map[uint32]bool) (map[uint32][]int, error) {
	owners := make(map[uint32][]int)
	buf := make([]byte, 4096)
	var link [64]byte
	for _, pid := range pids {
		dir, err := openAt(unix.AT_FDCWD, p.path(pid, "/fd"), unix.O_RDONLY|unix.O_DIRECTORY)
		if err == nil {
			err = numbers(dir, buf, func(fd int) {
				n, err := unix.Readlinkat(dir, strconv.Itoa(fd), link[:])
				if err != nil {
					return
				}
				kind, inode, ok := parseEndLink(link[:n])
				if ok && kind == SocketPair && wanted[uint32(inode)] && !slices.Contains(owners[uint32(inode)], pid) {
					owners[uint32(inode)] = append(owners[uint32(inode)], pid)
				}
			})
			unix.Close(dir)
		}
		if err != nil {
			err = p.failed("listing the descriptors of", pid, err)
			if !errors.Is(err, ErrGone) && !errors.Is(err, fs.ErrPermission) {
				return nil, err
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

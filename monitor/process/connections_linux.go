package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
	fs := system()
	near, far, err := fs.established(uint16(port))
	if err != nil {
		return nil, err
	}
	type way struct{ from, to netip.AddrPort }
	inodes := make(map[way]uint32)
	for _, s := range far {
		if s.inode != 0 {
			inodes[way{s.local, s.remote}] = s.inode
		}
	}
	wanted := make(map[uint32]bool)
	for _, s := range near {
		if inode := inodes[way{s.remote, s.local}]; inode != 0 {
			wanted[inode] = true
		}
	}
	owners, err := fs.holders(wanted)
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

// established lists both ends of all connections to a port.
func (p procfs) established(port uint16) (near, far []tcpSocket, err error) {
	buf := make([]byte, diagBuffer)
	all, err := p.tcpSockets(&buf, dumpConnections(port), func(s tcpSocket) bool { return s.state == tcpEstablished })
	if err != nil {
		return nil, nil, fmt.Errorf("listing the connections to port %d: %w", port, err)
	}
	for _, s := range all {
		if s.local.Port() == port {
			near = append(near, s)
		}
		if s.remote.Port() == port {
			far = append(far, s)
		}
	}
	return near, far, nil
}

// holders finds out which processes have these sockets open.
func (p procfs) holders(wanted map[uint32]bool) (map[uint32][]int, error) {
	owners := make(map[uint32][]int)
	if len(wanted) == 0 {
		return owners, nil
	}
	buf := make([]byte, 16<<10)
	var pids []int
	if err := list(p.root, buf, func(n int) { pids = append(pids, n) }); err != nil {
		return nil, fmt.Errorf("listing %s: %w", p.root, err)
	}
	for _, pid := range pids {
		dir, err := retry(func() (int, error) {
			return unix.Open(p.path(pid, "/fd"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		})
		if err != nil {
			continue // gone, or not ours to look at
		}
		seen := make(map[uint32]bool)
		var link [64]byte
		// One that ends meanwhile has nothing open.
		_ = numbers(dir, buf, func(fd int) {
			n, err := unix.Readlinkat(dir, strconv.Itoa(fd), link[:])
			if err != nil {
				return
			}
			if inode, ok := parseSocketLink(link[:n]); ok && wanted[inode] && !seen[inode] {
				seen[inode] = true
				owners[inode] = append(owners[inode], pid)
			}
		})
		unix.Close(dir)
	}
	return owners, nil
}

// peerUser returns the user who owns the other end of a connection within this
// machine, and the inode of that end: local and remote are our end's addresses.
// An end that its owner has closed has inode 0, and then the user, shown as 0,
// means nothing. The error is fs.ErrNotExist when there is no such end here.
//
// Source: sock_diag(7), a question for one exact connection.
func peerUser(local, remote netip.AddrPort) (uid int, inode uint64, err error) {
	d, err := openDiag(make([]byte, diagBuffer))
	if err != nil {
		return 0, 0, err
	}
	defer d.close()
	s, err := d.peer(plain(local), plain(remote))
	if errors.Is(err, unix.ENOENT) {
		return 0, 0, fmt.Errorf("looking for the owner of %v: %w", remote, err)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("asking sock_diag for the owner of %v: %w", remote, err)
	}
	return int(s.uid), uint64(s.inode), nil
}

// peer asks for the end that is at remote and is connected with local.
func (d *diagSocket) peer(local, remote netip.AddrPort) (tcpSocket, error) {
	family := uint8(unix.AF_INET)
	if local.Addr().Is6() {
		family = unix.AF_INET6
	}
	req := tcpRequest(family)
	id := req[requestSource:]
	binary.BigEndian.PutUint16(id, remote.Port())
	binary.BigEndian.PutUint16(id[sockidTo:], local.Port())
	copy(id[sockidFrom:], remote.Addr().AsSlice())
	copy(id[sockidAddrTo:], local.Addr().AsSlice())
	binary.NativeEndian.PutUint64(id[sockidCookie:], ^uint64(0)) // whatever its cookie
	binary.NativeEndian.PutUint32(req[requestStates:], ^uint32(0))
	var found tcpSocket
	err := d.one(req, func(b []byte) {
		// Where there is no such connection the kernel shows a socket that
		// listens there, or one that is only about to connect from there: the end
		// that was there before has gone without a word.
		if s, ok := parseTCPDiag(b); ok && s.state != tcpListen && s.state != tcpConnecting && s.local == remote && s.remote == local {
			found = s
		}
	})
	if err == nil && !found.local.IsValid() {
		err = unix.ENOENT
	}
	return found, err
}

// PeerIsOurs tells whether the other end of a connection within this machine is
// open in a process of our user: local and remote are our end's addresses. The
// error is fs.ErrNotExist when there is no such end here, and ErrGone when its
// owner has closed it.
func PeerIsOurs(local, remote netip.AddrPort) (bool, error) {
	uid, inode, err := peerUser(local, remote)
	if err == nil && inode == 0 {
		err = fmt.Errorf("looking for the owner of %v: %w", remote, ErrGone)
	}
	return err == nil && uid == os.Getuid(), err
}

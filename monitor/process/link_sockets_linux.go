package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// struct unix_diag_req and unix_diag_msg of linux/unix_diag.h.
const (
	unixRequest = 24
	unixMessage = 16

	unixShowName = 1 // UDIAG_SHOW_NAME
	unixShowPeer = 4 // UDIAG_SHOW_PEER

	unixName     = 0 // UNIX_DIAG_NAME
	unixPeer     = 2 // UNIX_DIAG_PEER
	unixShutdown = 6 // UNIX_DIAG_SHUTDOWN

	unixConnected   = 1  // TCP_ESTABLISHED of net/tcp_states.h
	unixListens     = 10 // TCP_LISTEN
	shutdownForBoth = 3  // SHUTDOWN_MASK of net/sock.h
)

// unixSocket is what the kernel says about one unix socket.
type unixSocket struct {
	inode    uint32
	stream   bool // SOCK_STREAM, connected
	datagram bool // SOCK_DGRAM
	listens  bool // others may connect to it
	named    bool // it was bound, or accepted from one that was
	paired   bool // it has or had a peer
	peer     uint32
	shutdown uint8
	known    bool // shutdown is known
}

// closed tells whether the peer has been closed by everybody who held it. The
// kernel then shows inode 0; so it does for a peer that nobody has accepted
// yet, which is not shut down.
func (s unixSocket) closed() bool {
	return s.paired && s.peer == 0 && (!s.known || s.shutdown == shutdownForBoth)
}

// unixSockets asks about unix sockets by inode and remembers the answers.
type unixSockets struct {
	diag  *diagSocket
	asked map[uint64]*unixSocket // nil: no unix socket
}

func (u *unixSockets) close() {
	if u.diag != nil {
		u.diag.close()
	}
}

// lookup asks about one socket; false means that it is of another kind. An
// error wraps errors.ErrUnsupported where the kernel does not list unix sockets
// (CONFIG_UNIX_DIAG).
func (u *unixSockets) lookup(inode uint64) (unixSocket, bool, error) {
	if s, ok := u.asked[inode]; ok {
		if s == nil {
			return unixSocket{}, false, nil
		}
		return *s, true, nil
	}
	if u.diag == nil {
		d, err := openDiag(make([]byte, diagBuffer))
		if err != nil {
			return unixSocket{}, false, err
		}
		u.diag, u.asked = d, make(map[uint64]*unixSocket)
		if err := u.works(); err != nil {
			return unixSocket{}, false, err
		}
	}
	s, err := u.ask(inode)
	if errors.Is(err, unix.ENOENT) {
		u.asked[inode] = nil
		return unixSocket{}, false, nil
	}
	if err != nil {
		return unixSocket{}, false, fmt.Errorf("asking sock_diag about socket %d: %w", inode, err)
	}
	u.asked[inode] = &s
	return s, true, nil
}

func (u *unixSockets) ask(inode uint64) (unixSocket, error) {
	if inode == 0 || inode > 1<<32-1 {
		return unixSocket{}, unix.ENOENT
	}
	var req [unixRequest]byte
	order := binary.NativeEndian
	req[0] = unix.AF_UNIX
	order.PutUint32(req[4:], ^uint32(0)) // any state
	order.PutUint32(req[8:], uint32(inode))
	order.PutUint32(req[12:], unixShowName|unixShowPeer)
	order.PutUint64(req[16:], ^uint64(0)) // whatever its cookie
	var s unixSocket
	err := u.diag.one(req[:], func(b []byte) {
		if got, ok := parseUnixDiag(b); ok && uint64(got.inode) == inode {
			s = got
		}
	})
	if err == nil && s.inode == 0 {
		err = unix.ENOENT
	}
	return s, err
}

// works makes sure that "no such socket" means that: a kernel that does not
// list unix sockets says the same about all of them.
func (u *unixSockets) works() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	var st unix.Stat_t
	if err := unix.Fstat(pair[0], &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	_, err = u.ask(st.Ino)
	if errors.Is(err, unix.ENOENT) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		u.asked = nil
		u.close()
		u.diag = nil
		return fmt.Errorf("asking sock_diag about unix sockets: %w", err)
	}
	return nil
}

// parseUnixDiag reads struct unix_diag_msg and its attributes.
func parseUnixDiag(b []byte) (unixSocket, bool) {
	if len(b) < unixMessage || b[0] != unix.AF_UNIX {
		return unixSocket{}, false
	}
	order := binary.NativeEndian
	s := unixSocket{
		inode:    order.Uint32(b[4:]),
		stream:   b[1] == unix.SOCK_STREAM && b[2] == unixConnected,
		datagram: b[1] == unix.SOCK_DGRAM, listens: b[2] == unixListens,
	}
	for b = b[unixMessage:]; len(b) >= 4; {
		size, kind := int(order.Uint16(b)), order.Uint16(b[2:])
		if size < 4 || size > len(b) {
			return unixSocket{}, false
		}
		value := b[4:size]
		switch {
		case kind == unixName:
			s.named = true
		case kind == unixPeer && len(value) >= 4:
			s.paired, s.peer = true, order.Uint32(value)
		case kind == unixShutdown && len(value) >= 1:
			s.known, s.shutdown = true, value[0]
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return s, s.inode != 0
}

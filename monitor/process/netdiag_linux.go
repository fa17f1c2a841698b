package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// States of net/tcp_states.h, which unix sockets have as well.
const (
	tcpEstablished = 1
	tcpConnecting  = 2 // TCP_SYN_SENT
	tcpListen      = 10
)

// askDiag asks the kernel about sockets and returns its answers, see sock_diag(7).
// Without NLM_F_DUMP the question is about one socket, and the error is ENOENT when
// there is no such one.
func askDiag(question any, flags uint16) (answers [][]byte, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("opening a sock_diag socket: %w", err)
	}
	defer unix.Close(fd)
	header := unix.NlMsghdr{
		Len:  uint32(unix.SizeofNlMsghdr + binary.Size(question)),
		Type: unix.SOCK_DIAG_BY_FAMILY, Flags: unix.NLM_F_REQUEST | flags,
	}
	var message bytes.Buffer
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}),
		binary.Write(&message, binary.NativeEndian, header), binary.Write(&message, binary.NativeEndian, question))
	if err == nil {
		err = unix.Sendto(fd, message.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	for done := false; err == nil && !done; {
		var n int
		n, err = retry(func() (int, error) { return unix.Read(fd, buf[:]) }) // nobody but the kernel may send to it
		if err == nil {
			var more [][]byte
			more, done, err = parseAnswers(buf[:n])
			answers = append(answers, more...)
			done = done || flags&unix.NLM_F_DUMP == 0 && len(answers) > 0
		}
	}
	return answers, err
}

// parseAnswers reads one datagram of answers. done means that it held the end of the
// list.
func parseAnswers(b []byte) (answers [][]byte, done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(b)
	for _, m := range messages {
		switch m.Header.Type {
		case unix.NLMSG_DONE, unix.NLMSG_ERROR:
			if len(m.Data) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(m.Data)); code < 0 {
					err = unix.Errno(-code)
				}
			}
			return answers, true, err
		case unix.SOCK_DIAG_BY_FAMILY:
			answers = append(answers, bytes.Clone(m.Data))
		}
	}
	return answers, false, err
}

// inetSockID is struct inet_diag_sockid of linux/inet_diag.h.
type inetSockID struct {
	Port, RemotePort [2]byte // the higher byte first
	Addr, RemoteAddr [16]byte
	Interface        uint32
	Cookie           [2]uint32
}

// inetQuestion is struct inet_diag_req_v2.
type inetQuestion struct {
	Family, Protocol, Extensions, Pad uint8
	States                            uint32
	ID                                inetSockID
}

// inetAnswer is struct inet_diag_msg.
type inetAnswer struct {
	Family, State, Timer, Retransmissions        uint8
	ID                                           inetSockID
	Expires, ReceiveQueue, SendQueue, UID, Inode uint32
}

// tcpStatus names the states that matter to us.
var tcpStatus = map[byte]string{tcpEstablished: established, tcpConnecting: connecting, tcpListen: listening}

// tcpSockets lists all sockets of our network namespace in one state. One may be
// listed twice.
func tcpSockets(state byte) (found []tcpEnd, err error) {
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		answers, err := askDiag(inetQuestion{Family: family, Protocol: unix.IPPROTO_TCP, States: 1 << state}, unix.NLM_F_DUMP)
		if err != nil {
			return nil, fmt.Errorf("asking sock_diag: %w", err)
		}
		for _, b := range answers {
			if s, ok := parseTCPDiag(b); ok && s.status == tcpStatus[state] {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// peerOf asks for the end that is at remote and is connected with local. The error
// is ENOENT when there is no such one. To ask for exactly one takes 0.1 ms, to
// list all ends with these ports 5.
func peerOf(local, remote netip.AddrPort) (tcpEnd, error) {
	q := inetQuestion{Family: unix.AF_INET, Protocol: unix.IPPROTO_TCP, States: ^uint32(0)}
	if local.Addr().Is6() {
		q.Family = unix.AF_INET6
	}
	binary.BigEndian.PutUint16(q.ID.Port[:], remote.Port())
	binary.BigEndian.PutUint16(q.ID.RemotePort[:], local.Port())
	copy(q.ID.Addr[:], remote.Addr().AsSlice())
	copy(q.ID.RemoteAddr[:], local.Addr().AsSlice())
	q.ID.Cookie = anyCookie
	answers, err := askDiag(q, 0)
	for _, b := range answers {
		// Where there is no such connection the kernel shows a socket that
		// listens there, or one that is only about to connect from there: the end
		// that was there before has gone without a word.
		if s, ok := parseTCPDiag(b); ok && s.status != listening && s.status != connecting && s.local == remote && s.remote == local {
			return s, nil
		}
	}
	if err == nil {
		err = unix.ENOENT
	}
	return tcpEnd{}, err
}

// anyCookie asks for a socket whatever its cookie is.
var anyCookie = [2]uint32{^uint32(0), ^uint32(0)}

// parseTCPDiag reads one answer about a TCP socket.
func parseTCPDiag(b []byte) (tcpEnd, bool) {
	var a inetAnswer
	if _, err := binary.Decode(b, binary.NativeEndian, &a); err != nil || a.Family != unix.AF_INET && a.Family != unix.AF_INET6 {
		return tcpEnd{}, false
	}
	address := func(raw [16]byte, port [2]byte) netip.AddrPort {
		addr := netip.AddrFrom4([4]byte(raw[:4]))
		if a.Family == unix.AF_INET6 {
			addr = netip.AddrFrom16(raw).Unmap()
		}
		return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(port[:]))
	}
	return tcpEnd{
		local: address(a.ID.Addr, a.ID.Port), remote: address(a.ID.RemoteAddr, a.ID.RemotePort),
		status: tcpStatus[a.State], uid: a.UID, inode: a.Inode,
	}, true
}

// unixQuestion is struct unix_diag_req of linux/unix_diag.h.
type unixQuestion struct {
	Family, Protocol    uint8
	Pad                 uint16
	States, Inode, Show uint32
	Cookie              [2]uint32
}

// unixAnswer is struct unix_diag_msg, after which attributes follow.
type unixAnswer struct {
	Family, Type, State, Pad uint8
	Inode                    uint32
	Cookie                   [2]uint32
}

const (
	unixShowName = 1 // UDIAG_SHOW_NAME
	unixShowPeer = 4 // UDIAG_SHOW_PEER

	unixName     = 0 // UNIX_DIAG_NAME
	unixPeer     = 2 // UNIX_DIAG_PEER
	unixShutdown = 6 // UNIX_DIAG_SHUTDOWN

	shutdownForBoth = 3 // SHUTDOWN_MASK of net/sock.h
)

// unixSocket is what the kernel says about one unix socket.
type unixSocket struct {
	inode    uint32
	stream   bool // SOCK_STREAM, connected
	named    bool // it was bound, or accepted from one that was
	paired   bool // it has or had a peer
	peer     uint32
	shutdown uint8
}

// closed reports whether the peer has been closed by everybody who held it. The
// kernel then shows inode 0; so it does for a peer that nobody has accepted
// yet, which is not shut down.
func (s unixSocket) closed() bool {
	return s.paired && s.peer == 0 && s.shutdown == shutdownForBoth
}

// unixSocketOf asks about a unix socket by its inode; false means that it is of
// another kind, or in another network namespace. The error wraps
// errors.ErrUnsupported where the kernel does not list unix sockets
// (CONFIG_UNIX_DIAG).
func unixSocketOf(inode uint64) (unixSocket, bool, error) {
	if inode == 0 || inode > math.MaxUint32 { // a peer that has not accepted yet; no inode of a socket
		return unixSocket{}, false, nil
	}
	question := unixQuestion{Family: unix.AF_UNIX, States: ^uint32(0), Inode: uint32(inode), Show: unixShowName | unixShowPeer, Cookie: anyCookie}
	answers, err := askDiag(question, 0)
	if errors.Is(err, unix.ENOENT) {
		err = lists(unix.AF_UNIX)
	}
	if err != nil {
		return unixSocket{}, false, fmt.Errorf("asking sock_diag about socket %d: %w", inode, err)
	}
	for _, b := range answers {
		if s, ok := parseUnixDiag(b); ok && uint64(s.inode) == inode {
			return s, true, nil
		}
	}
	return unixSocket{}, false, nil
}

// lists makes sure that "no such socket" means that: a kernel that does not list the
// sockets of a family says the same of all of them. It also says it of a list, here of
// sockets in no state at all.
func lists(family uint8) error {
	_, err := askDiag(unixQuestion{Family: family}, unix.NLM_F_DUMP)
	if errors.Is(err, unix.ENOENT) {
		return errors.ErrUnsupported
	}
	return err
}

// parseUnixDiag reads one answer about a unix socket.
func parseUnixDiag(b []byte) (unixSocket, bool) {
	var a unixAnswer
	n, err := binary.Decode(b, binary.NativeEndian, &a)
	if err != nil || a.Family != unix.AF_UNIX {
		return unixSocket{}, false
	}
	s := unixSocket{inode: a.Inode, stream: a.Type == unix.SOCK_STREAM && a.State == tcpEstablished}
	for b = b[n:]; len(b) >= unix.SizeofNlAttr; {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < unix.SizeofNlAttr || size > len(b) {
			return unixSocket{}, false
		}
		value := b[unix.SizeofNlAttr:size]
		switch {
		case kind == unixName:
			s.named = true
		case kind == unixPeer && len(value) >= 4:
			s.paired, s.peer = true, binary.NativeEndian.Uint32(value)
		case kind == unixShutdown && len(value) >= 1:
			s.shutdown = value[0]
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return s, s.inode != 0
}

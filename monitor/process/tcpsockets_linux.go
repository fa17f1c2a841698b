package process

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// States of net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpConnecting  = 2 // TCP_SYN_SENT
	tcpListen      = 10
)

// Sizes and offsets of sock_diag(7): struct inet_diag_req_v2 and inet_diag_msg
// of linux/inet_diag.h.
const (
	diagRequest   = 56
	requestStates = 4
	requestSource = 8 // struct inet_diag_sockid: ports, addresses, interface, cookie

	sockidTo     = 2
	sockidFrom   = 4
	sockidAddrTo = 20
	sockidCookie = 40

	diagMessage   = 72
	diagPort      = 4
	diagRemoteEnd = 6
	diagAddr      = 8
	diagRemote    = 24
	diagIface     = 40
	diagUID       = 64
	diagInode     = 68
)

// tcpSocket is what the kernel says about one TCP socket.
type tcpSocket struct {
	local, remote netip.AddrPort
	state         byte
	uid           uint32
	inode         uint32 // 0: nobody has it open
}

// listens tells a socket on which somebody takes connections.
func (s tcpSocket) listens() bool { return s.state == tcpListen && s.inode != 0 && s.local.Port() != 0 }

// tcpDump asks the kernel for TCP sockets and calls add with each, perhaps more
// than once.
type tcpDump func(buf []byte, add func(tcpSocket)) error

// tcpSockets lists those of the sockets that dump finds which are wanted. Where
// the kernel does not answer, all are read as text; buf grows as needed.
func (p procfs) tcpSockets(buf *[]byte, dump tcpDump, wanted func(tcpSocket) bool) ([]tcpSocket, error) {
	var found []tcpSocket
	add := func(s tcpSocket) {
		if wanted(s) {
			found = append(found, s)
		}
	}
	err := dump(*buf, add)
	if err == nil {
		return found, nil
	}
	found = nil
	for _, name := range []string{"/net/tcp", "/net/tcp6"} {
		b, textErr := readWhole(p.root+name, buf)
		if errors.Is(textErr, unix.ENOENT) && name == "/net/tcp6" {
			continue // a kernel without IPv6
		}
		if textErr != nil {
			return nil, fmt.Errorf("%w; reading %s%s instead: %w", err, p.root, name, textErr)
		}
		parseNetTCP(b, add)
	}
	return found, nil
}

// dumpListening asks for all listening sockets of our network namespace.
func dumpListening(buf []byte, add func(tcpSocket)) error {
	const any = 0
	return dumpTCP(buf, tcpListen, any, []int{requestSource}, add)
}

// dumpConnections asks for the ends on either side of a port.
func dumpConnections(port uint16) tcpDump {
	return func(buf []byte, add func(tcpSocket)) error {
		return dumpTCP(buf, tcpEstablished, port, []int{requestSource, requestSource + sockidTo}, add)
	}
}

// dumpTCP asks for all sockets in one state that have the port at each of the
// given offsets of the question, one after the other, over one netlink socket
// that lives as long as that takes.
func dumpTCP(buf []byte, state int, port uint16, offsets []int, add func(tcpSocket)) error {
	d, err := openDiag(buf)
	if err != nil {
		return err
	}
	defer d.close()
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		for _, at := range offsets {
			req := tcpRequest(family)
			binary.NativeEndian.PutUint32(req[requestStates:], 1<<state)
			binary.BigEndian.PutUint16(req[at:], port)
			err := d.all(req, func(b []byte) {
				if s, ok := parseTCPDiag(b); ok {
					add(s)
				}
			})
			if err != nil {
				return fmt.Errorf("asking sock_diag: %w", err)
			}
		}
	}
	return nil
}

func tcpRequest(family uint8) []byte {
	req := make([]byte, diagRequest)
	req[0], req[1] = family, unix.IPPROTO_TCP
	return req
}

// parseTCPDiag reads struct inet_diag_msg.
func parseTCPDiag(b []byte) (tcpSocket, bool) {
	if len(b) < diagMessage {
		return tcpSocket{}, false
	}
	local, ok := diagAddress(b, b[diagAddr:])
	if !ok {
		return tcpSocket{}, false
	}
	remote, _ := diagAddress(b, b[diagRemote:])
	return tcpSocket{
		local:  netip.AddrPortFrom(local, binary.BigEndian.Uint16(b[diagPort:])),
		remote: netip.AddrPortFrom(remote, binary.BigEndian.Uint16(b[diagRemoteEnd:])),
		state:  b[1],
		uid:    binary.NativeEndian.Uint32(b[diagUID:]),
		inode:  binary.NativeEndian.Uint32(b[diagInode:]),
	}, true
}

// diagAddress reads one of the two addresses of a struct inet_diag_msg.
func diagAddress(message, at []byte) (netip.Addr, bool) {
	switch message[0] {
	case unix.AF_INET:
		return netip.AddrFrom4([4]byte(at)), true
	case unix.AF_INET6:
		addr := netip.AddrFrom16([16]byte(at)).Unmap()
		if iface := binary.NativeEndian.Uint32(message[diagIface:]); iface != 0 && addr.IsLinkLocalUnicast() {
			addr = addr.WithZone(strconv.FormatUint(uint64(iface), 10))
		}
		return addr, true
	}
	return netip.Addr{}, false
}

// parseNetTCP reads /proc/net/tcp or tcp6 (proc(5)): where there is no
// sock_diag, the same sockets as text.
func parseNetTCP(b []byte, add func(tcpSocket)) {
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) < 10 {
			continue
		}
		local, okLocal := parseHexAddr(f[1])
		remote, okRemote := parseHexAddr(f[2])
		state, err1 := strconv.ParseUint(string(f[3]), 16, 8)
		uid, err2 := strconv.ParseUint(string(f[7]), 10, 32)
		inode, err3 := strconv.ParseUint(string(f[9]), 10, 32)
		if okLocal && okRemote && err1 == nil && err2 == nil && err3 == nil {
			add(tcpSocket{local, remote, byte(state), uint32(uid), uint32(inode)})
		}
	}
}

// parseHexAddr reads "0100007F:1F90": words of the address as numbers of this
// machine, then the port.
func parseHexAddr(b []byte) (netip.AddrPort, bool) {
	host, port, ok := bytes.Cut(b, []byte(":"))
	if !ok || (len(host) != 8 && len(host) != 32) {
		return netip.AddrPort{}, false
	}
	raw := make([]byte, len(host)/2)
	if _, err := hex.Decode(raw, host); err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	n, err := strconv.ParseUint(string(port), 16, 16)
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), err == nil && ok
}

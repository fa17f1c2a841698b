package process

import (
	"bytes"
	"encoding/binary"
	"net/netip"
)

// What the kernel of macOS tells in bytes. The parsers are plain functions, so that
// they are tested everywhere.

// parseProcArgs reads what sysctl kern.procargs2 returns: the number of
// arguments, the path of the executable as it was given to exec, NULs up to an
// aligned place, then the arguments and the environment.
func parseProcArgs(b []byte) (exe string, args []string) {
	if len(b) < 4 {
		return "", nil
	}
	n := binary.NativeEndian.Uint32(b)
	path, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok {
		return "", nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for ; n > 0 && len(rest) > 0; n-- {
		var arg []byte
		arg, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(arg))
	}
	return string(path), args
}

// What macOS lists as net.inet.tcp.pcblist_n: a header (struct xinpgen), then
// for each socket one record of each kind, each beginning with its length and
// its kind and filled up to a multiple of 8, then the header again. Source:
// bsd/netinet/in_pcb.h, bsd/netinet/tcp_var.h and bsd/sys/socketvar.h of XNU,
// all packed to 4 bytes.
const (
	pcbSocket = 0x001 // XSO_SOCKET, struct xsocket_n
	pcbInet   = 0x010 // XSO_INPCB, struct xinpcb_n
	pcbTCP    = 0x020 // XSO_TCPCB, struct xtcpcb_n

	socketLastPID = 68 // so_last_pid
	socketSize    = 72

	inetRemotePort = 16 // inp_fport
	inetLocalPort  = 18 // inp_lport
	inetVersion    = 44 // inp_vflag
	inetRemote     = 48 // inp_dependfaddr: 16 bytes, IPv4 in the last 4
	inetLocal      = 64 // inp_dependladdr
	inetSize       = 80

	inetIPv4 = 0x1 // INP_IPV4

	tcpState        = 36 // t_state
	tcpStateSize    = 40
	pcbEstablished  = 4 // TCPS_ESTABLISHED of netinet/tcp_fsm.h
	pcbRecordHeader = 8
)

// parsePCBList reads the list. The record of kind TCP is the last one of each
// socket. The header is shorter than a record of any of these kinds.
func parsePCBList(b []byte) []tcpEnd {
	var table []tcpEnd
	var now tcpEnd
	order := binary.NativeEndian
	for len(b) >= pcbRecordHeader {
		size, kind := uint64(order.Uint32(b)), order.Uint32(b[4:])
		if size < pcbRecordHeader || size > uint64(len(b)) {
			break
		}
		record := b[:size]
		b = b[min((size+7)&^7, uint64(len(b))):]
		switch {
		case kind == pcbInet && size >= inetSize:
			now = tcpEnd{}
			now.local = pcbAddress(record, inetLocal, inetLocalPort)
			now.remote = pcbAddress(record, inetRemote, inetRemotePort)
		case kind == pcbSocket && size >= socketSize:
			now.pid = int(int32(order.Uint32(record[socketLastPID:])))
		case kind == pcbTCP && size >= tcpStateSize:
			if int32(order.Uint32(record[tcpState:])) == pcbEstablished {
				now.status = established
			}
			if now.local.IsValid() {
				table = append(table, now)
			}
			now = tcpEnd{}
		}
	}
	return table
}

func pcbAddress(record []byte, addrAt, portAt int) netip.AddrPort {
	raw := record[addrAt : addrAt+16]
	addr := netip.AddrFrom16([16]byte(raw)).Unmap()
	if record[inetVersion]&inetIPv4 != 0 {
		addr = netip.AddrFrom4([4]byte(raw[12:]))
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(record[portAt:]))
}

package process

import (
	"fmt"
	"io/fs"
	"math"
	"net/netip"

	"github.com/shirou/gopsutil/v3/net"
)

// tcpTable asks for all TCP sockets, by GetExtendedTcpTable.
func tcpTable() ([]tcpEnd, error) {
	all, err := net.Connections("tcp")
	if err != nil {
		return nil, fmt.Errorf("reading the TCP table: %w", err)
	}
	table := make([]tcpEnd, 0, len(all))
	for _, c := range all {
		local, okLocal := parseAddr(c.Laddr)
		remote, okRemote := parseAddr(c.Raddr)
		if okLocal && okRemote {
			table = append(table, tcpEnd{local: local, remote: remote, established: c.Status == "ESTABLISHED", pid: int(c.Pid), uid: -1})
		}
	}
	return table, nil
}

func parseAddr(a net.Addr) (netip.AddrPort, bool) {
	addr, err := netip.ParseAddr(a.IP)
	return netip.AddrPortFrom(addr.Unmap(), uint16(a.Port)), err == nil && a.Port <= math.MaxUint16
}

// isOurs tells whether an end is open in a process of our user. The error is
// fs.ErrNotExist for what the system keeps of one that was closed.
func (e tcpEnd) isOurs() (bool, error) {
	if e.pid == 0 {
		return false, fs.ErrNotExist
	}
	return SameUser(e.pid)
}

//go:build windows || darwin

package process

import (
	"fmt"
	"math"
	"net/netip"
	"syscall"

	"github.com/shirou/gopsutil/v3/net"
)

// Ports finds out which of some processes listen where. Here one question to
// the system answers for all of them, so nothing is remembered between calls.
type Ports struct{}

// NewPorts makes a Ports.
func NewPorts() *Ports { return &Ports{} }

// Listeners returns the TCP addresses on which these processes listen, sorted
// by port. Processes that are gone or hidden from us have none.
func (p *Ports) Listeners(pids []int) ([]Listener, error) {
	if len(pids) == 0 {
		return nil, nil
	}
	wanted := make(map[int]bool, len(pids))
	for _, pid := range pids {
		wanted[pid] = true
	}
	all, err := net.Connections("tcp")
	if err != nil {
		return nil, fmt.Errorf("listing the TCP sockets: %w", err)
	}
	var found []Listener
	for _, c := range all {
		if addr, ok := listens(c); ok && wanted[int(c.Pid)] {
			found = append(found, Listener{PID: int(c.Pid), Addr: addr})
		}
	}
	return sortListeners(found), nil
}

// listens returns the address of a listening socket. lsof, which gopsutil asks
// on macOS, writes a wildcard address as a star.
func listens(c net.ConnectionStat) (netip.AddrPort, bool) {
	if c.Status != "LISTEN" || c.Laddr.Port == 0 || c.Laddr.Port > math.MaxUint16 {
		return netip.AddrPort{}, false
	}
	addr, err := netip.ParseAddr(c.Laddr.IP)
	switch {
	case c.Laddr.IP == "*" && c.Family == syscall.AF_INET:
		addr = netip.IPv4Unspecified()
	case c.Laddr.IP == "*":
		addr = netip.IPv6Unspecified()
	case err != nil:
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(c.Laddr.Port)), true
}

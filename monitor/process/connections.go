package process

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
)

// Connection is an established TCP connection to a port of this machine.
type Connection struct {
	PID  int            // who has the far end, 0 when it is elsewhere or hidden from us
	Peer netip.AddrPort // address of the far end; IPv4 inside IPv6 is IPv4
}

// sortConnections puts connections in the order that Connections promises, each
// once.
func sortConnections(list []Connection) []Connection {
	slices.SortFunc(list, func(a, b Connection) int {
		if n := a.Peer.Compare(b.Peer); n != 0 {
			return n
		}
		return a.PID - b.PID
	})
	return slices.Compact(list)
}

// plain writes IPv4 inside IPv6 as IPv4.
func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

func checkPort(port int) error {
	if port <= 0 || port > math.MaxUint16 {
		return fmt.Errorf("listing the connections to port %d: there is no such port", port)
	}
	return nil
}

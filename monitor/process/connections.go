package process

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
)

// Listener is one TCP address on which a process accepts connections.
type Listener struct {
	PID  int
	Addr netip.AddrPort // a wildcard address stays one; IPv4 inside IPv6 is IPv4
}

// Reachable reports whether it takes what is sent to 127.0.0.1.
func (l Listener) Reachable() bool {
	at := l.Addr.Addr()
	return at == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || at.IsUnspecified()
}

// Hears reports whether it takes what is sent to a port at 127.0.0.1.
func (l Listener) Hears(port int) bool { return int(l.Addr.Port()) == port && l.Reachable() }

// ErrNotListening says that a process does not listen on a port, or not yet.
var ErrNotListening = errors.New("does not listen there")

// ListensOn is nil when one of some processes listens on a port at 127.0.0.1, and
// ErrNotListening when none does: what answers there would otherwise speak for
// somebody else.
func ListensOn(s System, port int, pids ...int) error {
	listeners, err := s.Listeners(pids)
	if err == nil && !slices.ContainsFunc(listeners, func(l Listener) bool { return l.Hears(port) }) {
		err = fmt.Errorf("port %d of 127.0.0.1: %w", port, ErrNotListening)
	}
	return err
}

// ListenersOf is Listeners for those who know more of the processes than their pids.
func ListenersOf(table []Info) ([]Listener, error) {
	pids := make([]int, len(table))
	for i := range table {
		pids[i] = table[i].PID
	}
	return Listeners(pids)
}

// Holder finds which of some processes has a port of the loopback interface, by where they
// listen. It is false when none does.
func Holder(port int, listeners []Listener, table []Info) (Info, bool) {
	for _, l := range listeners {
		addr := l.Addr.Addr()
		if int(l.Addr.Port()) != port || !addr.IsLoopback() && !addr.IsUnspecified() {
			continue
		}
		if i := slices.IndexFunc(table, func(p Info) bool { return p.PID == l.PID }); i >= 0 {
			return table[i], true
		}
	}
	return Info{}, false
}

// sortListeners puts listeners in the order that Listeners promises, each once.
func sortListeners(list []Listener) []Listener {
	slices.SortFunc(list, func(a, b Listener) int {
		return cmp.Or(cmp.Compare(a.Addr.Port(), b.Addr.Port()), cmp.Compare(a.PID, b.PID), a.Addr.Compare(b.Addr))
	})
	return slices.Compact(list)
}

// Connection is an established TCP connection to a port of this machine.
type Connection struct {
	PID  int            // who has the far end, 0 when it is elsewhere or hidden from us
	Peer netip.AddrPort // address of the far end; IPv4 inside IPv6 is IPv4
}

// plain writes IPv4 inside IPv6 as IPv4.
func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// tcpEnd is one end of a TCP connection, or a socket that listens, of one of the
// processes that have it open.
type tcpEnd struct {
	local, remote netip.AddrPort // the second is no address for what listens
	status        string
	pid           int // 0 unknown

	// What Linux says of it instead of pid.
	uid   uint32
	inode uint32 // 0: nobody has it open
}

// The states that matter to us.
const (
	listening   = "LISTEN"
	established = "ESTABLISHED" // at both ends
	connecting  = "SYN_SENT"
)

// Listeners returns the TCP addresses on which these processes listen, sorted
// by port. A socket that several of them share is listed for each. Processes
// that are gone or hidden from us have none.
//
// On Linux sockets are joined by inode, so a process in another network namespace has
// no listeners unless it holds a socket of ours, which we can reach.
func Listeners(pids []int) ([]Listener, error) {
	if len(pids) == 0 {
		return nil, nil
	}
	table, err := listeningEnds(pids)
	if err != nil {
		return nil, fmt.Errorf("listing the listening sockets: %w", err)
	}
	var found []Listener
	for _, e := range table {
		if e.status == listening && e.pid != 0 && slices.Contains(pids, e.pid) {
			found = append(found, Listener{PID: e.pid, Addr: e.local})
		}
	}
	return sortListeners(found), nil
}

// Connections returns the established TCP connections whose end on this machine
// has that port, each once. One that nobody has accepted yet counts too. A far end on
// this machine that several processes share is listed for each of them, on Windows for
// one.
//
// On Linux one call reads the descriptors of every process of ours that it may look
// at, so it is for an order to end something, not for each tick. It knows our own
// network namespace only: a server in a container has no connections here.
func Connections(port int) ([]Connection, error) {
	if port <= 0 || port > math.MaxUint16 {
		return nil, fmt.Errorf("listing the connections to port %d: there is no such port", port)
	}
	var before []Connection
	for look := 1; ; look++ {
		found, err := connections(port)
		unheld := slices.DeleteFunc(slices.Clone(found), func(c Connection) bool { return c.PID != 0 })
		// Of one that is opened or closed while its holder is looked for none is found.
		if look == mostLooks || !slices.ContainsFunc(unheld, func(c Connection) bool { return !slices.Contains(before, c) }) {
			return found, err
		}
		before = append(before, unheld...)
	}
}

// mostLooks is how often it is looked for who holds connections that are always others.
const mostLooks = 5

func connections(port int) ([]Connection, error) {
	table, err := connectedEnds(port)
	if err != nil {
		return nil, fmt.Errorf("listing the connections to port %d: %w", port, err)
	}
	type way struct{ from, to netip.AddrPort }
	owners := make(map[way][]int)
	for _, e := range table {
		if e.pid != 0 {
			owners[way{e.local, e.remote}] = append(owners[way{e.local, e.remote}], e.pid)
		}
	}
	var found []Connection
	for _, e := range table {
		if e.status != established || int(e.local.Port()) != port {
			continue
		}
		pids := owners[way{e.remote, e.local}]
		if len(pids) == 0 {
			pids = []int{0}
		}
		for _, pid := range pids {
			if c := (Connection{PID: pid, Peer: e.remote}); !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	return found, nil
}

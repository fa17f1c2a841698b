//go:build windows || darwin

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v3/net"

	"lamplighter/monitor"
)

// errForeign says that a process is not our user's.
var errForeign = errors.New("process of another user")

// tableSource is where a Table reads.
type tableSource struct{}

// listed is a process as the system's own list of all shows it.
type listed struct {
	pid, parent int
	name        string
}

// program is what differs between one program and the next under the same pid.
type program struct {
	start uint64
	line  string // executable and arguments
}

func newTableSource() *tableSource { return &tableSource{} }

// origin is where the clock of a Table starts, which is not the user's.
var origin = time.Now()

func (*tableSource) now() time.Duration { return time.Since(origin) }

// began is always now: start times are of another clock.
func (*tableSource) began(_ program, now time.Duration) time.Duration { return now }

// forked is always true: neither system tells that nothing has begun.
func (*tableSource) forked() bool { return true }

func (*tableSource) listAgain() {}

// list calls add with all processes, ascending by pid.
func (*tableSource) list(add func(listed)) error {
	all, err := ours()
	slices.SortFunc(all, func(a, b listed) int { return a.pid - b.pid })
	for _, l := range all {
		add(l)
	}
	return err
}

// look reads a process, which may be another user's by now.
func (*tableSource) look(pid int, was program) (Info, program, error) {
	info, err := readOurs(pid)
	if err != nil {
		return Info{}, program{}, err
	}
	return info, program{info.Start, info.Exe + "\x00" + strings.Join(info.Args, "\x00")}, nil
}

// Children returns the pids of the direct children.
func Children(pid int) ([]int, error) {
	s, err := ReadStat(pid)
	if err != nil {
		return nil, err
	}
	tree, err := descend(s, 1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(tree)-1)
	for _, s := range tree[1:] {
		pids = append(pids, s.PID)
	}
	return pids, nil
}

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process.
func Tree(root monitor.Identity) ([]Stat, error) {
	s, err := ReadStat(root.PID)
	if err != nil {
		return nil, err
	}
	if s.Identity != root {
		return nil, gone(root.PID)
	}
	return descend(s, -1)
}

// descend finds the descendants of root, depth generations of them (all if
// negative). A child that started before its parent is none: its real parent
// has ended and the pid was reused.
func descend(root Stat, depth int) ([]Stat, error) {
	all, err := everyone()
	if err != nil {
		return nil, fmt.Errorf("listing all processes: %w", err)
	}
	children := make(map[int][]int)
	for _, l := range all {
		if l.pid != l.parent {
			children[l.parent] = append(children[l.parent], l.pid)
		}
	}
	pids := []int{root.PID}
	for from := 0; depth != 0 && from < len(pids); depth-- {
		generation := pids[from:]
		from = len(pids)
		for _, parent := range generation {
			for _, pid := range children[parent] {
				if !slices.Contains(pids, pid) {
					pids = append(pids, pid)
				}
			}
		}
	}
	tree := []Stat{root}
	for _, pid := range pids[1:] {
		s, err := ReadStat(pid)
		above := slices.IndexFunc(tree, func(p Stat) bool { return p.PID == s.Parent })
		if err == nil && above >= 0 && s.Start >= tree[above].Start {
			tree = append(tree, s)
		}
	}
	return tree, nil
}

// Listeners returns the TCP addresses on which these processes listen, sorted
// by port. Processes that are gone or hidden from us have none.
func (*Ports) Listeners(pids []int) ([]Listener, error) {
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

// Connections returns the established TCP connections whose end on this machine
// has that port, sorted by the far end. Of processes that share the far end,
// one is named: on macOS the one that used it last.
func Connections(port int) ([]Connection, error) {
	if err := checkPort(port); err != nil {
		return nil, err
	}
	table, err := tcpTable()
	if err != nil {
		return nil, fmt.Errorf("listing the connections to port %d: %w", port, err)
	}
	return connectionsIn(table, port), nil
}

// PeerIsOurs reports whether the other end of a connection within this machine is
// open in a process of our user: local and remote are our end's addresses. The
// error is fs.ErrNotExist when there is no such end here.
func PeerIsOurs(local, remote netip.AddrPort) (bool, error) {
	ours, err := peerIsOurs(local, remote)
	if err != nil {
		return false, fmt.Errorf("looking for the owner of %v: %w", remote, err)
	}
	return ours, nil
}

func peerIsOurs(local, remote netip.AddrPort) (bool, error) {
	table, err := tcpTable()
	if err != nil {
		return false, err
	}
	for _, e := range table {
		if e.local == plain(remote) && e.remote == plain(local) {
			return e.isOurs()
		}
	}
	return false, fs.ErrNotExist
}

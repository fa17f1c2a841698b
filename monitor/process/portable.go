//go:build windows || darwin

package process

import (
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/net"

	"lamplighter/monitor"
)

// tableSource is where a Table reads.
type tableSource struct{}

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

// listed is a process as the list of all shows it.
type listed struct {
	pid, parent int
	name        string
}

// list lists all processes, always anew: neither system tells that nothing has begun.
func (*tableSource) list() (all []listed, anew bool, err error) {
	all, err = everyone()
	return all, true, err
}

// look reads a process, which may be another user's by now: it is asked after what
// was read.
func (*tableSource) look(pid int, was program) (Info, program, error) {
	info, err := Read(pid)
	ours := false
	if err == nil {
		ours, err = SameUser(pid)
	}
	if err != nil || !ours {
		return Info{}, program{}, err
	}
	return info, program{info.Start, info.Exe + "\x00" + strings.Join(info.Args, "\x00")}, nil
}

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process. What we may not look at is in no tree.
func Tree(root monitor.Identity) ([]Stat, error) {
	all, err := everyone()
	if err != nil {
		return nil, fmt.Errorf("listing all processes: %w", err)
	}
	children := make(map[int][]int)
	for _, l := range all {
		children[l.parent] = append(children[l.parent], l.pid)
	}
	stat := func(pid int) (Stat, error) {
		s, err := ReadStat(pid)
		if err != nil && pid != root.PID {
			err = gone(pid)
		}
		return s, err
	}
	return treeOf(root, stat, func(pid int) ([]int, error) { return children[pid], nil })
}

func listeningEnds([]int) ([]tcpEnd, error) { return gopsutilTable() }

func connectedEnds(int) ([]tcpEnd, error) { return tcpTable() }

// PeerIsOurs reports whether the other end of a connection within this machine is
// open in a process of our user: local and remote are our end's addresses. The
// error is fs.ErrNotExist when there is no such end here, as for what the system
// keeps of one that was closed.
func PeerIsOurs(local, remote netip.AddrPort) (bool, error) {
	ours := false
	table, err := tcpTable()
	i := slices.IndexFunc(table, func(e tcpEnd) bool { return e.pid != 0 && e.local == plain(remote) && e.remote == plain(local) })
	if i >= 0 {
		ours, err = SameUser(table[i].pid)
	} else if err == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return false, fmt.Errorf("looking for the owner of %v: %w", remote, err)
	}
	return ours, nil
}

// gopsutilTable asks for all TCP sockets: by GetExtendedTcpTable on Windows, and by
// lsof on macOS, which knows our user's only.
func gopsutilTable() ([]tcpEnd, error) {
	all, err := net.Connections("tcp")
	if err != nil {
		return nil, fmt.Errorf("reading the TCP table: %w", err)
	}
	table := make([]tcpEnd, 0, len(all))
	for _, c := range all {
		remote, _ := parseAddr(c.Raddr)
		if local, ok := parseAddr(c.Laddr); ok {
			table = append(table, tcpEnd{local: local, remote: remote, status: c.Status, pid: int(c.Pid)})
		}
	}
	return table, nil
}

// parseAddr reads an address; lsof writes a wildcard of either family as a star.
func parseAddr(a net.Addr) (netip.AddrPort, bool) {
	addr, err := netip.ParseAddr(strings.Replace(a.IP, "*", "::", 1))
	return netip.AddrPortFrom(addr.Unmap(), uint16(a.Port)), err == nil && a.Port > 0 && a.Port <= math.MaxUint16
}

// Package process gathers facts about the processes of this machine: which of
// ours appeared, who they are, what they cost, which TCP ports they listen on,
// and that they ended, at once.
//
// What a process means (an instance, a client, an orphan) is decided in
// monitor/watch, and whom to signal in monitor/stop: a Handle only makes sure
// that a signal reaches the process it is meant for, or nobody. Linux reads
// /proc, netlink and pidfds directly, because this is the path that runs all
// day; Windows and macOS use their own calls and gopsutil behind the same
// functions.
package process

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"lamplighter/monitor"
)

// ErrGone is wrapped by every error about a process that has vanished, or
// whose pid now belongs to another process.
var ErrGone = errors.New("process is gone")

// Info is what is read once per process. Name, Exe and Args are foreign text
// and may hold any bytes.
type Info struct {
	monitor.Identity
	Parent int      // pid
	Name   string   // short name (Linux, macOS: comm, cut at 15 bytes; Windows: the image name without .exe)
	Exe    string   // full path of the executable, "" when unreadable
	Args   []string // the command line, argv[0] first; one string when the process has rewritten its title
}

// RunState is what the scheduler says about a process.
type RunState int

// The states that matter to us.
const (
	Running  RunState = iota // any live state: running, sleeping, waiting for a disk, traced by a debugger
	Stopped                  // by a signal; never on Windows, which has no such state
	Unreaped                 // ended, but its parent has not taken note
)

// Stat is what changes while a process runs.
type Stat struct {
	monitor.Identity
	Parent   int // pid
	State    RunState
	CPU      time.Duration // user and system time of all its threads so far
	RSSBytes uint64        // resident memory, which Tree alone tells
}

// ResidentMemory is that of a process now, in bytes.
func ResidentMemory(pid int) (uint64, error) {
	memory, err := (&process.Process{Pid: int32(pid)}).MemoryInfo()
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return memory.RSS, nil
}

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

// sortListeners puts listeners in the order that Listeners promises, each once.
func sortListeners(list []Listener) []Listener {
	slices.SortFunc(list, func(a, b Listener) int {
		return cmp.Or(cmp.Compare(a.Addr.Port(), b.Addr.Port()), cmp.Compare(a.PID, b.PID), a.Addr.Compare(b.Addr))
	})
	return slices.Compact(list)
}

// gone says that what was asked about pid no longer exists.
func gone(pid int) error { return fmt.Errorf("process %d: %w", pid, ErrGone) }

// Connection is an established TCP connection to a port of this machine.
type Connection struct {
	PID  int            // who has the far end, 0 when it is elsewhere or hidden from us
	Peer netip.AddrPort // address of the far end; IPv4 inside IPv6 is IPv4
}

// sortConnections puts connections in the order that Connections promises, each
// once.
func sortConnections(list []Connection) []Connection {
	slices.SortFunc(list, func(a, b Connection) int {
		return cmp.Or(a.Peer.Compare(b.Peer), cmp.Compare(a.PID, b.PID))
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

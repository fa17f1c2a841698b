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
	"errors"
	"fmt"
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
	Session  int // pid of its leader, 0 for one that cannot be seen, -1 where there are none (Windows)
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

// gone says that what was asked about pid no longer exists.
func gone(pid int) error { return fmt.Errorf("process %d: %w", pid, ErrGone) }

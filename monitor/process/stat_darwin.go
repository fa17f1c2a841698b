package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// From sys/proc.h.
const (
	procStopped = 4     // SSTOP
	procZombie  = 5     // SZOMB
	procTraced  = 0x800 // P_TRACED
)

// psLimit is how long ps may take.
const psLimit = 5 * time.Second

// kinfo asks the kernel for one process.
func kinfo(pid int) (*unix.KinfoProc, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.pid", pid)
	if err != nil {
		return nil, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	if len(list) == 0 || int(list[0].Proc.P_pid) != pid {
		return nil, gone(pid)
	}
	return &list[0], nil
}

func identity(k *unix.KinfoProc) monitor.Identity {
	start := k.Proc.P_starttime
	return monitor.Identity{PID: int(k.Proc.P_pid), Start: uint64(start.Sec)*1_000_000 + uint64(start.Usec)}
}

func runState(k *unix.KinfoProc) RunState {
	switch k.Proc.P_stat {
	case procZombie:
		return Unreaped
	case procStopped:
		if k.Proc.P_flag&procTraced == 0 {
			return Stopped
		}
	}
	return Running
}

func shortName(k *unix.KinfoProc) string {
	raw := make([]byte, 0, len(k.Proc.P_comm))
	for _, c := range k.Proc.P_comm {
		raw = append(raw, byte(c))
	}
	name, _, _ := bytes.Cut(raw, []byte{0})
	return string(name)
}

// identify reads who has a pid now.
func identify(pid int) (monitor.Identity, RunState, error) {
	k, err := kinfo(pid)
	if err != nil {
		return monitor.Identity{}, Running, err
	}
	return identity(k), runState(k), nil
}

func kinfoList(name string, args ...int) ([]listed, error) {
	list, err := unix.SysctlKinfoProcSlice(name, args...)
	if err != nil {
		return nil, fmt.Errorf("sysctl %s: %w", name, err)
	}
	all := make([]listed, 0, len(list))
	for i := range list {
		k := &list[i]
		all = append(all, listed{Identity: identity(k), parent: int(k.Eproc.Ppid), name: shortName(k)})
	}
	return all, nil
}

// ours lists the processes of our user, everyone those of all.
func ours() ([]listed, error)     { return kinfoList("kern.proc.uid", os.Geteuid()) }
func everyone() ([]listed, error) { return kinfoList("kern.proc.all") }

// readOurs is Read for a process that the list of ours holds.
func readOurs(pid int) (Info, error) {
	info, uid, err := read(pid)
	if err == nil && int(uid) != os.Geteuid() {
		err = errForeign
	}
	return info, err
}

// Read reads who a process is. Exe is the path as it was given to exec, so it
// is empty when that was relative. Args is empty for processes of other users.
func Read(pid int) (Info, error) {
	info, _, err := read(pid)
	return info, err
}

func read(pid int) (Info, uint32, error) {
	k, err := kinfo(pid)
	if err != nil {
		return Info{}, 0, err
	}
	info := Info{Identity: identity(k), Parent: int(k.Eproc.Ppid), Name: shortName(k)}
	// Refused for processes of others and for those that have ended.
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		info.Exe, info.Args = parseProcArgs(raw)
	}
	if !strings.HasPrefix(info.Exe, "/") {
		info.Exe = ""
	}
	return info, k.Eproc.Ucred.Uid, nil
}

// ReadStat reads the current state of any process. CPU and RSSBytes are 0: the
// kernel does not tell them without cgo, and this is called too often to run ps
// each time. Tree knows them.
func ReadStat(pid int) (Stat, error) {
	k, err := kinfo(pid)
	if err != nil {
		return Stat{}, err
	}
	return Stat{Identity: identity(k), Parent: int(k.Eproc.Ppid), State: runState(k)}, nil
}

// readStats reads the state of many processes with one ps. Those that are gone
// are missing.
func readStats(pids []int) (map[int]Stat, error) {
	stats := make(map[int]Stat, len(pids))
	var alive []string
	for _, pid := range pids {
		k, err := kinfo(pid)
		if err != nil {
			continue
		}
		stats[pid] = Stat{Identity: identity(k), Parent: int(k.Eproc.Ppid), State: runState(k)}
		alive = append(alive, strconv.Itoa(pid))
	}
	if len(alive) == 0 {
		return stats, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	ps := exec.CommandContext(ctx, "/bin/ps", "-o", "pid=,rss=,time=", "-p", strings.Join(alive, ","))
	ps.Env = append(os.Environ(), "LC_ALL=C")
	out, err := ps.Output()
	if err != nil && len(out) == 0 && ctx.Err() != nil {
		return nil, fmt.Errorf("asking ps for memory and CPU: %w", ctx.Err())
	}
	// Its status is 1 when a process has ended meanwhile; that one is unknown.
	for pid, usage := range parsePS(string(out)) {
		if s, ok := stats[pid]; ok {
			s.CPU, s.RSSBytes = usage.cpu, usage.rss
			stats[pid] = s
		}
	}
	return stats, nil
}

// StartedAt is the wall-clock time at which the process started, for showing
// only. The process need not exist any more.
func StartedAt(id monitor.Identity) (time.Time, error) {
	if id.Start > 1<<62 {
		return time.Time{}, fmt.Errorf("process %d: %d is not a start time", id.PID, id.Start)
	}
	return time.UnixMicro(int64(id.Start)), nil
}

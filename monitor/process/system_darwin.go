package process

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// From sys/proc.h.
const (
	procStopped = 4     // SSTOP
	procZombie  = 5     // SZOMB
	procTraced  = 0x800 // P_TRACED
)

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
	switch {
	case k.Proc.P_stat == procZombie:
		return Unreaped
	case k.Proc.P_stat == procStopped && k.Proc.P_flag&procTraced == 0:
		return Stopped
	}
	return Running
}

func shortName(k *unix.KinfoProc) string { return unix.ByteSliceToString(k.Proc.P_comm[:]) }

func everyone() ([]listed, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("sysctl kern.proc.all: %w", err)
	}
	all := make([]listed, 0, len(list))
	for i := range list {
		k := &list[i]
		all = append(all, listed{int(k.Proc.P_pid), int(k.Eproc.Ppid), shortName(k)})
	}
	return all, nil
}

// Read reads who a process is. Exe is the path as it was given to exec, so it
// is empty when that was relative. Args is empty for processes of other users.
func Read(pid int) (Info, error) {
	k, err := kinfo(pid)
	if err != nil {
		return Info{}, err
	}
	info := Info{Identity: identity(k), Parent: int(k.Eproc.Ppid), Name: shortName(k)}
	// Refused for processes of others and for those that have ended.
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		info.Exe, info.Args = parseProcArgs(raw)
	}
	if !strings.HasPrefix(info.Exe, "/") {
		info.Exe = ""
	}
	return info, nil
}

// ReadStat reads the current state of any process. CPU is 0 for those of other
// users.
func ReadStat(pid int) (Stat, error) {
	k, err := kinfo(pid)
	if err != nil {
		return Stat{}, err
	}
	s := Stat{Identity: identity(k), Parent: int(k.Eproc.Ppid), State: runState(k)}
	if session, err := unix.Getsid(pid); err == nil {
		s.Session = session
	}
	if times, err := (&process.Process{Pid: int32(pid)}).Times(); err == nil {
		s.CPU = time.Duration((times.User + times.System) * float64(time.Second))
	}
	return s, nil
}

// StartedAt is the wall-clock time at which the process started, for showing
// only. The process need not exist any more.
func StartedAt(id monitor.Identity) time.Time { return time.UnixMicro(int64(id.Start)) }

// SameUser reports whether a process runs as our user and nobody else: its real,
// effective and saved user are ours. A program that has taken on another user's
// rights, or kept the way back to them, is not ours.
func SameUser(pid int) (bool, error) {
	k, err := kinfo(pid)
	if err != nil {
		return false, err
	}
	me := uint32(os.Getuid())
	return k.Eproc.Ucred.Uid == me && k.Eproc.Pcred.P_ruid == me && k.Eproc.Pcred.P_svuid == me, nil
}

// BootID is a text that differs from boot to boot and stays the same within
// one: pids and start times of an earlier one mean nothing. It does not change
// with the clock or over a suspend.
//
// Source: kern.bootsessionuuid, bsd/kern/kern_sysctl.c of xnu.
func BootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	return id, nil
}

// launchctlLimit is how long launchctl may take.
const launchctlLimit = 5 * time.Second

// serviceOf returns the label of the launchd job whose process lies in a tree of
// processes, of our own session or of the system, "" when there is none. A
// program that a user opens is a job too: that is what lies above the tree and
// counts only if it is in it. Containers run in a virtual machine here and
// cannot be seen.
func serviceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	ctx, cancel := context.WithTimeout(ctx, launchctlLimit)
	defer cancel()
	jobs := make(map[int]string)
	for _, args := range [][]string{{"list"}, {"print", "system"}} { // of our session, and of the system
		out, err := exec.CommandContext(ctx, "/bin/launchctl", args...).Output()
		if err != nil {
			return "", fmt.Errorf("asking launchctl to %s: %w", strings.Join(args, " "), err)
		}
		maps.Copy(jobs, parseLaunchctl(string(out)))
	}
	for _, id := range tree {
		if label := jobs[id.PID]; label != "" {
			return label, nil
		}
	}
	return "", nil
}

// tcpTable asks the kernel for all TCP connections: to start lsof for each request
// would cost too much. That the table may grow meanwhile the kernel allows for.
//
// Source: get_pcblist_n in bsd/netinet/in_pcblist.c of xnu.
func tcpTable() ([]tcpEnd, error) {
	raw, err := unix.SysctlRaw("net.inet.tcp.pcblist_n")
	if err != nil {
		return nil, fmt.Errorf("sysctl net.inet.tcp.pcblist_n: %w", err)
	}
	return parsePCBList(raw), nil
}

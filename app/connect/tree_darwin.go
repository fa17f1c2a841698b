package main

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"lamplighter/monitor/command"
)

// zombie is SZOMB of sys/proc.h: a process that has ended and is not reaped.
const zombie = 5

// tree is the server with everything that stayed in its process group. macOS
// has no way to hold on to what leaves it.
type tree struct {
	first proc
	spare bool // browsers
	// server is the process that serves, where that is another one.
	server func() proc
	heads  heads
	ended  chan struct{} // see note
	queue  int
}

func start(c child) (*tree, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, cannot("watch", c.path, err)
	}
	unix.CloseOnExec(queue)
	pid, err := fork(c, &syscall.SysProcAttr{Setpgid: true})
	if err != nil {
		return nil, err
	}
	// Only wait reaps, so that the pid is still the child's.
	first, err := readProc(pid)
	if err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		reap(0)
		return nil, cannot("find the process of", c.path, err)
	}
	return &tree{first: first, spare: c.spare, server: c.server, heads: heads{first: first}, ended: make(chan struct{}, 1), queue: queue}, nil
}

// wait follows the group until nobody is in it, and calls exited when the
// direct child has ended.
func (t *tree) wait(exited func(status string)) {
	for {
		for {
			pid, status, err := reap(syscall.WNOHANG)
			if pid <= 0 || err != nil {
				break
			}
			if t.heads.ended(pid) {
				exited(statusOf(status))
			}
			t.note()
		}
		all, _ := t.group()
		if len(all) == 0 {
			return
		}
		if t.watch(all) {
			t.waitExit()
		}
	}
}

// watch has the queue tell the end of each. It is false when one has ended
// already, so that there is no event to come.
func (t *tree) watch(all []proc) bool {
	for _, p := range all {
		var change unix.Kevent_t
		unix.SetKevent(&change, p.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
		change.Fflags = unix.NOTE_EXIT
		if _, err := unix.Kevent(t.queue, []unix.Kevent_t{change}, nil, nil); err == unix.ESRCH {
			return false
		}
	}
	return true
}

func (t *tree) waitExit() {
	var events [16]unix.Kevent_t
	n, err := unix.Kevent(t.queue, nil, events[:], nil)
	if err != nil {
		return // interrupted
	}
	for _, e := range events[:n] {
		// The direct child is for wait to reap.
		if pid := int(e.Ident); pid != t.first.pid {
			t.heads.ended(pid)
			t.note()
		}
	}
}

func (t *tree) children() []proc { return t.descendants() }

// descendants are all in the group that live now, without what people work in.
func (t *tree) descendants() []proc {
	all, theirs := t.group()
	return slices.DeleteFunc(all, func(p proc) bool { return theirs[p.pid] })
}

// onlyTheirs reports whether all that is left, and something is, is what people
// work in.
func (t *tree) onlyTheirs() bool {
	all, theirs := t.group()
	return len(all) > 0 && len(theirs) == len(all)
}

// isTheirs reports whether a process is one that people work in now.
func (t *tree) isTheirs(p proc) bool {
	_, theirs := t.group()
	return theirs[p.pid]
}

// group returns all in the group that live now, and which of them people work
// in, or are below such a program. The group's number is no other one's while
// somebody is in it.
func (t *tree) group() (all []proc, theirs map[int]bool) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", t.first.pid)
	if err != nil {
		return nil, nil
	}
	parents := map[int]int{}
	theirs = map[int]bool{}
	for i := range list {
		p := procOf(&list[i])
		// The direct child counts until it is reaped.
		if list[i].Proc.P_stat == zombie && p != t.first {
			continue
		}
		all = append(all, p)
		parents[p.pid] = int(list[i].Eproc.Ppid)
		// The server itself is never what people work in, whatever it is called.
		if p != t.first && command.IsUserApp(executable(p.pid), unix.ByteSliceToString(list[i].Proc.P_comm[:]), t.spare) && p != t.server() {
			theirs[p.pid] = true
		}
	}
	for more := true; more; {
		more = false
		for pid, parent := range parents {
			if theirs[parent] && !theirs[pid] && pid != t.first.pid && pid != t.server().pid {
				theirs[pid], more = true, true
			}
		}
	}
	return all, theirs
}

// executable is the path of a process's program, "" when it cannot be read.
// Source: procargs2 of sysctl(3), the number of arguments and then the path.
func executable(pid int) string {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(args) < 4 {
		return ""
	}
	return unix.ByteSliceToString(args[4:])
}

// signal sends signals to this process. That it has ended, or belongs to
// another user by now, is no matter.
func (p proc) signal(signals ...syscall.Signal) {
	for _, sig := range signals {
		if now, err := readProc(p.pid); err != nil || now != p {
			return
		}
		_ = syscall.Kill(p.pid, sig)
	}
}

// readProc reads who has a pid now.
func readProc(pid int) (proc, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return proc{}, err
	}
	if int(k.Proc.P_pid) != pid {
		return proc{}, syscall.ESRCH
	}
	return procOf(k), nil
}

func procOf(k *unix.KinfoProc) proc {
	start := k.Proc.P_starttime
	return proc{pid: int(k.Proc.P_pid), start: uint64(start.Sec)*1_000_000 + uint64(start.Usec)}
}

package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"lamplighter/monitor/command"
)

// A child gets its SIGTERM when the *thread* that started it ends. So main
// stays on the first thread, which ends with the program.
func init() { runtime.LockOSThread() }

// tree is the server with everything that came of it. Whatever loses its parent
// becomes our child, since we are a subreaper.
type tree struct {
	first proc
	spare bool // browsers
	// server is the process that serves, where that is another one.
	server func() proc
	heads  heads
	ended  chan struct{} // see note
	// inhabited says that there is, or was, something that people work in.
	inhabited bool
}

func start(c child) (*tree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, cannot("become the reaper above", c.path, err)
	}
	// What we have inherited is not for the server. Before Linux 5.11 it gets it.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	makeThreads() // before there is anybody who could use up all processes
	pid, err := fork(c, &syscall.SysProcAttr{Setpgid: c.apart, Pdeathsig: syscall.SIGTERM})
	if err != nil {
		return nil, err
	}
	// Only wait reaps, so that the pid is still the child's.
	first, ok := readStat(pid)
	if !ok {
		syscall.Kill(pid, syscall.SIGKILL)
		reap(0)
		return nil, cannot("find the process of", c.path, syscall.ENOENT)
	}
	return &tree{first: first.proc, spare: c.spare, server: c.server, heads: heads{first: first.proc}, ended: make(chan struct{}, 1)}, nil
}

// wait reaps whatever ends, until there is nothing left, and calls exited when
// the direct child has ended.
func (t *tree) wait(exited func(status string)) {
	for {
		pid, status, err := reap(unix.WALL)
		if err != nil {
			return
		}
		if t.heads.ended(pid) {
			exited(statusOf(status))
		}
		t.note()
	}
}

// family leaves out what people work in, and with that what is below it.
func (t *tree) family() *family {
	f := newFamily()
	f.without = t.spares
	return f
}

// spares tells what people work in. The server itself is never that, whatever it
// is called.
func (t *tree) spares(s stat) bool {
	exe, _ := os.Readlink("/proc/" + strconv.Itoa(s.pid) + "/exe") // not everybody's may be read
	theirs := s.proc != t.first && command.IsUserApp(exe, s.name, t.spare) && s.proc != t.server()
	t.inhabited = t.inhabited || theirs
	return theirs
}

// isTheirs reports whether a process is one that people work in now.
func (t *tree) isTheirs(p proc) bool {
	s, ok := readStat(p.pid)
	return ok && s.proc == p && t.spares(s)
}

// onlyTheirs reports whether all that is left, and something is, is what people
// work in. The kernel's list may lack a child while others come and go, so that
// each process is asked then; and once more, because a parent may have ended
// while they were.
func (t *tree) onlyTheirs() bool {
	return t.inhabited && t.areTheirs(newFamily()) && t.areTheirs(&family{all: scan()}) && t.areTheirs(&family{all: scan()})
}

// areTheirs looks at our children only: anything else is below one of them.
func (t *tree) areTheirs(f *family) bool {
	own, found := os.Getpid(), false
	for _, pid := range f.candidates(own) {
		s, ok := readStat(pid)
		if !ok || s.parent != own {
			continue
		}
		if !t.spares(s) {
			return false
		}
		found = true
	}
	return found
}

func (t *tree) children() []proc { return t.family().children(self()) }

// descendants are all that live now, parents before their children.
func (t *tree) descendants() []proc {
	f := t.family()
	all := f.children(self())
	for i := 0; i < len(all); i++ {
		all = append(all, f.children(all[i])...)
	}
	return all
}

func self() proc {
	s, _ := readStat(os.Getpid())
	return s.proc
}

// signal sends signals to exactly this process. That it has ended, or belongs
// to another user by now, is no matter.
func (p proc) signal(signals ...syscall.Signal) {
	send := func(sig syscall.Signal) { _ = syscall.Kill(p.pid, sig) }
	// The descriptor keeps the pid from becoming another process's; it is there
	// since Linux 5.3. Only then is it worth asking who has the pid.
	if fd, err := unix.PidfdOpen(p.pid, 0); err == nil {
		defer unix.Close(fd)
		send = func(sig syscall.Signal) { _ = unix.PidfdSendSignal(fd, sig, nil, 0) }
	}
	if now, ok := readStat(p.pid); !ok || now.proc != p {
		return
	}
	for _, sig := range signals {
		send(sig)
	}
}

package serenatest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

// Pids returns the processes of the server's tree that are alive now, in
// ascending order: what was started, and everything that came of it, also when
// its parent is gone or it has left the process group.
func (s *Server) Pids() []int { return marked(s.mark) }

// marked finds processes by what is in their environment. A process that has
// exited but is not reaped yet has none.
func marked(mark string) []int {
	pids, err := process.Pids()
	if err != nil {
		return nil
	}
	var found []int
	for _, pid := range pids {
		if hasMark(int(pid), mark) {
			found = append(found, int(pid))
		}
	}
	slices.Sort(found)
	return found
}

func hasMark(pid int, mark string) bool {
	p := process.Process{Pid: int32(pid)}
	env, err := p.Environ()
	return err == nil && slices.Contains(env, mark)
}

// innermost follows the tree of pids down from one of them, past clients and
// launchers, for as long as each has one child.
func innermost(pid int, pids []int) int {
	for {
		var children []int
		for _, candidate := range pids {
			p := process.Process{Pid: int32(candidate)}
			if parent, err := p.Ppid(); err == nil && int(parent) == pid {
				children = append(children, candidate)
			}
		}
		if len(children) != 1 {
			return pid
		}
		pid = children[0]
	}
}

// killMarked kills all processes with the mark, and waits until they are gone
// with all that they held open: a dying process loses its environment first.
func killMarked(mark string) error {
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	dying := map[int]*os.Process{}
	defer func() {
		for _, p := range dying {
			_ = p.Release()
		}
	}()
	for {
		for _, pid := range marked(mark) {
			if dying[pid] != nil {
				continue
			}
			p, err := holdMarked(pid, mark)
			if err != nil {
				continue // it has ended by itself
			}
			dying[pid] = p
			if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("killing %d: %w", pid, err)
			}
		}
		left := slices.DeleteFunc(slices.Sorted(maps.Keys(dying)), func(pid int) bool { return ended(dying[pid]) })
		if len(left) == 0 && len(marked(mark)) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("still running after SIGKILL: %v", left)
		}
	}
}

// ended reports whether a process is gone or only waits to be reaped, which
// nobody may do: its parent can be a suspended program of the test. Its first
// thread is a zombie as soon as it has ended, but files stay open until the
// last one has.
func ended(p *os.Process) bool {
	if p.Signal(syscall.Signal(0)) != nil {
		return true
	}
	proc := process.Process{Pid: int32(p.Pid)}
	status, err := proc.Status()
	if err != nil {
		return true
	}
	threads, err := proc.NumThreads()
	return err != nil || slices.Contains(status, process.Zombie) && threads <= 1
}

// holdMarked takes hold of a process before it looks for the mark, so that
// what is signalled later is never another one that got its pid.
func holdMarked(pid int, mark string) (*os.Process, error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil, err
	}
	if !hasMark(pid, mark) {
		return nil, errors.Join(os.ErrProcessDone, p.Release())
	}
	return p, nil
}

package process

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// Children returns the pids of the direct children. The kernel makes the list
// while processes come and go: one that forks or ends meanwhile may be missed.
func Children(pid int) ([]int, error) { return system().children(pid) }

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process; a root that has ended without being reaped still is. It is
// errors.ErrUnsupported where the kernel does not list children
// (CONFIG_PROC_CHILDREN).
func Tree(root monitor.Identity) ([]Stat, error) {
	return treeOf(root, system().state, system().children)
}

// children reads /proc/PID/task/TID/children of every thread: each lists what
// that thread has forked.
func (p procfs) children(pid int) ([]int, error) {
	tids, err := list(p.path(pid, "/task"))
	if err != nil {
		return nil, p.failed("listing the threads of", pid, err)
	}
	var pids []int
	for _, tid := range tids {
		b, err := readWholeAt(unix.AT_FDCWD, p.path(pid, "/task/"+strconv.Itoa(tid)+"/children"), math.MaxInt64)
		switch {
		case err == nil:
			pids = parsePIDs(pids, b)
		case errors.Is(err, unix.ESRCH):
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES):
			// The thread has ended, or nobody has such a file.
			if unix.Access(p.root+"/thread-self/children", unix.R_OK) != nil {
				return nil, fmt.Errorf("the kernel does not list the children of process %d: %w", pid, errors.ErrUnsupported)
			}
		default:
			return nil, p.failed("listing the children of", pid, err)
		}
	}
	return pids, nil
}

// SameInput reports whether another process has the same standard input. A server
// that has the null device there where the wrapper has something else may have
// moved it to another descriptor.
func (e localEnds) SameInput(wrapper monitor.Identity) bool {
	s, err := system().openAs(e.server)
	if err != nil {
		return false
	}
	defer s.close()
	w, err := system().openAs(wrapper)
	if err != nil {
		return false
	}
	defer w.close()
	given, ok, err := w.file(0)
	if !ok || err != nil {
		return false
	}
	mine, ok, err := s.file(0)
	if err != nil {
		return false
	}
	if ok && mine == given {
		return true
	}
	if ok && !mine.null {
		return false
	}
	all, err := s.ends()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(e end) bool {
		if e.fd <= 2 || !e.reads() {
			return false
		}
		at, ok, err := s.file(e.fd)
		return ok && err == nil && at == given
	})
}

package process

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// Children returns the pids of the direct children. The kernel makes the list
// while processes come and go: one that forks or ends meanwhile may be missed.
func Children(pid int) ([]int, error) { return newFamily(system()).children(pid) }

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process; a root that has ended without being reaped still is.
func Tree(root monitor.Identity) ([]Stat, error) { return newFamily(system()).tree(root) }

// family finds the children of processes for one question.
type family struct {
	fs   procfs
	buf  []byte
	tids []int
	// all maps parents to children; made only where the kernel does not list
	// children itself (CONFIG_PROC_CHILDREN).
	all map[int][]int
}

func newFamily(fs procfs) *family { return &family{fs: fs, buf: make([]byte, 8<<10)} }

func (f *family) tree(root monitor.Identity) ([]Stat, error) {
	s, err := f.stat(root.PID)
	if err != nil {
		return nil, err
	}
	if s.Identity != root {
		return nil, gone(root.PID)
	}
	tree := []Stat{s}
	in := map[int]bool{root.PID: true}
	for i := 0; i < len(tree); i++ {
		parent := tree[i].PID
		pids, err := f.children(parent)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, pid := range pids {
			s, err := f.stat(pid)
			if errors.Is(err, ErrGone) {
				continue
			}
			if err != nil {
				return nil, err
			}
			// Another parent: the pid was reused, or the parent died just now.
			if s.Parent != parent || in[pid] {
				continue
			}
			in[pid] = true
			tree = append(tree, s)
		}
	}
	return tree, nil
}

func (f *family) stat(pid int) (Stat, error) {
	s, err := f.fs.readStat(pid, f.buf)
	if err != nil {
		return Stat{}, err
	}
	stat := s.stat()
	stat.RSSBytes, _ = ResidentMemory(pid)
	return stat, nil
}

// children reads /proc/PID/task/TID/children of every thread: each lists what
// that thread has forked.
func (f *family) children(pid int) ([]int, error) {
	if f.all != nil {
		return f.all[pid], nil
	}
	f.tids = f.tids[:0]
	err := list(f.fs.path(pid, "/task"), f.buf, func(n int) { f.tids = append(f.tids, n) })
	if err != nil {
		return nil, f.fs.failed("listing the threads of", pid, err)
	}
	var pids []int
	for _, tid := range f.tids {
		b, err := readWholeAt(unix.AT_FDCWD, f.fs.path(pid, "/task/"+strconv.Itoa(tid)+"/children"))
		switch {
		case err == nil:
			pids = parsePIDs(pids, b)
		case errors.Is(err, unix.ESRCH):
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES):
			// The thread has ended, or nobody has such a file.
			if !f.listed() {
				return f.scan(pid)
			}
		default:
			return nil, f.fs.failed("listing the children of", pid, err)
		}
	}
	return pids, nil
}

// listed reports whether this kernel lists children.
func (f *family) listed() bool {
	return unix.Access(f.fs.root+"/thread-self/children", unix.R_OK) == nil
}

// scan asks every process for its parent, once for the whole question.
func (f *family) scan(pid int) ([]int, error) {
	var pids []int
	if err := list(f.fs.root, f.buf, func(n int) { pids = append(pids, n) }); err != nil {
		return nil, fmt.Errorf("listing %s: %w", f.fs.root, err)
	}
	all := make(map[int][]int)
	for _, pid := range pids {
		s, err := f.fs.readStat(pid, f.buf)
		if err != nil {
			continue
		}
		all[s.parent] = append(all[s.parent], pid)
	}
	f.all = all
	return all[pid], nil
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

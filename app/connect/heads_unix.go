//go:build unix

package main

import "sync"

// heads are the processes that are asked to end before all others: they end
// what is below them better than we do, and some would start it again.
type heads struct {
	mu      sync.Mutex
	first   proc // the direct child
	over    bool // it has ended
	waiting map[int]bool
}

// take makes heads of the direct child, or, when that has ended, of what list
// returns, and returns them.
func (h *heads) take(list func() []proc) []proc {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []proc{h.first}
	if h.over {
		all = list()
	}
	h.waiting = map[int]bool{}
	for _, p := range all {
		h.waiting[p.pid] = true
	}
	return all
}

// gone reports whether none is left.
func (h *heads) gone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waiting) == 0
}

// ended takes note of the end of a process, and tells whether it was the direct
// child. The pid is free by then, but it cannot be in the list of take before.
func (h *heads) ended(pid int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := !h.over && pid == h.first.pid
	h.over = h.over || first
	delete(h.waiting, pid)
	return first
}

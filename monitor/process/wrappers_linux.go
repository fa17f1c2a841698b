package process

import (
	"slices"

	"lamplighter/monitor"
)

// sameInput tells whether two processes have the same standard input. A server
// that has the null device there where the wrapper has something else may have
// moved it to another descriptor.
func sameInput(server, wrapper monitor.Identity) bool {
	s, err := system().openAs(server)
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

// accompanies tells a child that the system adds to a program by itself: there
// is none on Linux.
func accompanies(int) bool { return false }

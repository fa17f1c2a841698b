package situation

import (
	"errors"
	"fmt"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"slices"
)

func (m *Machine) Ends(server monitor.Identity) process.Ends { return ends{m, server} }

// ends are the recorded descriptors of a process.
type ends struct {
	m      *Machine
	server monitor.Identity
}

// of is a process whose descriptors are recorded; the caller holds the lock.
func (e ends) of(id monitor.Identity) (*Process, error) {
	p, err := e.m.of(id)
	switch {
	case err != nil:
		return nil, err
	case e.m.s.Platform != "linux":
		return nil, fmt.Errorf("the descriptors of process %d: %w", id.PID, errors.ErrUnsupported)
	case len(p.Descriptors) == 0:
		return nil, fmt.Errorf("the descriptors of process %d: %w", id.PID, errUnrecorded)
	}
	return p, nil
}

// Holder is not looked for: what was known of the link is told by the proofs.
func (e ends) Holder(monitor.Identity) (process.Info, monitor.Pipe, bool, error) {
	return process.Info{}, monitor.Pipe{}, false, fmt.Errorf("the client of process %d: %w", e.server.PID, errUnrecorded)
}

// Closed is as this machine has it.
func (e ends) Closed(link monitor.Pipe) (bool, error) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	server, err := e.of(e.server)
	if err != nil {
		return false, err
	}
	over := func(end monitor.PipeEnd) (closed, held bool) {
		for _, d := range server.Descriptors {
			if d.Kind != "" && d.Inode == end.Inode {
				return d.Deserted, true
			}
		}
		return false, false
	}
	in, heldIn := over(link.In)
	out, heldOut := over(link.Out)
	if (!heldIn && (out || !heldOut)) || (!heldOut && in) {
		return false, fmt.Errorf("the link of process %d: %w", e.server.PID, process.ErrUnheld)
	}
	return in && out, nil
}

func (e ends) Abandoned() (bool, error) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	if e.m.s.Platform != "linux" {
		return false, fmt.Errorf("the links of process %d: %w", e.server.PID, errors.ErrUnsupported)
	}
	if v := e.m.s.server(e.server.PID); v != nil {
		return v.Abandoned, nil
	}
	return false, fmt.Errorf("whether process %d is abandoned: %w", e.server.PID, errUnrecorded)
}

// HasUnixClients reports none: no situation has one yet.
func (e ends) HasUnixClients([]monitor.Identity) (bool, error) {
	if e.m.s.Platform != "linux" {
		return false, errors.ErrUnsupported
	}
	return false, nil
}

// SameInput is as process.Climb has it: the same standard input, or one that the
// server has moved away and left the null device for.
func (e ends) SameInput(wrapper monitor.Identity) bool {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	if e.m.s.Platform != "linux" {
		return true
	}
	server, err := e.of(e.server)
	if err != nil {
		return false
	}
	above, err := e.of(wrapper)
	if err != nil {
		return false
	}
	given, ok := above.input()
	if !ok {
		return false
	}
	mine, has := server.input()
	switch {
	case has && sameEnd(mine, given):
		return true
	case has && mine.File != "null":
		return false
	}
	return slices.ContainsFunc(server.Descriptors, func(d Descriptor) bool {
		return d.FD > 2 && (d.Reads || d.Kind != process.Pipe) && sameEnd(d, given)
	})
}

func sameEnd(a, b Descriptor) bool {
	return a.Kind == b.Kind && a.Inode == b.Inode && a.File == b.File
}

// input is descriptor 0.
func (p *Process) input() (Descriptor, bool) {
	i := slices.IndexFunc(p.Descriptors, func(d Descriptor) bool { return d.FD == 0 })
	if i < 0 {
		return Descriptor{}, false
	}
	return p.Descriptors[i], true
}

func (e ends) Directory() (string, error) {
	return "", fmt.Errorf("the working directory of process %d: %w", e.server.PID, errUnrecorded)
}

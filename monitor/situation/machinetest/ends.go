package machinetest

import (
	"errors"
	"fmt"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/situation"
)

func (m *Machine) Ends(server monitor.Identity) process.Ends { return ends{m, server} }

// ends is what is recorded of the ends of a server. Other systems than Linux do not
// tell of them.
type ends struct {
	m      *Machine
	server monitor.Identity
}

// recorded is one answer about the server.
func (e ends) recorded(what string, answer func(*situation.Server) *bool) (bool, error) {
	if e.m.s.Platform != "linux" {
		return false, fmt.Errorf("%s of process %d: %w", what, e.server.PID, errors.ErrUnsupported)
	}
	p, _ := e.m.of(e.server) // of one that has gone nothing is recorded
	if p.Server != nil && answer(p.Server) != nil {
		return *answer(p.Server), nil
	}
	return false, fmt.Errorf("%s of process %d: %w", what, e.server.PID, errUnrecorded)
}

// Closed is told of the conversation of the proof, which is the only one that is known.
func (e ends) Closed(monitor.Pipe) (bool, error) {
	return e.recorded("the conversation", func(s *situation.Server) *bool { return s.Closed })
}

func (e ends) Abandoned() (bool, error) {
	return e.recorded("a client that was never seen", func(s *situation.Server) *bool { return s.Abandoned })
}

// Holder is not looked for: what was known of the link is told by the proofs.
func (e ends) Holder(monitor.Identity) (process.Info, monitor.Pipe, bool, error) {
	return process.Info{}, monitor.Pipe{}, false, fmt.Errorf("the client of process %d: %w", e.server.PID, errUnrecorded)
}

// HasUnixClients reports none: no situation has one yet.
func (e ends) HasUnixClients([]monitor.Identity) (bool, error) {
	if e.m.s.Platform != "linux" {
		return false, errors.ErrUnsupported
	}
	return false, nil
}

func (e ends) SameInput(wrapper monitor.Identity) bool {
	if e.m.s.Platform != "linux" {
		return true
	}
	p, err := e.m.of(e.server)
	return err == nil && slices.Contains(p.SameInput, wrapper.PID)
}

func (e ends) Directory() (string, error) {
	return "", fmt.Errorf("the working directory of process %d: %w", e.server.PID, errUnrecorded)
}

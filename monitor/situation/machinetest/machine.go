// Package machinetest is the machine of a situation, for tests: a process.System and its
// dashboards, on which the real watch and stop ladder run without a process or a signal.
// Nothing here decides anything.
package machinetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/situation"
)

// errUnrecorded says that a situation does not hold what was asked. It is never
// taken for a no.
var errUnrecorded = errors.New("this was not recorded")

// Machine answers what the table of a situation has. A process ends at the first signal
// that asks it to. What the table does not hold is errUnrecorded; only the ports of a
// process, that it is in a container and that clients came over a unix socket would be
// there. It is safe for concurrent use.
type Machine struct {
	s    *situation.Situation
	self int

	mu      sync.Mutex
	byPID   map[int]situation.Process
	ended   []int                     // pids of those that a signal has ended
	watched map[monitor.Identity]bool // whose ends exits tells
	exits   chan monitor.Identity
}

// New is the machine as a situation has it.
func New(s *situation.Situation) *Machine {
	m := &Machine{
		s: s, self: s.Self, byPID: make(map[int]situation.Process, len(s.Processes)+1),
		watched: map[monitor.Identity]bool{}, exits: make(chan monitor.Identity, len(s.Processes)+len(s.Then)),
	}
	m.become(s.Processes)
	if m.self == 0 { // it runs beside all of these
		m.self = math.MaxInt32
		m.become([]situation.Process{{PID: m.self, Start: math.MaxUint64, UID: s.UID, Name: "lamplighter"}})
	}
	return m
}

// Change makes the machine that of the situation after its change.
func (m *Machine) Change() { m.become(m.s.Then) }

func (m *Machine) become(processes []situation.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range processes {
		m.byPID[p.PID] = p
	}
	m.tell()
}

// Ended are the pids of the processes that were ended by a signal, ascending.
func (m *Machine) Ended() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.ended))
}

// table is all processes, by their pids.
func (m *Machine) table() []situation.Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.byPID), func(a, b situation.Process) int { return a.PID - b.PID })
}

// at is who has a pid.
func (m *Machine) at(pid int) (situation.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, there := m.byPID[pid]; there {
		return p, nil
	}
	return situation.Process{}, gone(pid)
}

func gone(pid int) error { return fmt.Errorf("process %d: %w", pid, process.ErrGone) }

// of is the process of an identity.
func (m *Machine) of(id monitor.Identity) (situation.Process, error) {
	p, err := m.at(id.PID)
	if err == nil && p.Identity() != id {
		return situation.Process{}, gone(id.PID)
	}
	return p, err
}

// tell tells of those that are watched and have ended; the caller holds the lock.
func (m *Machine) tell() {
	for id := range m.watched {
		if !m.has(id) {
			delete(m.watched, id)
			m.exits <- id
		}
	}
}

// has reports whether a process is there; the caller holds the lock.
func (m *Machine) has(id monitor.Identity) bool {
	p, there := m.byPID[id.PID]
	return there && p.Identity() == id
}

func (m *Machine) Self() int { return m.self }

func (m *Machine) Scan() func() ([]process.Info, error) {
	known := map[monitor.Identity]bool{}
	return func() (fresh []process.Info, err error) {
		for _, p := range m.table() {
			if p.UID == m.s.UID && p.PID != m.self && len(p.Args) > 0 && !known[p.Identity()] {
				known[p.Identity()] = true
				fresh = append(fresh, info(p))
			}
		}
		return fresh, nil
	}
}

func (m *Machine) Read(pid int) (process.Info, error) {
	p, err := m.at(pid)
	return info(p), err
}

func (m *Machine) Stat(pid int) (process.Stat, error) {
	p, err := m.at(pid)
	return stat(p), err
}

func (m *Machine) MainThreadCPU(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("the run time of process %d: %w", pid, errUnrecorded)
}

func (m *Machine) Started(id monitor.Identity) (time.Time, error) {
	if p, err := m.of(id); err == nil && p.Server != nil && !p.Server.StartedAt.IsZero() {
		return p.Server.StartedAt, nil
	}
	return time.Time{}, fmt.Errorf("when process %d started: %w", id.PID, errUnrecorded)
}

func (m *Machine) SameUser(pid int) (bool, error) {
	p, err := m.at(pid)
	return err == nil && p.UID == m.s.UID, err
}

func (m *Machine) Tree(root monitor.Identity) ([]process.Stat, error) {
	top, err := m.of(root)
	if err != nil {
		return nil, err
	}
	tree, table := []process.Stat{stat(top)}, m.table()
	for i := 0; i < len(tree); i++ {
		for _, p := range table {
			known := slices.ContainsFunc(tree, func(s process.Stat) bool { return s.PID == p.PID })
			// What started before its parent has got the pid of a dead one for it.
			if p.Parent == tree[i].PID && p.Start >= tree[i].Start && !known {
				tree = append(tree, stat(p))
			}
		}
	}
	return tree, nil
}

func (m *Machine) Listeners(pids []int) ([]process.Listener, error) {
	var list []process.Listener
	for _, p := range m.table() {
		for _, port := range p.Ports {
			if p.UID == m.s.UID && slices.Contains(pids, p.PID) {
				list = append(list, process.Listener{PID: p.PID, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port.Port))})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b process.Listener) int { return a.Addr.Compare(b.Addr) })
	return slices.Compact(list), nil
}

func (m *Machine) Connections(port int) ([]process.Connection, error) {
	var list []process.Connection
	for _, p := range m.table() {
		for _, at := range p.Ports {
			for _, user := range at.Users {
				if at.Port == port {
					list = append(list, process.Connection{PID: user})
				}
			}
		}
	}
	return list, nil
}

// Service is what manages one of a tree: what a process is the main one of is so for
// every tree that it is in.
func (m *Machine) Service(_ context.Context, server monitor.Identity, tree []monitor.Identity) (unit string, contained bool, err error) {
	if p, err := m.of(server); err == nil {
		contained = p.Contained
	}
	for _, id := range tree {
		p, gone := m.of(id)
		switch {
		case gone != nil || p.State == situation.Unreaped:
		case p.Service == nil:
			err = errors.Join(err, fmt.Errorf("what manages process %d: %w", id.PID, errUnrecorded))
		case *p.Service != "":
			return *p.Service, contained, nil
		}
	}
	return "", contained, err
}

func info(p situation.Process) process.Info {
	return process.Info{Identity: p.Identity(), Parent: p.Parent, Name: p.Name, Exe: p.Exe, Args: p.Args}
}

func stat(p situation.Process) process.Stat {
	return process.Stat{Identity: p.Identity(), Parent: p.Parent, State: runStates[p.State], RSSBytes: p.RSS}
}

// runStates are the states as process.Stat has them.
var runStates = map[situation.State]process.RunState{
	"": process.Running, situation.Stopped: process.Stopped, situation.Unreaped: process.Unreaped,
}

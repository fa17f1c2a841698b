package situation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// errUnrecorded says that a situation does not hold what was asked. It is never
// taken for a no.
var errUnrecorded = errors.New("this was not recorded")

// Machine is the machine of a situation: a process.System and its dashboards, which
// answer what the table has, where a process ends at the first signal that asks it to.
// What the table does not hold is errUnrecorded; only the ports of a process, that it is
// in a container and that clients came over a unix socket would be there. It is safe for
// concurrent use.
type Machine struct {
	mu    sync.Mutex
	s     *Situation
	self  int
	byPID map[int]*Process
	exits []*exits
	ended []int // pids of those that a signal has ended
}

// NewMachine is the machine as a situation has it.
func NewMachine(s *Situation) *Machine {
	m := &Machine{s: s, self: s.Self, byPID: make(map[int]*Process, len(s.Processes)+1)}
	m.become(s.Processes)
	if m.self == 0 { // it runs beside all of these
		m.self = math.MaxInt32
		m.become([]Process{{PID: m.self, Start: math.MaxUint64, UID: s.UID, Name: "lamplighter"}})
	}
	return m
}

// Change makes the machine that of the situation after its change.
func (m *Machine) Change() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.become(m.s.Then)
	m.tell()
}

func (m *Machine) become(processes []Process) {
	for _, p := range processes {
		m.byPID[p.PID] = &p
	}
}

// Ended are the pids of the processes that were ended by a signal, ascending.
func (m *Machine) Ended() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.ended))
}

// tell tells of the ends of processes.
func (m *Machine) tell() {
	for _, e := range m.exits {
		e.tell()
	}
}

// at is who has a pid; the caller holds the lock.
func (m *Machine) at(pid int) (*Process, error) {
	if p := m.byPID[pid]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("process %d: %w", pid, process.ErrGone)
}

// of is the process of an identity; the caller holds the lock.
func (m *Machine) of(id monitor.Identity) (*Process, error) {
	p, err := m.at(id.PID)
	if err == nil && p.Identity() != id {
		return nil, fmt.Errorf("process %d: %w", id.PID, process.ErrGone)
	}
	return p, err
}

func (m *Machine) Self() int { return m.self }

func (m *Machine) Scan() func() ([]process.Info, error) {
	known := map[monitor.Identity]bool{}
	return func() ([]process.Info, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		var fresh []process.Info
		for _, p := range m.byPID {
			if p.UID == m.s.UID && p.PID != m.self && len(p.Args) > 0 && !known[p.Identity()] {
				known[p.Identity()] = true
				fresh = append(fresh, p.info())
			}
		}
		slices.SortFunc(fresh, func(a, b process.Info) int { return a.PID - b.PID })
		return fresh, nil
	}
}

func (m *Machine) Read(pid int) (process.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.at(pid)
	if err != nil {
		return process.Info{}, err
	}
	return p.info(), nil
}

func (m *Machine) Stat(pid int) (process.Stat, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.at(pid)
	if err != nil {
		return process.Stat{}, err
	}
	return p.stat(), nil
}

func (m *Machine) MainThreadCPU(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("the run time of process %d: %w", pid, errUnrecorded)
}

func (m *Machine) Started(id monitor.Identity) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, err := m.of(id); err == nil && p.Server != nil && !p.Server.StartedAt.IsZero() {
		return p.Server.StartedAt, nil
	}
	return time.Time{}, fmt.Errorf("when process %d started: %w", id.PID, errUnrecorded)
}

func (m *Machine) SameUser(pid int) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.at(pid)
	return err == nil && p.UID == m.s.UID, err
}

func (m *Machine) Tree(root monitor.Identity) ([]process.Stat, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	top, err := m.of(root)
	if err != nil {
		return nil, err
	}
	list := []*Process{top}
	for i := 0; i < len(list); i++ {
		var children []*Process
		for _, p := range m.byPID {
			// What started before its parent has got the pid of a dead one for it.
			if p.Parent == list[i].PID && p.Start >= list[i].Start && !slices.Contains(list, p) {
				children = append(children, p)
			}
		}
		slices.SortFunc(children, func(a, b *Process) int { return a.PID - b.PID })
		list = append(list, children...)
	}
	tree := make([]process.Stat, 0, len(list))
	for _, p := range list {
		tree = append(tree, p.stat())
	}
	return tree, nil
}

func (m *Machine) Listeners(pids []int) ([]process.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []process.Listener
	for _, pid := range pids {
		if p := m.byPID[pid]; p != nil && p.UID == m.s.UID {
			for _, port := range p.Ports {
				list = append(list, process.Listener{PID: pid, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port.Port))})
			}
		}
	}
	slices.SortFunc(list, func(a, b process.Listener) int { return a.Addr.Compare(b.Addr) })
	return slices.Compact(list), nil
}

func (m *Machine) Connections(port int) ([]process.Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []process.Connection
	for _, p := range m.byPID {
		for _, at := range p.Ports {
			if at.Port == port {
				for _, user := range at.Users {
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, err := m.of(server); err == nil {
		contained = p.Contained
	}
	for _, id := range tree {
		p, gone := m.of(id)
		switch {
		case gone != nil || p.State == Unreaped:
		case p.Service == nil:
			err = errors.Join(err, fmt.Errorf("what manages process %d: %w", id.PID, errUnrecorded))
		case *p.Service != "":
			return *p.Service, contained, nil
		}
	}
	return "", contained, err
}

// Identity is who the process is.
func (p *Process) Identity() monitor.Identity { return monitor.Identity{PID: p.PID, Start: p.Start} }

func (p *Process) info() process.Info {
	return process.Info{Identity: p.Identity(), Parent: p.Parent, Name: p.Name, Exe: p.Exe, Args: p.Args}
}

func (p *Process) stat() process.Stat {
	return process.Stat{Identity: p.Identity(), Parent: p.Parent, State: runStates[p.State], RSSBytes: p.RSS}
}

// runStates are the states as process.Stat has them.
var runStates = map[State]process.RunState{"": process.Running, Stopped: process.Stopped, Unreaped: process.Unreaped}

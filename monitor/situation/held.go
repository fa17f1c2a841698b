package situation

import (
	"context"
	"fmt"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Hold takes hold of a process of the table.
func (m *Machine) Hold(id monitor.Identity) (process.HeldProcess, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.of(id)
	switch {
	case err != nil:
		return nil, err
	case p.State == Unreaped:
		return nil, fmt.Errorf("process %d: %w", id.PID, process.ErrGone)
	}
	return heldProcess{m, id}, nil
}

type heldProcess struct {
	m  *Machine
	id monitor.Identity
}

// signal does something to the process, if it is there. Nobody is asked whether it
// may: what must not get a signal is for the ladder to know.
func (h heldProcess) signal(do func(*Process)) error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	p, err := h.m.of(h.id)
	if err == nil {
		do(p)
	}
	return err
}

// end ends the process, whose children somebody adopts.
func (h heldProcess) end(p *Process) {
	delete(h.m.byPID, p.PID)
	h.m.ended = append(h.m.ended, p.PID)
	for _, child := range h.m.byPID {
		if child.Parent == p.PID {
			child.Parent = 1
		}
	}
	h.m.tell()
}

func (h heldProcess) Terminate() error { return h.signal(h.end) }
func (h heldProcess) Kill() error      { return h.signal(h.end) }
func (h heldProcess) Suspend() error   { return h.signal(func(p *Process) { p.State = Stopped }) }
func (h heldProcess) Continue() error  { return h.signal(func(p *Process) { p.State = "" }) }
func (h heldProcess) Close()           {}

func (h heldProcess) Ended() bool {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	_, err := h.m.of(h.id)
	return err != nil
}

// Wait waits for the end of ctx: what is signalled has ended at once.
func (h heldProcess) Wait(ctx context.Context) error {
	if h.Ended() {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// Exits tells of the ends of processes of the table.
func (m *Machine) Exits() process.Exits {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &exits{m: m, watched: map[monitor.Identity]bool{}, exits: make(chan monitor.Identity, mostProcesses)}
	m.exits = append(m.exits, e)
	return e
}

type exits struct {
	m       *Machine
	watched map[monitor.Identity]bool
	exits   chan monitor.Identity
}

// tell tells of those that have ended; the machine is locked.
func (e *exits) tell() {
	for id := range e.watched {
		if _, err := e.m.of(id); err != nil {
			delete(e.watched, id)
			e.exits <- id
		}
	}
}

func (e *exits) Watch(id monitor.Identity) error {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	p, err := e.m.of(id)
	if err == nil && p.State == Unreaped {
		err = fmt.Errorf("process %d: %w", id.PID, process.ErrGone)
	}
	if err == nil {
		e.watched[id] = true
	}
	return err
}

func (e *exits) Forget(id monitor.Identity) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	delete(e.watched, id)
}

func (e *exits) Exits() <-chan monitor.Identity { return e.exits }

func (e *exits) Serve(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

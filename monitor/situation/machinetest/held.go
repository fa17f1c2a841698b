package machinetest

import (
	"context"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/situation"
)

// Hold takes hold of a process of the table.
func (m *Machine) Hold(id monitor.Identity) (process.HeldProcess, error) {
	if !process.Lives(m, id) {
		return nil, gone(id.PID)
	}
	return heldProcess{m, id}, nil
}

type heldProcess struct {
	m  *Machine
	id monitor.Identity
}

// signal does something to the process, if it is there. Nobody is asked whether it
// may: what must not get a signal is for the ladder to know.
func (h heldProcess) signal(do func(pid int)) error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if !h.m.has(h.id) {
		return gone(h.id.PID)
	}
	do(h.id.PID)
	return nil
}

// end ends the process, whose children somebody adopts.
func (h heldProcess) end(pid int) {
	delete(h.m.byPID, pid)
	h.m.ended = append(h.m.ended, pid)
	for _, child := range h.m.byPID {
		if child.Parent == pid {
			child.Parent = 1
			h.m.byPID[child.PID] = child
		}
	}
	h.m.tell()
}

// turn changes what the scheduler says about the process.
func (h heldProcess) turn(state situation.State) func(pid int) {
	return func(pid int) {
		p := h.m.byPID[pid]
		p.State = state
		h.m.byPID[pid] = p
	}
}

func (h heldProcess) Terminate() error { return h.signal(h.end) }
func (h heldProcess) Kill() error      { return h.signal(h.end) }
func (h heldProcess) Suspend() error   { return h.signal(h.turn(situation.Stopped)) }
func (h heldProcess) Continue() error  { return h.signal(h.turn("")) }
func (h heldProcess) Close()           {}

func (h heldProcess) Ended() bool {
	_, err := h.m.of(h.id)
	return err != nil
}

// Wait waits for the end of ctx: what is signalled has ended at once, and nobody waits
// for it.
func (h heldProcess) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Exits tells of the ends of processes of the table. Whoever asks for it shares it.
func (m *Machine) Exits() process.Exits { return exits{m} }

type exits struct{ m *Machine }

func (e exits) Watch(id monitor.Identity) error {
	if !process.Lives(e.m, id) {
		return gone(id.PID)
	}
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	e.m.watched[id] = true
	e.m.tell() // it may have ended meanwhile
	return nil
}

func (e exits) Forget(id monitor.Identity) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	delete(e.m.watched, id)
}

func (e exits) Exits() <-chan monitor.Identity { return e.m.exits }

func (e exits) Serve(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

package situation

import (
	"errors"
	"fmt"
	"slices"

	"lamplighter/monitor/process"
)

// mostProcesses is the limit of what is taken for a situation.
const mostProcesses = 20_000

// check tells what contradicts itself. That an expectation can be met at all shows
// when it is played. An end that nobody holds the other side of must not have one who
// does.
func (s *Situation) check() error {
	switch {
	case s.Name == "" || s.Now.IsZero():
		return errors.New("it has no name, or does not say when it is")
	case len(s.Processes) > mostProcesses:
		return fmt.Errorf("it has more than %d processes", mostProcesses)
	case s.Self != 0 && s.process(s.Self) == nil:
		return fmt.Errorf("self is process %d, which is not among the processes", s.Self)
	}
	type end struct {
		pipe   uint64 // inode
		writes bool
	}
	held := map[end]bool{}
	for i, p := range s.Processes {
		if s.process(p.PID) != &s.Processes[i] {
			return fmt.Errorf("process %d is there twice", p.PID)
		}
		for _, d := range p.Descriptors {
			if d.Kind == process.Pipe {
				held[end{d.Inode, d.Writes}] = true
			}
		}
	}
	for _, p := range s.Processes {
		for _, d := range p.Descriptors {
			if d.Deserted && held[end{d.Inode, !d.Writes}] {
				return fmt.Errorf("descriptor %d of process %d is closed at the other end, which a process holds", d.FD, p.PID)
			}
		}
	}
	for _, v := range s.Servers {
		if s.process(v.PID) == nil {
			return fmt.Errorf("server %d is not among the processes", v.PID)
		}
	}
	for _, e := range s.Expect {
		if s.process(e.PID) == nil {
			return fmt.Errorf("something is expected of process %d, which is not among the processes", e.PID)
		}
	}
	if s.Then != nil {
		return s.after().check()
	}
	return nil
}

// after is the situation with the change.
func (s *Situation) after() *Situation {
	if s.Then == nil {
		return s
	}
	a := *s
	a.Then = nil
	a.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p Process) bool {
		return slices.ContainsFunc(s.Then.Processes, func(o Process) bool { return o.PID == p.PID })
	})
	a.Processes = append(a.Processes, s.Then.Processes...)
	a.Servers = slices.DeleteFunc(slices.Clone(s.Servers), func(v Server) bool {
		return slices.ContainsFunc(s.Then.Servers, func(o Server) bool { return o.PID == v.PID })
	})
	a.Servers = append(a.Servers, s.Then.Servers...)
	return &a
}

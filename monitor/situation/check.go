package situation

import (
	"fmt"
	"slices"
)

// mostProcesses is the limit of what is taken for a situation.
const mostProcesses = 20_000

// check tells what contradicts itself. That an expectation can be met at all shows
// when it is played.
func (s *Situation) check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("it has no name")
	case s.Origin != Recorded && s.Origin != Constructed:
		return fmt.Errorf("its origin is %q; it is %q or %q", s.Origin, Recorded, Constructed)
	case s.Now.IsZero():
		return fmt.Errorf("it does not say when it is: now is missing")
	case s.Platform != "linux" && s.Platform != "windows" && s.Platform != "darwin":
		return fmt.Errorf("its platform is %q; it is linux, windows or darwin", s.Platform)
	case s.Order != "" && s.Order != "idle" && s.Order != "orphans" && s.Order != "all":
		return fmt.Errorf("its order is %q; it is idle, orphans or all", s.Order)
	case s.Self != 0 && s.process(s.Self) == nil:
		return fmt.Errorf("self is process %d, which is not among the processes", s.Self)
	}
	if err := s.checkTable(); err != nil {
		return err
	}
	for _, r := range s.Rules {
		if err := r.rule().Check(); err != nil {
			return fmt.Errorf("its rule %q %w", r.Name, err)
		}
	}
	if s.Then != nil {
		if err := s.after().checkTable(); err != nil {
			return fmt.Errorf("then: %w", err)
		}
	}
	for _, e := range s.Expect {
		if s.process(e.PID) == nil {
			return fmt.Errorf("something is expected of process %d, which is not among the processes", e.PID)
		}
	}
	return nil
}

// checkTable tells what cannot be in a table of processes and in what is known of its
// servers. An end that nobody holds the other side of must not have one who does.
func (s *Situation) checkTable() error {
	if len(s.Processes) > mostProcesses {
		return fmt.Errorf("it has more than %d processes", mostProcesses)
	}
	seen := make(map[int]bool, len(s.Processes))
	held := map[Descriptor]int{} // the end that somebody has: its inode and access
	for i := range s.Processes {
		p := &s.Processes[i]
		switch {
		case p.PID <= 0:
			return fmt.Errorf("process %d cannot be", p.PID)
		case seen[p.PID]:
			return fmt.Errorf("process %d is there twice", p.PID)
		case p.State != "" && p.State != Stopped && p.State != Unreaped:
			return fmt.Errorf("the state of process %d is %q; it is %q, %q or none", p.PID, p.State, Stopped, Unreaped)
		}
		seen[p.PID] = true
		for _, d := range p.Descriptors {
			if err := d.check(); err != nil {
				return fmt.Errorf("descriptor %d of process %d %w", d.FD, p.PID, err)
			}
			held[d.end()] = p.PID
		}
	}
	for i := range s.Processes {
		for _, d := range s.Processes[i].Descriptors {
			if other, is := held[d.opposite()]; d.Closed && d.Pipe != 0 && is {
				return fmt.Errorf("descriptor %d of process %d is closed at the other end, which process %d holds", d.FD, s.Processes[i].PID, other)
			}
		}
	}
	for _, v := range s.Servers {
		switch {
		case !seen[v.PID]:
			return fmt.Errorf("server %d is not among the processes", v.PID)
		case v.Link != nil && (v.Link.In == 0 || v.Link.Out == 0):
			return fmt.Errorf("the link of server %d lacks an end", v.PID)
		case v.Link != nil && v.Client == nil:
			return fmt.Errorf("server %d has a link, and nobody says with which client", v.PID)
		}
	}
	return nil
}

func (d Descriptor) check() error {
	switch {
	case (d.Pipe != 0) == (d.Socket != 0 || d.File != ""), d.Socket != 0 && d.File != "":
		return fmt.Errorf("is not one of pipe, socket and file")
	case d.Pipe != 0 && d.Access != "r" && d.Access != "w" && d.Access != "rw":
		return fmt.Errorf("is a pipe with the access %q; it is r, w or rw", d.Access)
	}
	return nil
}

// end is what tells one end of a pipe from others.
func (d Descriptor) end() Descriptor {
	return Descriptor{Pipe: d.Pipe, Access: d.Access}
}

// opposite is the end of a pipe that the other side has.
func (d Descriptor) opposite() Descriptor {
	if d.Access == "r" {
		return Descriptor{Pipe: d.Pipe, Access: "w"}
	}
	return Descriptor{Pipe: d.Pipe, Access: "r"}
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

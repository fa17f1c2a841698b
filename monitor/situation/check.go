package situation

import (
	"fmt"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// The limits of what is taken for a situation.
const (
	mostProcesses = 20_000
	mostArguments = 10_000
)

// check tells what contradicts itself.
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
	case s.Order != "" && s.Order != policy.WhatIdle && s.Order != policy.WhatOrphans && s.Order != policy.WhatAll:
		return fmt.Errorf("its order is %q; it is %q, %q or %q", s.Order, policy.WhatIdle, policy.WhatOrphans, policy.WhatAll)
	}
	if err := checkTable(s.Processes, s.UID); err != nil {
		return err
	}
	pids := pidsOf(s.Processes)
	if s.Self != 0 && !pids[s.Self] {
		return fmt.Errorf("self is process %d, which is not among the processes", s.Self)
	}
	if err := checkServers(s.Servers, pids); err != nil {
		return err
	}
	for _, r := range s.Rules {
		if err := r.rule().Check(); err != nil {
			return fmt.Errorf("its rule %q %w", r.Name, err)
		}
	}
	if err := s.Settings.check(); err != nil {
		return err
	}
	if s.Then != nil {
		if err := s.Then.check(s, pids); err != nil {
			return fmt.Errorf("then: %w", err)
		}
	}
	for _, e := range s.Expect {
		if !pids[e.PID] {
			return fmt.Errorf("something is expected of process %d, which is not among the processes", e.PID)
		}
		if !slices.Contains([]policy.Do{policy.End, policy.Wait, policy.Notify, policy.Refuse, Leave}, e.Do) {
			return fmt.Errorf("%q is expected of process %d; it is one of end, wait, notify, refuse and leave", e.Do, e.PID)
		}
		if e.Rule != "" && !slices.Contains(policy.All, e.Rule) {
			return fmt.Errorf("of process %d a decision by the rule %q is expected, and there is no such rule", e.PID, e.Rule)
		}
	}
	return nil
}

func pidsOf(table []Process) map[int]bool {
	pids := make(map[int]bool, len(table))
	for i := range table {
		pids[table[i].PID] = true
	}
	return pids
}

// checkTable tells what cannot be in a table of processes. An end that nobody
// holds the other side of must not have one who does.
func checkTable(table []Process, uid int) error {
	if len(table) > mostProcesses {
		return fmt.Errorf("it has more than %d processes", mostProcesses)
	}
	seen := make(map[int]bool, len(table))
	held := map[Descriptor]int{} // the end that somebody has: its inode and access
	for i := range table {
		p := &table[i]
		switch {
		case p.PID <= 0 || p.Parent < 0:
			return fmt.Errorf("process %d with the parent %d cannot be", p.PID, p.Parent)
		case seen[p.PID]:
			return fmt.Errorf("process %d is there twice", p.PID)
		case len(p.Args) > mostArguments:
			return fmt.Errorf("process %d has more than %d arguments", p.PID, mostArguments)
		case p.State != "" && p.State != Stopped && p.State != Unreaped:
			return fmt.Errorf("the state of process %d is %q; it is %q, %q or none", p.PID, p.State, Stopped, Unreaped)
		}
		seen[p.PID] = true
		for _, d := range p.Descriptors {
			if err := d.check(); err != nil {
				return fmt.Errorf("process %d: %w", p.PID, err)
			}
			if d.Pipe != 0 {
				held[d.end()] = p.PID
			}
		}
		for _, port := range p.Ports {
			if port.Port <= 0 || port.Port > 65535 {
				return fmt.Errorf("process %d listens on port %d, which cannot be", p.PID, port.Port)
			}
		}
	}
	for i := range table {
		for _, d := range table[i].Descriptors {
			if other, is := held[d.opposite()]; d.Closed && d.Pipe != 0 && is {
				return fmt.Errorf("descriptor %d of process %d is closed at the other end, which process %d holds", d.FD, table[i].PID, other)
			}
		}
	}
	return nil
}

func (d Descriptor) check() error {
	kinds := 0
	for _, is := range []bool{d.Pipe != 0, d.Socket != 0, d.File != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case d.FD < 0:
		return fmt.Errorf("there is no descriptor %d", d.FD)
	case kinds != 1:
		return fmt.Errorf("descriptor %d is not one of pipe, socket and file", d.FD)
	case d.Pipe != 0 && d.Access != "r" && d.Access != "w" && d.Access != "rw":
		return fmt.Errorf("descriptor %d is a pipe with the access %q; it is r, w or rw", d.FD, d.Access)
	case d.Pipe == 0 && d.Access != "", d.Socket == 0 && d.Peer != 0, d.File != "" && d.Closed, d.Closed && d.Peer != 0, d.Closed && d.Access == "rw":
		return fmt.Errorf("what is said about descriptor %d does not fit together", d.FD)
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

func checkServers(list []Server, pids map[int]bool) error {
	seen := map[int]bool{}
	for _, v := range list {
		switch {
		case !pids[v.PID]:
			return fmt.Errorf("server %d is not among the processes", v.PID)
		case seen[v.PID]:
			return fmt.Errorf("server %d is there twice", v.PID)
		case v.Keeper != 0 && !pids[v.Keeper]:
			return fmt.Errorf("the keeper of server %d is process %d, which is not among the processes", v.PID, v.Keeper)
		case v.Lifetime != "" && v.Lifetime != monitor.LifetimeSession && v.Lifetime != monitor.LifetimeShared:
			return fmt.Errorf("the lifetime of server %d is %q; it is %q, %q or none", v.PID, v.Lifetime, monitor.LifetimeSession, monitor.LifetimeShared)
		case v.Client != nil && v.Client.PID <= 0:
			return fmt.Errorf("the client of server %d is process %d, which cannot be", v.PID, v.Client.PID)
		case v.Link != nil && (v.Link.In == 0 || v.Link.Out == 0):
			return fmt.Errorf("the link of server %d lacks an end", v.PID)
		case v.Link != nil && v.Client == nil:
			return fmt.Errorf("server %d has a link, and nobody says with which client", v.PID)
		case v.Dashboard != nil && (v.Dashboard.Port <= 0 || v.Dashboard.Port > 65535):
			return fmt.Errorf("the dashboard of server %d is at port %d, which cannot be", v.PID, v.Dashboard.Port)
		case v.MCPPort < 0 || v.MCPPort > 65535:
			return fmt.Errorf("server %d takes its clients at port %d, which cannot be", v.PID, v.MCPPort)
		}
		seen[v.PID] = true
	}
	return nil
}

// check looks at the table as it is afterwards.
func (c *Change) check(s *Situation, pids map[int]bool) error {
	for _, pid := range c.Ended {
		if !pids[pid] {
			return fmt.Errorf("process %d ends, which is not among the processes", pid)
		}
	}
	after := s.after()
	if err := checkTable(after.Processes, s.UID); err != nil {
		return err
	}
	return checkServers(c.Servers, pidsOf(after.Processes))
}

// after is the situation with the change.
func (s *Situation) after() *Situation {
	if s.Then == nil {
		return s
	}
	a := *s
	a.Then = nil
	replaced := pidsOf(s.Then.Processes)
	for _, pid := range s.Then.Ended {
		replaced[pid] = true
	}
	a.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p Process) bool { return replaced[p.PID] })
	a.Processes = append(a.Processes, s.Then.Processes...)
	left := pidsOf(a.Processes)
	a.Servers = slices.DeleteFunc(slices.Clone(s.Servers), func(v Server) bool {
		return !left[v.PID] || slices.ContainsFunc(s.Then.Servers, func(o Server) bool { return o.PID == v.PID })
	})
	a.Servers = append(a.Servers, s.Then.Servers...)
	return &a
}

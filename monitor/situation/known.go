package situation

import (
	"time"

	"lamplighter/monitor"
)

// server is what is known of the server that has a pid, nil when nothing is.
func (s *Situation) server(pid int) *Server {
	for i := range s.Servers {
		if s.Servers[i].PID == pid {
			return &s.Servers[i]
		}
	}
	return nil
}

// process is the one that has a pid, nil when there is none.
func (s *Situation) process(pid int) *Process {
	for i := range s.Processes {
		if s.Processes[i].PID == pid {
			return &s.Processes[i]
		}
	}
	return nil
}

// each calls yield with every server of which something is known, and its process.
func (s *Situation) each(yield func(*Server, *Process)) {
	for i := range s.Processes {
		if v := s.server(s.Processes[i].PID); v != nil {
			yield(v, &s.Processes[i])
		}
	}
}

// Pinned are the servers that the user has pinned.
func (s *Situation) Pinned() map[monitor.Identity]bool {
	pinned := map[monitor.Identity]bool{}
	s.each(func(v *Server, p *Process) { pinned[p.identity()] = v.Pinned })
	return pinned
}

// Kept are the servers that the user keeps, and until when.
func (s *Situation) Kept() map[monitor.Identity]time.Time {
	kept := map[monitor.Identity]time.Time{}
	s.each(func(v *Server, p *Process) {
		if !v.KeptUntil.IsZero() {
			kept[p.identity()] = v.KeptUntil
		}
	})
	return kept
}

// Launches are the servers that we had started.
func (s *Situation) Launches() []monitor.Launch {
	var list []monitor.Launch
	for _, v := range s.Servers {
		if v.Launch != nil {
			list = append(list, *v.Launch)
		}
	}
	return list
}

// Proofs are what was known of the servers before, each by its identity.
func (s *Situation) Proofs() map[monitor.Identity]monitor.Proof {
	proofs := map[monitor.Identity]monitor.Proof{}
	s.each(func(v *Server, p *Process) {
		proof := v.Proof
		if d := v.Dashboard; d != nil {
			proof.LastTask, proof.Calls, proof.FailingSince = d.LastTask, d.Calls, d.FailingSince
		}
		proofs[p.identity()] = proof
	})
	return proofs
}

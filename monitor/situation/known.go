package situation

import (
	"lamplighter/monitor"
	"lamplighter/monitor/rules"
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

// UserRules are the rules of the user.
func (s *Situation) UserRules() []rules.Rule {
	var list []rules.Rule
	for _, r := range s.Rules {
		list = append(list, r.rule())
	}
	return list
}

// Pinned are the servers that the user has pinned.
func (s *Situation) Pinned() map[monitor.Identity]bool {
	pinned := map[monitor.Identity]bool{}
	s.each(func(v *Server, p *Process) { pinned[p.identity()] = v.Pinned })
	return pinned
}

// Launches are the servers that we had started.
func (s *Situation) Launches() []monitor.Launch {
	var list []monitor.Launch
	s.each(func(v *Server, p *Process) {
		if !v.Managed {
			return
		}
		launch := monitor.Launch{Server: p.identity(), Lifetime: v.Lifetime, Port: v.MCPPort, AskedBy: v.client()}
		if keeper := s.process(v.Keeper); keeper != nil {
			launch.Keeper = keeper.identity()
		}
		if v.Dashboard != nil {
			launch.DashboardPort = v.Dashboard.Port
		}
		list = append(list, launch)
	})
	return list
}

// Proofs are what was known of the servers before, each by its identity.
func (s *Situation) Proofs() map[monitor.Identity]monitor.Proof {
	proofs := map[monitor.Identity]monitor.Proof{}
	s.each(func(v *Server, p *Process) { proofs[p.identity()] = v.proof(p) })
	return proofs
}

func (v *Server) proof(p *Process) monitor.Proof {
	proof := monitor.Proof{Client: v.client(), IdleSince: v.IdleSince, CutOffUntil: v.CutUntil, RedSince: v.RedSince}
	if v.Link == nil {
		proof.SuspectedSince = v.AloneSince
	} else {
		proof.Pipe = &monitor.Pipe{In: p.pipeEnd(v.Link.In), Out: p.pipeEnd(v.Link.Out)}
		proof.AloneSince = v.AloneSince
	}
	if d := v.Dashboard; d != nil {
		proof.LastTask, proof.Calls, proof.FailingSince = d.LastTask, d.Calls, d.FailingSince
	}
	return proof
}

func (v *Server) client() *monitor.Client {
	if v.Client == nil {
		return nil
	}
	return &monitor.Client{Identity: monitor.Identity{PID: v.Client.PID, Start: v.Client.Start}, Name: v.Client.Name}
}

// pipeEnd is an end of a server by its inode.
func (p *Process) pipeEnd(inode uint64) monitor.PipeEnd {
	for _, d := range p.Descriptors {
		if d.Socket == inode {
			return monitor.PipeEnd{Inode: inode, Peer: d.Peer}
		}
	}
	return monitor.PipeEnd{Inode: inode}
}

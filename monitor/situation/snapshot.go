package situation

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
)

// found is an instance and what only this package needs to know of it.
type found struct {
	instance monitor.Instance
	server   *Process
	known    Server // zero when nothing was said
	cmd      serena.Command
	root     monitor.Identity // topmost wrapper, or the keeper
	members  []int            // the server and forks of it with the same command
}

// Snapshot is what the watch would show: the same rules recognise, name and
// judge the instances.
func (s *Situation) Snapshot() *monitor.Snapshot {
	snap := &monitor.Snapshot{Seq: 1, At: s.Now}
	for _, f := range s.find() {
		snap.Instances = append(snap.Instances, f.instance)
	}
	monitor.Sort(snap.Instances)
	return snap
}

// find finds the instances.
func (s *Situation) find() []*found {
	t := s.table()
	var own []rules.Rule
	for _, r := range s.Rules {
		own = append(own, r.rule())
	}
	set := rules.New(own)
	known := map[int]Server{}
	for _, v := range s.Servers {
		known[v.PID] = v
	}

	ordered := make([]*Process, 0, len(s.Processes))
	for i := range s.Processes {
		ordered = append(ordered, &s.Processes[i])
	}
	slices.SortFunc(ordered, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	var list []*found
	memberOf := map[int]*found{}
	for _, p := range ordered {
		if p.UID != s.UID || len(p.Args) == 0 {
			continue // the watch looks at processes of its user
		}
		kind, cmd, ok := recognise(set, p)
		_, named := known[p.PID]
		if !ok && !named {
			continue
		}
		// A launcher of Windows or a fork has the same arguments as the server.
		if above := memberOf[p.Parent]; ok && above != nil && above.instance.Kind == kind && (kind != monitor.KindSerena || slices.Equal(above.cmd.Args, cmd.Args)) {
			above.members = append(above.members, p.PID)
			memberOf[p.PID] = above
			if named {
				above.server, above.known = p, known[p.PID]
			}
			continue
		}
		f := &found{server: p, known: known[p.PID], cmd: cmd, members: []int{p.PID}}
		f.instance.Kind, f.instance.Recognised = kind, ok
		if !ok {
			f.instance.Kind = monitor.KindSerena // it said so itself
		}
		list, memberOf[p.PID] = append(list, f), f
	}
	kept := list[:0]
	for _, f := range list {
		if t.fill(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func recognise(set *rules.Set, p *Process) (kind string, cmd serena.Command, ok bool) {
	if cmd, ok := serena.ParseCommand(p.Exe, p.Args); ok {
		return monitor.KindSerena, cmd, true
	}
	if name, ok := set.Match(p.Exe, p.Args); ok {
		return name, serena.Command{Args: p.Args}, true
	}
	return "", serena.Command{}, false
}

// fill finds out what there is to know of an instance; false when no view shows
// it.
func (t *table) fill(f *found) bool {
	in, v := &f.instance, &f.known
	in.Identity = f.server.identity()
	in.ProjectName, in.Context, in.Modes = f.cmd.ProjectName(), f.cmd.Context, f.cmd.Modes
	if strings.HasPrefix(f.cmd.Project, "/") || strings.HasPrefix(f.cmd.Project, "~/") { // as a recording has it
		in.ProjectRoot = f.cmd.Project
	}
	in.StartedAt, in.Pinned, in.Managed, in.Lifetime = v.StartedAt, v.Pinned, v.Managed, v.Lifetime
	t.fillAbove(f)
	for _, p := range t.below(f.root.PID, nil) {
		in.RSSBytes += p.RSS
		in.Processes++
	}
	if v.RSS > 0 {
		in.RSSBytes = v.RSS
	}
	t.fillPorts(f)
	facts := t.judged(f)
	verdict := monitor.Judge(facts)
	in.State, in.Cause, in.Reason = verdict.State, verdict.Cause, verdict.Reason
	if in.State == monitor.StateZombie {
		in.Evidence.RedSince = v.RedSince
	}
	return !verdict.Gone && (in.Recognised || v.Dashboard != nil)
}

// fillAbove finds the wrappers, the keeper and the client.
func (t *table) fillAbove(f *found) {
	in, v := &f.instance, &f.known
	top := t.byPID[f.members[0]]
	root, above, err := t.view().Wrappers(top.info(), isLauncher)
	f.root = root
	if keeper := t.byPID[cmp.Or(v.Keeper, t.keeper(root, above))]; keeper != nil {
		f.root, in.Keeper, in.Managed = keeper.identity(), keeper.identity(), true
	}
	if v.Client != nil {
		in.Client = &monitor.Client{Identity: monitor.Identity{PID: v.Client.PID, Start: v.Client.Start}, Name: v.Client.Name}
	} else if err == nil && above != nil && !in.Managed {
		in.Client = &monitor.Client{Identity: above.Identity, Name: monitor.ClientName(above.Name, above.Exe, above.Args)}
	}
}

// keeper is the pid of a keeper of ours where the climb from a server ended, at
// the topmost wrapper or above it; 0 for none.
func (t *table) keeper(root monitor.Identity, above *process.Info) int {
	if above != nil && rules.IsKeeper(above.Exe, above.Args) {
		return above.PID
	}
	if top := t.byPID[root.PID]; top != nil && rules.IsKeeper(top.Exe, top.Args) {
		return top.PID
	}
	return 0
}

// fillPorts finds out how its clients reach it.
func (t *table) fillPorts(f *found) {
	in, v := &f.instance, &f.known
	if in.Kind != monitor.KindSerena {
		if !in.Managed {
			in.Evidence.Transport = "stdio"
		}
		for _, p := range t.below(f.root.PID, nil) {
			for _, port := range p.Ports {
				in.Evidence.Transport = "" // its clients may come either way
				if in.Port == 0 && slices.Contains(f.members, p.PID) {
					in.Port = port.Port
				}
			}
		}
		return
	}
	path := "/mcp"
	switch f.cmd.Transport {
	case "streamable-http":
		in.Evidence.Transport = "http"
	case "sse":
		in.Evidence.Transport, path = "sse", "/sse"
	default:
		in.Evidence.Transport = f.cmd.Transport
	}
	if v.MCPPort > 0 {
		in.MCPURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(v.MCPPort)) + path
	}
	if d := v.Dashboard; d != nil {
		in.Port, in.DashboardURL, in.Version = d.Port, serena.DashboardURL(d.Port), d.Version
		in.LastActivity, in.ToolCalls = d.LastActivity, d.Calls
		if d.Project != "" {
			in.ProjectName, in.ProjectRoot = d.Project, d.Root
		}
	}
}

// judged gathers the evidence and what the state is judged by.
func (t *table) judged(f *found) monitor.Facts {
	in, v, now := &f.instance, &f.known, t.s.Now
	e := &in.Evidence
	facts := monitor.Facts{
		Age: monitor.StartBudget, Stopped: f.server.State == Stopped, NoDashboard: in.Kind != monitor.KindSerena,
		Unreaped: f.server.State == Unreaped,
	}
	if !v.StartedAt.IsZero() {
		facts.Age = now.Sub(v.StartedAt)
	}
	if facts.Unreaped {
		facts.Exited, facts.ExitedFor = true, monitor.DefunctAfter
	}
	if d := v.Dashboard; d != nil {
		facts.Listens, facts.Answered, facts.Project = true, true, d.Project != ""
		e.KeepsState = d.KeepsState
		busy := len(d.Queue) > 0
		switch {
		case d.FailingSince.IsZero() && !facts.Stopped:
			in.Busy, in.LastHeartbeat = &busy, now
			if !busy {
				e.IdleSince = v.idleSince(now)
			}
		case !d.FailingSince.IsZero():
			facts.Failures, facts.FailingFor = monitor.FailuresForRed, now.Sub(d.FailingSince)
		}
		facts.Working = busy
	}
	t.alone(f)
	facts.Orphaned, facts.Suspected, facts.ClientGone = e.Orphaned, e.Suspected, e.ClientGone
	if !e.AloneSince.IsZero() {
		facts.AloneFor = now.Sub(e.AloneSince)
	}
	return facts
}

// idleSince is since when a server without a queue counts as idle, as the watch
// judges it: a call that was cut off goes on for a while where no queue tells of it.
func (v *Server) idleSince(now time.Time) time.Time {
	switch {
	case v.IdleSince.IsZero() || now.Before(v.CutUntil):
		return time.Time{}
	case v.CutUntil.After(v.IdleSince):
		return v.CutUntil
	}
	return v.IdleSince
}

// alone finds out whether anybody still holds a server over stdio.
func (t *table) alone(f *found) {
	in, v := &f.instance, &f.known
	e := &in.Evidence
	if in.Managed || e.Transport != "stdio" || !in.Recognised {
		return
	}
	gone := in.Client != nil && !t.lives(in.Client.Identity)
	e.ClientGone = gone
	switch {
	case in.Client != nil && !gone:
		return
	case v.Link != nil && t.s.Platform == "linux":
		e.Orphaned = t.closed(f.server, v.Link.In) && t.closed(f.server, v.Link.Out)
	case t.s.Platform == "linux":
		e.Suspected = v.Abandoned
	default:
		e.Suspected = gone // pipes cannot be looked at there
	}
	if e.Orphaned || e.Suspected {
		e.AloneSince = v.AloneSince
	}
}

// closed tells whether nobody holds the other end of one of a server's ends; one
// that it does not hold any more itself connects nobody either.
func (t *table) closed(server *Process, inode uint64) bool {
	open := slices.ContainsFunc(server.Descriptors, func(d Descriptor) bool {
		return (d.Pipe == inode || d.Socket == inode) && !d.Closed
	})
	return !open
}

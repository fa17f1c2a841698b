package situation

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// The users of a recorded table: ours, and anybody else.
const (
	ownUser   = 1000
	otherUser = 1001
)

// The limits of what is recorded beside the trees of the servers.
const (
	mostWords     = 24  // arguments of a program that is neither a server nor above one
	mostArgument  = 400 // bytes of one such argument
	queueTime     = 2 * time.Second
	mostRecording = 5000 // processes
)

// Dashboards are what the Serenas of a machine say: *serena.Client.
type Dashboards interface {
	LastExecution(ctx context.Context, port int) (*serena.Task, error)
	Queue(ctx context.Context, port int) ([]serena.Task, error)
	Overview(ctx context.Context, port int) (*serena.Overview, error)
}

// Record writes down the moment: the processes around the instances of a
// snapshot, with what it says about those, and self, the background process (or
// whoever acts as such). It reads what everybody may read about the user's own
// processes, asks the dashboards for their queue, and changes nothing.
//
// Secrets are removed: what looks like one in an argument, credentials and queries
// of addresses, the home directory and the names of users. The environment is
// never read. What programs, directories and projects are called stays, because the
// rules go by it.
//
// What ends meanwhile is left out. Name, Source, Rules and Policies are for the caller to
// set; the error is that of ctx.
func Record(ctx context.Context, system process.System, dashboards Dashboards, snap *monitor.Snapshot, self int) (*Situation, error) {
	r := &recorder{
		system: system, dashboards: dashboards,
		s: &Situation{
			Origin: Recorded, Platform: runtime.GOOS, UID: ownUser, Now: snap.At.Round(0), AwakeSince: snap.AwakeSince.Round(0),
		},
		taken: map[int]*taken{},
	}
	if home, err := os.UserHomeDir(); err == nil {
		r.hide.home = filepath.Clean(home)
	}
	if u, err := user.Current(); err == nil {
		r.hide.user = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	for _, in := range snap.Instances {
		if in.Identity.PID > 0 {
			r.around(ctx, in)
		}
	}
	if r.withAncestors(self); r.taken[self] != nil {
		r.s.Self = self
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("recording the processes: %w", err)
	}
	for _, pid := range slices.Sorted(maps.Keys(r.taken)) {
		r.s.Processes = append(r.s.Processes, r.hidden(r.taken[pid]))
	}
	return r.s, nil
}

// recorder collects what belongs to a recording.
type recorder struct {
	system     process.System
	dashboards Dashboards
	s          *Situation
	hide       hide
	taken      map[int]*taken
}

// taken is a process that is recorded, with what is private in it.
type taken struct {
	Process
	info  process.Info
	words bool // its arguments are looked into, not left out
}

// states are those that are recorded.
var states = map[process.RunState]State{process.Stopped: Stopped, process.Unreaped: Unreaped}

func isLauncher(p process.Info) bool { return command.IsLauncher(p.Exe, p.Args) }

// take adds a process; nil when it has ended.
func (r *recorder) take(pid int) *taken {
	if t := r.taken[pid]; t != nil {
		return t
	}
	if pid <= 0 || len(r.taken) == mostRecording {
		return nil
	}
	info, err := r.system.Read(pid)
	stat, statErr := r.system.Stat(pid)
	if err != nil || statErr != nil || info.Identity != stat.Identity {
		return nil
	}
	t := &taken{info: info, Process: Process{PID: pid, Parent: info.Parent, Start: info.Start, UID: otherUser, Name: info.Name}}
	t.State = states[stat.State]
	if ours, err := r.system.SameUser(pid); err == nil && ours {
		t.UID = ownUser
	}
	r.taken[pid] = t
	return t
}

// withAncestors adds a process and all above it, which it returns, its parent first.
func (r *recorder) withAncestors(pid int) []monitor.Identity {
	r.take(pid)
	above, _ := process.Above(r.system, pid) // nothing above what has ended
	for _, id := range above {
		r.take(id.PID)
	}
	return above
}

// around adds an instance, its tree, what is above it and what is beside it.
func (r *recorder) around(ctx context.Context, in *monitor.Instance) {
	server := r.take(in.Identity.PID)
	if server == nil || server.Identity() != in.Identity {
		return
	}
	root, client, _ := process.Climb(r.system, server.info, isLauncher)
	if in.Keeper.PID > 0 {
		root = in.Keeper
	}
	for _, id := range r.withAncestors(server.PID) {
		if r.system.Ends(in.Identity).SameInput(id) {
			server.SameInput = append(server.SameInput, id.PID)
		}
	}
	var tree []monitor.Identity
	stats, _ := r.system.Tree(root) // none where that has ended
	for _, s := range stats {
		if t := r.take(s.PID); t != nil {
			t.RSS, t.words = s.RSSBytes, t.words || isLauncher(t.info)
			tree = append(tree, s.Identity)
		}
	}
	server.words = true
	r.service(ctx, server, tree)
	if client != nil {
		r.beside(client.Identity)
	}
	if in.Client != nil {
		r.take(in.Client.PID)
	}
	r.listeners(tree)
	server.Server = r.server(ctx, in, server)
}

// service notes what manages a tree, at its server.
func (r *recorder) service(ctx context.Context, server *taken, tree []monitor.Identity) {
	unit, contained, err := r.system.Service(ctx, server.Identity(), tree)
	server.Contained = contained
	if err == nil {
		for _, id := range tree {
			if t := r.taken[id.PID]; t.Service == nil {
				t.Service = new("")
			}
		}
	}
	if err == nil || unit != "" {
		server.Service = new(r.hide.service(unit))
	}
}

// beside adds the children of a process: whether a wrapper has others, and what
// the same client started else.
func (r *recorder) beside(parent monitor.Identity) {
	tree, _ := r.system.Tree(parent) // none where that has ended
	for _, s := range tree {
		if s.Parent == parent.PID {
			r.take(s.PID)
		}
	}
}

// listeners notes where a tree listens, and who is connected.
func (r *recorder) listeners(tree []monitor.Identity) {
	var pids []int
	for _, id := range tree {
		pids = append(pids, id.PID)
	}
	list, err := r.system.Listeners(pids)
	if err != nil {
		return
	}
	for _, l := range list {
		t, addr := r.taken[l.PID], l.Addr.Addr()
		number := int(l.Addr.Port())
		if !addr.IsLoopback() && !addr.IsUnspecified() || slices.ContainsFunc(t.Ports, func(p Port) bool { return p.Port == number }) {
			continue
		}
		port := Port{Port: number}
		if connections, err := r.system.Connections(number); err == nil {
			for _, c := range connections {
				if r.take(c.PID) == nil {
					c.PID = 0
				}
				if !slices.Contains(port.Users, c.PID) {
					port.Users = append(port.Users, c.PID)
				}
			}
		}
		t.Ports = append(t.Ports, port)
	}
}

// hidden is a process without what is private.
func (r *recorder) hidden(t *taken) Process {
	p := t.Process
	p.Exe, p.Args = r.hide.path(t.info.Exe), r.hide.arguments(t.info.Args, t.words)
	if !t.words {
		p.Args = p.Args[:min(mostWords, len(p.Args))]
		for i, a := range p.Args {
			p.Args[i] = a[:min(mostArgument, len(a))]
		}
	}
	return p
}

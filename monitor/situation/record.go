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
)

// The users of a recorded table: ours, and anybody else.
const (
	ownUser   = 1000
	otherUser = 1001
)

// The limits of what is recorded beside the trees of the servers.
const (
	mostSiblings  = 100 // of a wrapper or a server
	mostWords     = 24  // arguments of a program that is neither a server nor above one
	mostArgument  = 400 // bytes of one such argument
	queueTime     = 2 * time.Second
	mostRecording = 5000 // processes
)

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
func Record(ctx context.Context, snap *monitor.Snapshot, self int) (*Situation, error) {
	r := &recorder{
		s: &Situation{
			Name: "recorded", Origin: Recorded, Source: "lamplighter doctor --record", Platform: runtime.GOOS,
			Now: snap.At.Round(0), AwakeSince: snap.AwakeSince.Round(0), UID: ownUser,
		},
		taken: map[int]*taken{},
	}
	if home, err := os.UserHomeDir(); err == nil {
		r.hide.home = filepath.Clean(home)
	}
	if u, err := user.Current(); err == nil {
		r.hide.user = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	for i := range snap.Instances {
		if snap.Instances[i].Identity.PID > 0 {
			r.around(ctx, &snap.Instances[i])
		}
	}
	if r.withAncestors(self) {
		r.s.Self = self
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("recording the processes: %w", err)
	}
	for _, pid := range slices.Sorted(maps.Keys(r.taken)) {
		r.s.Processes = append(r.s.Processes, r.process(r.taken[pid]))
	}
	slices.SortFunc(r.s.Servers, func(a, b Server) int { return a.PID - b.PID })
	return r.s, nil
}

// recorder collects what belongs to a recording.
type recorder struct {
	s     *Situation
	hide  hide
	taken map[int]*taken
}

// taken is a process that is recorded.
type taken struct {
	info  process.Info
	stat  process.Stat
	words bool         // its arguments are looked into, not left out
	ends  []Descriptor // of the conversation of a server
	ports []Port
}

// take adds a process; nil when it has ended.
func (r *recorder) take(pid int) *taken {
	if t := r.taken[pid]; t != nil {
		return t
	}
	if pid <= 0 || len(r.taken) == mostRecording {
		return nil
	}
	info, err := process.Read(pid)
	stat, statErr := process.ReadStat(pid)
	if err != nil || statErr != nil || info.Identity != stat.Identity {
		return nil
	}
	t := &taken{info: info, stat: stat}
	r.taken[pid] = t
	return t
}

// withAncestors adds a process and all above it.
func (r *recorder) withAncestors(pid int) bool {
	if r.take(pid) == nil {
		return false
	}
	above, err := process.Above(process.Local(), pid)
	if err != nil {
		return true
	}
	for _, id := range above {
		r.take(id.PID)
	}
	return true
}

// around adds an instance, its tree, what is above it and what is beside it.
func (r *recorder) around(ctx context.Context, in *monitor.Instance) {
	server := r.take(in.Identity.PID)
	if server == nil || server.info.Identity != in.Identity {
		return
	}
	root, above, err := process.Climb(process.Local(), server.info, isLauncher)
	if err != nil {
		root = in.Identity
	}
	if in.Keeper.PID > 0 {
		root = in.Keeper
	}
	r.withAncestors(root.PID)
	var tree []monitor.Identity
	if list, err := process.Tree(root); err == nil {
		for _, s := range list {
			if r.take(s.PID) != nil {
				tree = append(tree, s.Identity)
			}
		}
	}
	for _, id := range append([]monitor.Identity{root}, tree...) {
		if t := r.taken[id.PID]; t != nil {
			t.words = t.words || command.IsLauncher(t.info.Exe, t.info.Args) || id == in.Identity
		}
	}
	server.words = true
	if above != nil {
		r.beside(above.Identity)
	}
	if in.Client != nil {
		r.take(in.Client.PID)
	}
	r.listeners(tree)
	v := r.server(ctx, in, server, tree)
	r.s.Servers = append(r.s.Servers, v)
	r.conversation(in, v.Proof.Pipe, append(tree, root))
}

// conversation notes what was found out of the one of a server with its client: its
// ends, and which processes around it have the same standard input.
func (r *recorder) conversation(in *monitor.Instance, link *monitor.Pipe, around []monitor.Identity) {
	ends := []Descriptor{{File: fmt.Sprintf("input of %d", in.Identity.PID)}}
	if link != nil {
		ends = []Descriptor{
			{FD: 0, Kind: process.Pipe, Inode: link.In.Inode, Peer: link.In.Peer, Reads: true, Deserted: in.Evidence.Orphaned},
			{FD: 1, Kind: process.Pipe, Inode: link.Out.Inode, Peer: link.Out.Peer, Writes: true, Deserted: in.Evidence.Orphaned},
		}
	}
	for i, d := range ends {
		if d.Peer != 0 {
			ends[i].Kind, ends[i].Reads, ends[i].Writes = process.SocketPair, true, true
		}
	}
	r.taken[in.Identity.PID].ends = ends
	for _, id := range around {
		if t := r.taken[id.PID]; t != nil && len(t.ends) == 0 && process.Local().Ends(in.Identity).SameInput(id) {
			t.ends = ends[:1]
		}
	}
}

// beside adds the children of a process: whether a wrapper has others, and what
// the same client started else.
func (r *recorder) beside(parent monitor.Identity) {
	tree, err := process.Tree(parent)
	if err != nil {
		return
	}
	children := slices.DeleteFunc(tree, func(s process.Stat) bool { return s.Parent != parent.PID })
	for _, child := range children[:min(mostSiblings, len(children))] {
		r.take(child.PID)
	}
}

// listeners notes where a tree listens, and who is connected.
func (r *recorder) listeners(tree []monitor.Identity) {
	var pids []int
	for _, id := range tree {
		pids = append(pids, id.PID)
	}
	list, err := process.Listeners(pids)
	if err != nil {
		return
	}
	for _, l := range list {
		t, addr := r.taken[l.PID], l.Addr.Addr()
		number := int(l.Addr.Port())
		if t == nil || !addr.IsLoopback() && !addr.IsUnspecified() || slices.ContainsFunc(t.ports, func(p Port) bool { return p.Port == number }) {
			continue
		}
		port := Port{Port: number}
		if connections, err := process.Connections(number); err == nil {
			for _, c := range connections {
				if r.take(c.PID) == nil {
					c.PID = 0
				}
				if !slices.Contains(port.Users, c.PID) {
					port.Users = append(port.Users, c.PID)
				}
			}
		}
		t.ports = append(t.ports, port)
	}
}

func (r *recorder) process(t *taken) Process {
	p := Process{
		PID: t.info.PID, Parent: t.info.Parent, Start: t.info.Start, UID: otherUser,
		Name: t.info.Name, Exe: r.hide.path(t.info.Exe), Args: r.hide.arguments(t.info.Args, t.words),
		Seconds: t.stat.CPU.Seconds(), RSS: t.stat.RSSBytes, Descriptors: t.ends, Ports: t.ports,
	}
	if ours, err := process.SameUser(t.info.PID); err == nil && ours {
		p.UID = ownUser
	}
	if !t.words {
		p.Args = p.Args[:min(mostWords, len(p.Args))]
		for i, a := range p.Args {
			p.Args[i] = a[:min(mostArgument, len(a))]
		}
	}
	switch t.stat.State {
	case process.Stopped:
		p.State = Stopped
	case process.Unreaped:
		p.State = Unreaped
	}
	if text, err := process.Cgroup(t.info.Identity); err == nil {
		p.Cgroup = r.hide.cgroup(text)
	}
	p.Contained, _ = process.Contained(p.PID)
	return p
}

func isLauncher(p process.Info) bool { return command.IsLauncher(p.Exe, p.Args) }

package stop

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// protected are the pids that are never signalled, and why: this process and
// its ancestors, who asks, and the ancestors of that up to the first program
// that people work in. That one goes on in any case, with what is below it: when
// it is a browser that the server itself has opened, the server above it is not
// shielded by who asks from it.
func (l *Ladder) protected(kind string, o Order) (map[int]error, error) {
	protect := map[int]error{}
	for i, pid := range append([]int{l.o.System.Self()}, o.Protect...) {
		if pid <= 0 {
			continue
		}
		above, err := process.Above(l.o.System, pid)
		if err != nil && (i == 0 || !errors.Is(err, process.ErrGone)) {
			return nil, fmt.Errorf("finding out the ancestors of process %d, which must not be ended: %w", pid, err)
		}
		if i > 0 {
			above = l.upToTheirs(kind, pid, above)
		}
		for _, id := range above {
			if protect[id.PID] == nil {
				protect[id.PID] = ErrAncestor
			}
		}
		protect[pid] = ErrOurs
	}
	return protect, nil
}

// upToTheirs are the ancestors of a process up to the first one that people work
// in, none if the process itself is such a program.
func (l *Ladder) upToTheirs(kind string, pid int, above []monitor.Identity) []monitor.Identity {
	if info, err := l.o.System.Read(pid); err == nil && theirs(kind, info) {
		return nil
	}
	for i, id := range above {
		if info, err := l.o.System.Read(id.PID); err == nil && info.Identity == id && theirs(kind, info) {
			return above[:i+1]
		}
	}
	return above
}

// spared tells why a process must not be signalled.
func (l *Ladder) spared(protect map[int]error, pid int) (why, err error) {
	if why := protect[pid]; why != nil {
		return why, nil
	}
	same, err := l.o.System.SameUser(pid)
	if err != nil {
		return nil, fmt.Errorf("finding out whose process %d is: %w", pid, err)
	}
	if !same {
		return ErrOtherUser, nil
	}
	return nil, nil
}

// manager puts into f what manages the server, which may take seconds to find out.
func (l *Ladder) manager(ctx context.Context, tree *heldTree, f *Facts) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Check)
	defer cancel()
	// Of a server with a network of its own nobody here sees the clients.
	identities := each(tree.left(), func(m *member) monitor.Identity { return m.id })
	unit, contained, err := l.o.System.Service(ctx, tree.server.id, identities)
	f.Service, f.Contained, f.Uncertain = monitor.Clean(unit), contained, err
}

// gather puts into f all else that Check wants to know about a held tree. Last is
// whether it is at work: a call that comes after that is lost.
func (l *Ladder) gather(ctx context.Context, in *monitor.Instance, tree *heldTree, f *Facts) {
	f.Recognised = in.Recognised && (in.Managed || l.o.Recognise == nil || in.ProvenByEntry(tree.serverInfo.Exe) || l.o.Recognise(tree.serverInfo))
	f.Red = in.State == monitor.StateZombie && !in.Cause.OfHealth() // which may be at work
	f.Orphaned = in.Evidence.Orphaned && in.Evidence.ClientGone
	f.Ours, f.Above, f.Foreign = tree.sparedFor(ErrOurs), tree.sparedFor(ErrAncestor), tree.sparedFor(ErrOtherUser)
	unknown := func(what string, err error) {
		if err != nil {
			f.Uncertain = errors.Join(f.Uncertain, fmt.Errorf("%s: %w", what, err))
		}
	}
	listeners, err := l.o.System.Listeners(tree.pids())
	unknown("where it listens is not known", err)
	f.Users, err = l.users(in, tree, listeners)
	unknown("who is connected to it is not known", err)

	s, err := l.o.System.Stat(tree.server.id.PID)
	suspended := err == nil && s.State == process.Stopped // and cannot answer
	hasDashboard := in.Kind == monitor.KindSerena && in.Port > 0
	owned := hasDashboard && slices.ContainsFunc(listeners, func(n process.Listener) bool { return n.Hears(in.Port) })
	if hasDashboard && !suspended {
		f.Work, f.Call = l.work(ctx, in.Port, owned)
	}
	// What does not answer this does not answer the request to end either.
	tree.canAsk = owned && !suspended && f.Work != Silent
}

// work asks a dashboard whether a call runs or waits. A port that is not the
// tree's is somebody else's: what it says is worth nothing.
func (l *Ladder) work(ctx context.Context, port int, owned bool) (Work, string) {
	if !owned {
		return Silent, ""
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Answer)
	defer cancel()
	tasks, err := l.o.Dashboards.Queue(ctx, port)
	switch {
	case errors.Is(err, serena.ErrNoRoute):
		return CannotTell, ""
	case err != nil:
		l.o.Log.Debug("a dashboard does not say whether it is at work", "port", port, "error", err)
		return Silent, ""
	}
	for _, task := range tasks {
		if !ownTask(task.Name) { // what a server gives itself to do is no call
			return Busy, callName(task.Name)
		}
	}
	return Idle, ""
}

// ownTask tells a task that Serena gives itself: getting ready, which can take
// minutes and may never succeed, and describing itself for a dashboard. Nobody
// loses anything when it ends. Source: serena/agent.py and dashboard.py of
// 1.5.3, 1.7.0 and 2.1.0.
func ownTask(name string) bool {
	_, name, _ = strings.Cut(name, ":")
	return name == "init_project_services" || name == "init_language_server_manager" || name == "_get_config_overview"
}

// innerCapital is a capital within a word.
var innerCapital = regexp.MustCompile(`\B[A-Z]`)

// callName makes a task's name ("Task-22:FindSymbolTool") that of the tool as
// clients know it ("find_symbol").
func callName(task string) string {
	_, name, ok := strings.Cut(task, ":")
	if !ok {
		name = task
	}
	if camel, ok := strings.CutSuffix(name, "Tool"); ok && camel != "" {
		name = strings.ToLower(innerCapital.ReplaceAllString(camel, "_$0"))
	}
	const most = 40
	return monitor.Shorten(monitor.Clean(name), most)
}

// users are the programs connected to the ports on which the server takes
// clients: of a Serena all but the dashboard's, of another server all those of
// its tree, because nobody knows what they are for.
func (l *Ladder) users(in *monitor.Instance, tree *heldTree, listeners []process.Listener) ([]Process, error) {
	ports := map[int]bool{}
	for _, n := range listeners {
		if n.PID == tree.server.id.PID || in.Kind != monitor.KindSerena {
			ports[int(n.Addr.Port())] = true
		}
	}
	if port := monitor.PortOf(in.MCPURL); port > 0 {
		ports[port] = true
	}
	if in.Kind == monitor.KindSerena {
		delete(ports, in.Port)
	}
	seen := map[int]bool{}
	var users []Process
	for port := range ports {
		connections, err := l.o.System.Connections(port)
		if err != nil {
			return users, err
		}
		for _, c := range connections {
			_, own := tree.at[c.PID]
			if own || seen[c.PID] || c.PID == l.o.System.Self() {
				continue
			}
			seen[c.PID] = true
			users = append(users, l.named(c.PID)) // whoever 0 is has no name
		}
	}
	slices.SortFunc(users, func(a, b Process) int { return a.PID - b.PID })
	return users, nil
}

// sparedFor names the members that are spared for one reason.
func (tree *heldTree) sparedFor(why error) []Process {
	return names(tree.where(func(m *member) bool { return m.alive && errors.Is(m.spared, why) }))
}

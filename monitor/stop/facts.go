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
func (c *climb) protected() (map[int]error, error) {
	protect := map[int]error{}
	for i, pid := range append([]int{c.o.System.Self()}, c.order.Protect...) {
		if pid <= 0 {
			continue
		}
		above, err := process.Above(c.o.System, pid)
		if err != nil && (i == 0 || !errors.Is(err, process.ErrGone)) {
			return nil, fmt.Errorf("finding out the ancestors of process %d, which must not be ended: %w", pid, err)
		}
		if i > 0 {
			above = c.upToTheirs(c.in.Kind, pid, above)
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
	for i, id := range slices.Concat([]monitor.Identity{{PID: pid}}, above) {
		info, err := l.o.System.Read(id.PID)
		if err == nil && (i == 0 || info.Identity == id) && theirs(kind, info) {
			return above[:i]
		}
	}
	return above
}

// manager puts into f what manages the server, which may take seconds to find out.
func (c *climb) manager(ctx context.Context, f *Facts) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Check)
	defer cancel()
	// Of a server with a network of its own nobody here sees the clients.
	identities := each(c.left(), func(m *member) monitor.Identity { return m.id })
	unit, contained, err := c.o.System.Service(ctx, c.server.id, identities)
	f.Service, f.Contained, f.Uncertain = monitor.Clean(unit), contained, err
}

// gather puts into f all else that Check wants to know about a held tree. Last is
// whether it is at work: a call that comes after that is lost. canAsk says that it has a
// dashboard that can be asked to end it.
func (c *climb) gather(ctx context.Context, f *Facts) (canAsk bool) {
	in := c.in
	f.Recognised = in.Recognised && (in.Managed || c.o.Recognise == nil || in.ProvenByEntry(c.serverInfo.Exe) || c.o.Recognise(c.serverInfo))
	f.Red = in.State == monitor.StateZombie && !in.Cause.OfHealth() // which may be at work
	f.Orphaned = in.Evidence.Orphaned && in.Evidence.ClientGone
	f.Ours, f.Above, f.Foreign = c.sparedFor(ErrOurs), c.sparedFor(ErrAncestor), c.sparedFor(ErrOtherUser)
	unknown := func(what string, err error) {
		if err != nil {
			f.Uncertain = errors.Join(f.Uncertain, fmt.Errorf("%s: %w", what, err))
		}
	}
	listeners, err := c.o.System.Listeners(c.pids())
	unknown("where it listens is not known", err)
	f.Users, err = c.users(listeners)
	unknown("who is connected to it is not known", err)

	s, err := c.o.System.Stat(c.server.id.PID)
	suspended := err == nil && s.State == process.Stopped // and cannot answer
	hasDashboard := in.Kind == monitor.KindSerena && in.Port > 0
	owned := hasDashboard && slices.ContainsFunc(listeners, func(n process.Listener) bool { return n.Hears(in.Port) })
	if hasDashboard && !suspended {
		f.Work, f.Call = c.work(ctx, in.Port, owned)
	}
	// What does not answer this does not answer the request to end either.
	return owned && !suspended && f.Work != Silent
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
	return serena.IsInit(name) || strings.HasSuffix(name, ":_get_config_overview")
}

// innerCapital is a capital within a word.
var innerCapital = regexp.MustCompile(`\B[A-Z]`)

// callName makes a task's name ("Task-22:FindSymbolTool") that of the tool as
// clients know it ("find_symbol").
func callName(task string) string {
	name := task[strings.IndexByte(task, ':')+1:]
	if camel, ok := strings.CutSuffix(name, "Tool"); ok && camel != "" {
		name = strings.ToLower(innerCapital.ReplaceAllString(camel, "_$0"))
	}
	const most = 40
	return monitor.Shorten(monitor.Clean(name), most)
}

// users are the programs connected to the ports on which the server takes
// clients: of a Serena all but the dashboard's, of another server all those of
// its tree, because nobody knows what they are for.
func (c *climb) users(listeners []process.Listener) ([]Process, error) {
	in := c.in
	ports := map[int]bool{}
	for _, n := range listeners {
		if n.PID == c.server.id.PID || in.Kind != monitor.KindSerena {
			ports[int(n.Addr.Port())] = true
		}
	}
	if port := monitor.PortOf(in.MCPURL); port > 0 {
		ports[port] = true
	}
	if in.Kind == monitor.KindSerena {
		delete(ports, in.Port)
	}
	var users []Process
	for port := range ports {
		connections, err := c.o.System.Connections(port)
		if err != nil {
			return users, err
		}
		for _, user := range connections {
			known := slices.ContainsFunc(users, func(p Process) bool { return p.PID == user.PID })
			if !known && c.at[user.PID] == nil && user.PID != c.o.System.Self() {
				users = append(users, c.named(user.PID)) // whoever 0 is has no name
			}
		}
	}
	slices.SortFunc(users, func(a, b Process) int { return a.PID - b.PID })
	return users, nil
}

// sparedFor names the members that are spared for one reason.
func (c *climb) sparedFor(why error) []Process {
	return names(c.where(func(m *member) bool { return m.alive && errors.Is(m.spared, why) }))
}

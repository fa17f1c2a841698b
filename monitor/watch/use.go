package watch

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// use is what is known about the work of a server with a dashboard. Its times
// have a monotonic reading: a step of the clock must not look like idleness.
type use struct {
	idleSince time.Time // as Evidence.IdleSince, but for the fields below
	cut       cutOffs
	none      bool // as Evidence.NoUsers
	uncounted bool // it did not say how many calls it has had when it was asked last
}

// noteUse takes in a whole answer. What is not known counts as work, and so does
// any task, also one that is no call: somebody has asked for it. A task that has
// come and gone since the last look ended now at the latest. It is to be called
// before the rest of the answer is taken in.
func (t *tracked) noteUse(r result, now time.Time) {
	ran := r.tasked && taskName(r.task) != t.lastTask
	// A first count tells nothing of the time before it.
	counted := r.calls != nil && (t.in.ToolCalls == nil || *r.calls != *t.in.ToolCalls)
	t.use.uncounted = r.calls == nil && (r.uncounted || t.use.uncounted)
	t.use.cut.noteCalls(r, ran, now)
	switch {
	case !r.tasked || !r.queued || len(r.queue) > 0 || t.stopped || t.use.cut.missing():
		t.use.idleSince = time.Time{}
	case ran || counted || t.use.idleSince.IsZero():
		t.use.idleSince = now
	}
}

// since is Evidence.IdleSince.
func (u *use) since() time.Time {
	switch {
	case u.idleSince.IsZero() || u.cut.open || u.cut.left || u.uncounted:
		return time.Time{}
	case u.cut.over.After(u.idleSince):
		return u.cut.over
	}
	return u.idleSince
}

// lookForUsers looks whether anybody is connected to a server that has been found to
// answer nobody. Of one over stdio its pipes tell.
func (l *loop) lookForUsers(t *tracked) {
	t.use.none = false
	if t.overStdio() || t.redSince.IsZero() || !t.stopped && !t.unreachable {
		return
	}
	pids := slices.Concat(t.mayListen(), t.tree)
	listeners, err := l.o.System.Listeners(pids)
	if err != nil {
		return
	}
	ports := 0
	for _, at := range listeners {
		port := int(at.Addr.Port())
		if t.isSerena() && port == t.port { // of its dashboard
			continue
		}
		connections, err := l.o.System.Connections(port)
		if err != nil || slices.ContainsFunc(connections, func(c process.Connection) bool {
			return c.PID != l.self.PID && !slices.Contains(pids, c.PID)
		}) {
			return
		}
		ports++
	}
	t.use.none = ports > 0
}

// usage is the evidence about t for whoever decides whether anybody needs it.
// Nothing is looked at for it, and it stays the same while nothing happens.
func (t *tracked) usage() monitor.Evidence {
	e := monitor.Evidence{
		Transport: t.transport(), IdleSince: t.use.since(), QuietSince: t.work.since, KeepsState: t.keepsState, SteadyBytes: t.steady, NoUsers: t.use.none,
		Pipe: t.evidence.link,
	}
	if t.overStdio() {
		e.ClientGone = !t.evidence.clientGone.IsZero()
		if t.evidence.alone() {
			e.Orphaned, e.Suspected, e.AloneSince = t.evidence.closed, t.evidence.suspected, t.evidence.since
		}
	}
	return e
}

// transport is how the clients of t reach it, "" when that is not known: a
// server that is not Serena and listens somewhere may have clients either way.
func (t *tracked) transport() string {
	switch {
	case t.cmd.Transport == "streamable-http":
		return "http"
	case t.cmd.Transport != "":
		return t.cmd.Transport
	case t.overStdio():
		return "stdio"
	}
	return ""
}

package watch

import (
	"slices"
	"time"

	"lamplighter/monitor/process"
)

// noteUse takes in a whole answer. What is not known counts as work, and so does
// any task, also one that is no call: somebody has asked for it. A task that has
// come and gone since the last look ended now at the latest. It is to be called
// before the rest of the answer is taken in.
func (t *tracked) noteUse(r result, now time.Time) {
	ran := r.tasked && taskName(r.task) != t.lastTask
	// A first count tells nothing of the time before it.
	counted := r.calls != nil && (t.in.ToolCalls == nil || *r.calls != *t.in.ToolCalls)
	t.calls.noteCalls(r, ran, now)
	switch since := &t.in.Evidence.IdleSince; {
	case !r.tasked || !r.queued || len(r.queue) > 0 || t.Stopped || t.calls.missing():
		*since = time.Time{}
	case ran || counted || since.IsZero():
		*since = now
	}
}

// lookForUsers looks whether anybody is connected to a server that has been found to
// answer nobody. Of one over stdio its pipes tell.
func (l *loop) lookForUsers(t *tracked) {
	t.in.Evidence.NoUsers = false
	if t.overStdio() || t.in.Evidence.RedSince.IsZero() || !t.Stopped && !t.Unreachable {
		return
	}
	pids := t.mayListen()
	for _, id := range t.tree {
		pids = append(pids, id.PID)
	}
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
	t.in.Evidence.NoUsers = ports > 0
}

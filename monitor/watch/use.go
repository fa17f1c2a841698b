package watch

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// noteUse finds out of a whole answer since when nobody asks for anything, and when a client
// last did. What is not known counts as work, and so does any task, also one that is no
// call: somebody has asked for it. A task that has come and gone since the last look ended
// now at the latest. A call shows as the last task, in the count, or in the queue; several
// may have come and gone since the last probe, and Serena's own tasks come in between.
func (t *tracked) noteUse(r result, now time.Time) {
	in, since := &t.in, &t.in.Evidence.IdleSince
	ran := r.tasked && taskName(r.task) != t.lastTask
	more := r.calls != nil && in.ToolCalls != nil && *r.calls > *in.ToolCalls
	// A first count tells nothing of the time before it.
	counted := r.calls != nil && (in.ToolCalls == nil || *r.calls != *in.ToolCalls)
	if r.tasked {
		t.lastTask = taskName(r.task)
	}
	if r.calls != nil {
		in.ToolCalls = r.calls
	}
	t.calls.noteCalls(r, ran, now)
	switch {
	case !r.tasked || !r.queued || len(r.queue) > 0 || t.Stopped || t.calls.isAnyMissing():
		*since = time.Time{}
	case ran || counted || since.IsZero():
		*since = now
	}
	isCall := serena.IsToolCall(t.lastTask)
	switch {
	case slices.ContainsFunc(r.queue, func(task serena.Task) bool { return serena.IsToolCall(task.Name) }):
		in.LastActivity = wall(now)
	case r.first && r.calls != nil && *r.calls == 0 && !isCall:
		in.LastActivity = in.StartedAt // no call yet: it has been idle since it started
	case r.first:
		in.LastActivity = serena.LastCall(r.records)
	case isCall && ran, more:
		in.LastActivity = wall(now)
	}
}

// checkConnections looks whether anybody is connected to a server that has been found to
// answer nobody. Of one over stdio its pipes tell.
func (l *loop) checkConnections(t *tracked) {
	t.in.Evidence.NoUsers = false
	if t.isOverStdio() || t.in.Evidence.RedSince.IsZero() || !t.Stopped && !t.Unreachable {
		return
	}
	pids := pidsOf(t.members, t.tree)
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

// cutOffWork is how long a call that was cut off counts as running at least: it
// goes on where no queue tells of it.
const cutOffWork = 10 * time.Minute

// cutOffs are what is known about calls that may go on outside the queue. A server
// says so of the last one only, and of that no more when another one stood behind
// it, so that calls are followed from when they are seen at work.
type cutOffs struct {
	runs []run   // that were seen at work, and whose end was not seen
	last *cutOff // nil: there was none, or others have been called since it was over

	// The tree that was known before a probe began that has not shown a call is
	// from before that call: one that is read when it shows may hold its work.
	treeBefore []monitor.Identity

	count     tally // the newest that is known
	uncounted bool  // it did not say how many calls it has had when it was asked last
}

// cutOff is a call that was cut off, with those that were while it might go on.
type cutOff struct {
	before []monitor.Identity // of the tree, before the call was seen
	until  time.Time          // it counts as running, at least
	over   time.Time          // when it was found not to go on; zero: it may
	left   bool               // it may have left something at work, also when it is over
}

// goesOn reports whether a call that was cut off counts as running.
func (c *cutOffs) goesOn() bool { return c.last != nil && c.last.over.IsZero() }

// idleSince is since when a server is known to have nothing to do, when its queue has been
// empty since then.
func (c *cutOffs) idleSince(since time.Time) time.Time {
	switch {
	case since.IsZero() || c.uncounted || c.goesOn() || c.last != nil && c.last.left:
		return time.Time{}
	case c.last != nil && c.last.over.After(since):
		return c.last.over
	}
	return since
}

// run is a call that was seen at work.
type run struct {
	name   string
	before []monitor.Identity // of the tree, before the call was seen
	begun  tally              // when it was seen
	missed bool               // it has left the queue: perhaps between two questions
}

// tally is how many calls had ended well when a task was the last one.
type tally struct {
	task  string
	calls int64
	known bool
}

// allWell tells that every task since an earlier tally has ended well: the server
// counts those, and numbers all.
func (t tally) allWell(since tally) bool {
	from, to := serena.TaskNumber(since.task), serena.TaskNumber(t.task)
	return t.known && since.known && to > from && t.calls-since.calls >= to-from
}

// noteCalls takes in a whole answer; ran says that the last task is another one.
func (c *cutOffs) noteCalls(r result, ran bool, now time.Time) {
	c.uncounted = r.calls == nil && (r.uncounted || c.uncounted)
	if !c.goesOn() && (ran || len(r.queue) > 0) {
		c.last = nil // what comes into the tree from now on may be of other calls
	}
	last := run{name: taskName(r.task), before: c.treeBefore}
	c.runs = slices.DeleteFunc(c.runs, func(was run) bool {
		if r.tasked && was.name == last.name {
			last.before = was.before
			return true
		}
		return false
	})
	if ran && r.task.CutOff() {
		c.noteCutOff(last.before, now)
	}
	steady := r.tasked && !ran
	if r.tasked && r.calls != nil {
		c.count = tally{last.name, *r.calls, true}
	}
	if !r.queued {
		return
	}
	waiting := c.runs
	c.runs = nil
	for _, was := range waiting {
		inQueue := slices.ContainsFunc(r.queue, func(task serena.Task) bool { return task.Name == was.name })
		switch {
		case inQueue || !was.missed || !steady: // while others come and go, nobody can say
			was.missed = !inQueue
			c.runs = append(c.runs, was)
		case c.count.task == last.name && c.count.allWell(was.begun):
		default:
			c.noteCutOff(was.before, now)
		}
	}
	begun := tally{}
	if r.tasked && c.count.task == last.name {
		begun = c.count
	}
	for _, task := range r.queue {
		known := func(was run) bool { return was.name == task.Name }
		if task.IsRunning && serena.IsToolCall(task.Name) && !slices.ContainsFunc(c.runs, known) {
			c.runs = append(c.runs, run{name: task.Name, before: c.treeBefore, begun: begun})
		}
	}
	c.treeBefore = r.tree
}

// isAnyMissing tells that a call has left the queue, and whether it ended well is to
// be asked again.
func (c *cutOffs) isAnyMissing() bool {
	return slices.ContainsFunc(c.runs, func(was run) bool { return was.missed })
}

// noteCutOff takes note that a call was cut off. While an earlier one may go on, what
// was there before that one counts.
func (c *cutOffs) noteCutOff(before []monitor.Identity, now time.Time) {
	if !c.goesOn() {
		c.last = &cutOff{before: before}
	}
	c.last.until = now.Add(cutOffWork)
}

// noteTree takes in the tree of a server, nil when it could not be read. Only a
// tree in which nothing is left tells that a call is over.
func (c *cutOffs) noteTree(tree []monitor.Identity, server monitor.Identity, now time.Time) {
	if c.last == nil {
		return
	}
	c.last.left = hasLeftOver(tree, c.last.before, server)
	if c.goesOn() && !now.Before(c.last.until) && !c.last.left {
		c.last.over = now
	}
}

// hasLeftOver reports whether a tree may hold something that a call has started: a
// process that was not there before, and is younger than the server. Of a tree
// that is not known nobody can say.
func hasLeftOver(tree, before []monitor.Identity, server monitor.Identity) bool {
	return len(tree) == 0 || slices.ContainsFunc(tree, func(id monitor.Identity) bool {
		return id.Start > server.Start && !slices.Contains(before, id)
	})
}

// work follows whether anything below a server works although nobody has asked
// it for anything: a build that a tool has left behind, a language server that
// indexes. Of the server itself its queue tells.
type work struct {
	at    time.Time // of the last look
	cpu   time.Duration
	below []monitor.Identity
}

// What the processes below a server may use while they are quiet: in so long, or in
// less. A language server at rest and a server without a browser use at most half of it.
const (
	quietCPU  = 20 * time.Millisecond
	quietSpan = 30 * time.Second
)

// noteTree takes in the tree of a server, each parent before what it has started, and
// reports whether anything below it has worked since the last look. A
// process that came or went has worked. One that has lost the parent that started it
// was left to go on by somebody: it works for as long as it is there.
func (w *work) noteTree(tree []process.Stat, server monitor.Identity, now time.Time) bool {
	list := processesBelow(tree, server)
	var cpu time.Duration
	ids := make([]monitor.Identity, 0, len(list))
	for _, p := range list {
		cpu += p.CPU
		ids = append(ids, p.Identity)
	}
	slices.SortFunc(ids, func(a, b monitor.Identity) int { return a.PID - b.PID })
	most := quietCPU
	if span := now.Sub(w.at); span > quietSpan {
		most = time.Duration(float64(quietCPU) * float64(span) / float64(quietSpan))
	}
	worked := w.at.IsZero() || cpu-w.cpu > most || !slices.Equal(ids, w.below) || hasLeftBehind(tree, server, ids)
	w.at, w.cpu, w.below = now, cpu, ids
	return worked
}

// hasLeftBehind reports whether there is a process in the tree that is neither below the
// server nor above it.
func hasLeftBehind(tree []process.Stat, server monitor.Identity, below []monitor.Identity) bool {
	above := server.PID
	for _, p := range slices.Backward(tree) {
		switch {
		case p.PID == above:
			above = p.Parent
		case !slices.Contains(below, p.Identity):
			return true
		}
	}
	return false
}

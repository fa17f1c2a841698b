package watch

import (
	"math"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// tracked is everything known about one instance. Only the loop touches it.
type tracked struct {
	in      monitor.Instance // what a snapshot shows; state and cause are judged when it is made
	kind    string           // by the rules, "" when they do not know it
	cmd     serena.Command
	limits  Limits
	root    monitor.Identity   // topmost wrapper
	parent  monitor.Identity   // zero when it had gone before
	members []monitor.Identity // processes that may own the dashboard port

	launcher monitor.Identity   // what the server was taken for until moveTo, or zero
	lineage  []monitor.Identity // what is above it, from its parent on; looked at once

	firstSeen time.Time     // with a monotonic reading, as all times here
	ageThen   time.Duration // of the process when first seen

	exitedAt time.Time
	unreaped bool
	stopped  bool

	port         int              // of the dashboard, 0 until it answered
	candidates   []candidate      // ports that may be the dashboard
	notDashboard map[int]struct{} // ports that answered as something else
	mcpPort      int
	looked       bool // at what it listens on; of servers other than Serena
	listens      bool // one of its processes does, on whatever address

	answered     bool
	failures     int
	firstFailure time.Time
	cpuThen      time.Duration // at the first failure
	busy         bool          // when it last answered
	unreachable  bool          // red for that, until it answers
	project      bool
	lastTask     string
	wantOverview bool      // something changed that the overview tells
	overviewHeld bool      // it is not answered while a tool runs
	overviewAt   time.Time // when it came, or was found not to exist

	probing   bool
	waiting   []chan<- fresh // those who want it looked at, which the next probe is to tell
	asked     []chan<- fresh // and those whom the probe under way tells
	probedAt  time.Time
	nextProbe time.Time     // a repeat that was decided: a failure, a busy server
	cpu       time.Duration // of the server process
	mainCPU   time.Duration // of its main thread, 0 when not known
	cpuAt     time.Time
	active    bool // it used the CPU as a call does, and was not asked since

	treeAt  time.Time
	treeCPU time.Duration
	tree    []int              // pids
	treeIDs []monitor.Identity // of the same; made anew each time, nil: not known
	halted  bool               // a process of it is stopped by a signal
	steady  uint64             // as Evidence.SteadyBytes
	work    work

	health     health
	evidence   evidence
	use        use
	keepsState *bool     // as Evidence.KeepsState
	redSince   time.Time // as Evidence.RedSince, when the state was judged last

	launch  *monitor.Launch    // what we know because we started it, nil when we did not
	alone   string             // why it is shared with nobody, when no rule knows it and the shim of a client runs it
	above   []monitor.Identity // with launch: what is above the server in its tree, none of it a server
	awaited bool               // the launch will be told, which says who asked for it
}

// candidate is a listening port and the process that owns it.
type candidate struct {
	port int
	pid  int
}

// What shows that a server was asked something, between two ticks. The event
// loop of a server over stdio sleeps on its main thread until a message comes;
// one over HTTP wakes ten times a second for about 0.2 ms. A message costs 1.2 ms
// and more. Where the system does not count so finely, the CPU time of the whole
// process is taken, which an idle Serena uses at 0.2 to 0.4 %: at most one
// accounting tick of 10 ms, and answering us costs up to one more.
const (
	stdioCall  = 500 * time.Microsecond
	httpCall   = 3 * time.Millisecond
	processCPU = 20 * time.Millisecond
)

// Repeats of a probe, beside those of Limits.
const (
	afterFailure = 5 * time.Second  // three over at least 15 s make red
	whileRed     = 10 * time.Second // one good answer heals

	overviewEvery = 5 * time.Minute // for a change that nobody asked for, which shows nowhere else
)

// noteStat takes in what the process table says at a tick; main is the run
// time of the main thread, 0 when it is not known.
func (t *tracked) noteStat(st process.Stat, main time.Duration, now time.Time) {
	t.unreaped = st.State == process.Unreaped
	if t.unreaped && t.exitedAt.IsZero() {
		t.exitedAt = now
	}
	wasStopped := t.stopped
	t.stopped = st.State == process.Stopped
	if t.stopped {
		t.use.idleSince = time.Time{} // it cannot say any more
	}
	if wasStopped && !t.stopped {
		t.active = true // continued: ask what it is doing
		t.failures, t.unreachable = 0, false
	}
	if !t.cpuAt.IsZero() && t.wasAsked(st.CPU-t.cpu, main-t.mainCPU, main > 0 && t.mainCPU > 0) {
		t.active = true
	}
	t.cpu, t.mainCPU, t.cpuAt = st.CPU, main, now
}

// untouched tells that nothing has happened to the process since the last
// look: to stop, to continue, to end and to take in a message all make its
// main thread run. While probes fail the other threads count as well.
func (t *tracked) untouched(main time.Duration) bool {
	return main > 0 && main == t.mainCPU && t.failures == 0 && !t.treeAt.IsZero()
}

// wasAsked tells from the CPU time used since the last look, by the process and
// by its main thread where that is known, whether there was a message.
func (t *tracked) wasAsked(process, main time.Duration, mainKnown bool) bool {
	switch {
	case mainKnown && t.cmd.Transport == "stdio":
		return main >= stdioCall
	case mainKnown:
		return main >= httpCall
	case t.probing || !t.probedAt.Before(t.cpuAt): // part of it was for us
		return process-processCPU/2 >= processCPU
	}
	return process >= processCPU
}

// noteTree takes in a measurement of the whole tree.
func (t *tracked) noteTree(tree []process.Stat, now time.Time) {
	var rss uint64
	var cpu time.Duration
	for _, st := range tree {
		rss += st.RSSBytes
		cpu += st.CPU
	}
	t.in.RSSBytes, t.in.Processes = rss, len(tree)
	if rss > t.steady || rss < t.steady-t.steady/10 {
		t.steady = rss
	}
	t.tree = t.tree[:0]
	for _, st := range tree {
		t.tree = append(t.tree, st.PID)
	}
	t.treeIDs = identitiesOf(tree)
	t.halted = slices.ContainsFunc(tree, func(st process.Stat) bool { return st.State == process.Stopped })
	t.use.cut.noteTree(t.treeIDs, t.in.Identity, now)
	if t.in.Managed { // nothing else is parked
		t.work.noteTree(tree, t.in.Identity, now)
	}
	t.members = slices.DeleteFunc(t.members, func(id monitor.Identity) bool {
		return id != t.in.Identity && !slices.ContainsFunc(tree, func(st process.Stat) bool { return st.Identity == id })
	})
	span := now.Sub(t.treeAt)
	if !t.treeAt.IsZero() && span < time.Second {
		return // too short for a figure
	}
	if !t.treeAt.IsZero() {
		percent := math.Round(max(1000*float64(cpu-t.treeCPU)/float64(span), 0)) / 10 // more digits say nothing
		t.in.CPUPercent = &percent
	}
	t.treeAt, t.treeCPU = now, cpu
}

// waitsForDashboard reports whether a port is expected any moment.
func (t *tracked) waitsForDashboard() bool {
	return t.isSerena() && t.port == 0 && t.exitedAt.IsZero() && !t.stopped &&
		(t.ageThen+time.Since(t.firstSeen) < monitor.StartBudget)
}

// isSerena tells a server that has a dashboard.
func (t *tracked) isSerena() bool { return t.in.Kind == monitor.KindSerena }

func (t *tracked) wantsMCPPort() bool {
	if !t.isSerena() { // the port it may listen on is for its clients
		return t.in.Port == 0 && time.Since(t.firstSeen) < monitor.StartBudget
	}
	return t.port != 0 && t.mcpPort == 0 && t.cmd.Transport != "stdio" && time.Since(t.firstSeen) < monitor.StartBudget
}

// noteListeners takes in the listening ports of our members. With again, ports
// that answered as something else are asked once more: they may have been too
// early.
func (t *tracked) noteListeners(all []process.Listener, again bool, now time.Time) {
	t.candidates = t.candidates[:0]
	if !t.isSerena() {
		t.notePort(all)
		return
	}
	for _, l := range all {
		port := int(l.Addr.Port())
		if !t.hasMember(l.PID) || !l.Reachable() || port == t.port || t.launched() && port == t.mcpPort {
			continue
		}
		if other := t.port != 0 || t.ruledOut(port); other {
			if t.cmd.Transport != "stdio" && t.mcpPort == 0 {
				t.setMCP(port)
			}
			if t.port != 0 || !again {
				continue
			}
		}
		if c := (candidate{port, l.PID}); !slices.Contains(t.candidates, c) {
			t.candidates = append(t.candidates, c)
		}
	}
	if len(t.candidates) > 0 && t.failures == 0 {
		t.nextProbe = now
	}
}

// notePort takes in where a server that is not Serena listens: it is called by
// a port of its own that can be reached from here, and any socket of its tree
// may have clients.
func (t *tracked) notePort(all []process.Listener) {
	t.looked, t.listens, t.in.Port = true, false, 0
	for _, l := range all {
		if !slices.Contains(t.mayListen(), l.PID) {
			continue
		}
		t.listens = true
		if t.in.Port == 0 && t.hasMember(l.PID) && (l.Addr.Addr().IsLoopback() || l.Addr.Addr().IsUnspecified()) {
			t.in.Port = int(l.Addr.Port())
		}
	}
}

// mayListen are the pids of the processes whose sockets matter.
func (t *tracked) mayListen() []int {
	pids := make([]int, 0, len(t.members)+len(t.tree))
	for _, id := range t.members {
		pids = append(pids, id.PID)
	}
	if !t.isSerena() {
		pids = append(pids, t.tree...)
	}
	return pids
}

func (t *tracked) hasMember(pid int) bool {
	return slices.ContainsFunc(t.members, func(id monitor.Identity) bool { return id.PID == pid })
}

func (t *tracked) ruledOut(port int) bool {
	_, found := t.notDashboard[port]
	return found
}

func (t *tracked) setMCP(port int) {
	t.mcpPort = port
	t.in.MCPURL = mcpURL(t.cmd.Transport, port)
}

// probeDue decides whether to ask the instance now.
func (t *tracked) probeDue(now time.Time, burst bool) bool {
	if t.probing || t.stopped || !t.exitedAt.IsZero() || (t.port == 0 && len(t.candidates) == 0) {
		return false
	}
	if !t.nextProbe.IsZero() {
		return !now.Before(t.nextProbe)
	}
	return burst || (t.active && now.Sub(t.probedAt) >= t.limits.Active)
}

// signOfLifeSuffices reports whether nothing can have happened since the last
// probe, so that one request is enough: the main thread has been watched, and
// it was asleep. A call that heals what is wrong may take less than shows.
func (t *tracked) signOfLifeSuffices(now time.Time) bool {
	return t.answered && t.failures == 0 && t.nextProbe.IsZero() && !t.active && !t.busy &&
		t.mainCPU > 0 && !t.overviewDue(now) && !t.health.red()
}

// overviewDue reports whether a probe is to ask for the overview in any case.
func (t *tracked) overviewDue(now time.Time) bool {
	return t.wantOverview || now.Sub(t.overviewAt) >= overviewEvery
}

// noteState takes note of when the state became red. It is to be called before
// each snapshot.
func (t *tracked) noteState(now time.Time) {
	if monitor.Judge(t.facts(now)).State != monitor.StateZombie {
		t.redSince = time.Time{}
	} else if t.redSince.IsZero() {
		t.redSince = now
	}
}

// instance is what a snapshot shows of t, and whether it shows it at all.
func (t *tracked) instance(now time.Time) (monitor.Instance, bool) {
	v := monitor.Judge(t.facts(now))
	if v.Gone || (!t.in.Recognised && !t.answered && t.alone == "" && !t.in.OnPipes) {
		return monitor.Instance{}, false
	}
	in := t.in
	if t.alone != "" {
		in.Sharing = &monitor.Sharing{Alone: t.alone} // also when its client has gone
	}
	in.State, in.Cause, in.Reason = v.State, v.Cause, v.Reason
	switch p := t.health.worst(now); {
	case p == nil:
	case v.Cause == p.Cause && v.State == monitor.StateZombie:
		in.Problem = p
	case p.Cause == monitor.CauseNone && v.Cause == monitor.CauseNone:
		in.Problem, in.Reason = p, v.Reason+"; "+p.Sentence()
	}
	in.Evidence = t.usage()
	if t.stopped || t.unreachable {
		in.Busy = nil // what it said last was of another time
	}
	if v.Cause == monitor.CauseDefunct {
		// What is left is an entry in the process table.
		in.Evidence = monitor.Evidence{}
		in.DashboardURL, in.MCPURL, in.Busy, in.LastActivity = "", "", nil, time.Time{}
		in.RSSBytes, in.CPUPercent, in.Processes = 0, nil, 0
	}
	in.Evidence.RedSince = t.redSince
	return in, true
}

func (t *tracked) facts(now time.Time) monitor.Facts {
	f := monitor.Facts{
		Age:      t.ageThen + now.Sub(t.firstSeen),
		Stopped:  t.stopped,
		Unreaped: t.unreaped,
		Listens: t.port != 0 || slices.ContainsFunc(t.candidates, func(c candidate) bool {
			return !t.ruledOut(c.port)
		}),
		Unreachable: t.unreachable,
		Answered:    t.answered,
		Failures:    t.failures,
		Project:     t.project,
		NoDashboard: !t.isSerena(),
		Problem:     t.health.worst(now),
	}
	if e := &t.evidence; e.alone() && t.overStdio() {
		f.Orphaned, f.Suspected, f.ClientGone = e.closed, e.suspected, !e.clientGone.IsZero()
		if f.AloneFor = now.Sub(e.since); e.once {
			f.AloneFor = monitor.OrphanedWhenBusy
		}
		f.Working = t.busy
	}
	if !t.exitedAt.IsZero() {
		f.Exited, f.ExitedFor = true, now.Sub(t.exitedAt)
	}
	if t.failures > 0 {
		f.FailingFor = now.Sub(t.firstFailure)
		f.Working = t.busy || t.cpu-t.cpuThen > f.FailingFor/3
	}
	return f
}

package watch

import (
	"math"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// tracked is everything known about one instance. Only the loop touches it.
type tracked struct {
	// in is what a snapshot shows, but for what instance and shownEvidence work out when one
	// is made. Its Evidence is as it was found last.
	in monitor.Instance
	monitor.Facts
	lineage
	clientLink

	ruleKind  string // by the rules, "" when they do not know it
	cmd       serena.Command
	limits    limits
	firstSeen time.Time // with a monotonic reading, as all times here
	calls     cutOffs
	work      work
	health    health
	launch    *monitor.Launch // what we know because we started it, nil when we did not
	awaited   bool            // the launch will be told, which says who asked for it

	// Where its dashboard may be, and what is to be asked there.
	port         int         // of the dashboard, 0 until it answered
	candidates   []candidate // ports that may be the dashboard
	notDashboard []int       // ports that answered as something else
	looked       bool        // at what it listens on; of servers other than Serena
	listens      bool        // one of its processes does, on whatever address
	lastTask     string
	wantOverview bool      // something changed that the overview tells
	overviewHeld bool      // it is not answered while a tool runs
	overviewAt   time.Time // when it came, or was found not to exist

	// When it is asked, and who waits for that.
	probing   bool
	waiting   []chan<- freshAnswer // those who want it looked at, which the next probe is to tell
	asked     []chan<- freshAnswer // and those whom the probe under way tells
	probedAt  time.Time
	nextProbe time.Time // a repeat that was decided: a failure, a busy server
	active    bool      // it used the CPU as a call does, and was not asked since

	// What its process and its tree had used when they were looked at last.
	cpu          time.Duration // of the server process
	cpuAtFailure time.Duration // the same, at the first failure
	mainCPU      time.Duration // of its main thread, 0 when not known
	cpuAt        time.Time
	treeAt       time.Time
	treeCPU      time.Duration
	tree         []monitor.Identity // when it could be read last; made anew each time
	anyStopped   bool               // a process of it is stopped by a signal
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

// Repeats of a probe, beside those of limits.
const (
	afterFailure = 5 * time.Second  // three over at least 15 s make red
	whileRed     = 10 * time.Second // one good answer heals

	overviewEvery = 5 * time.Minute // for a change that nobody asked for, which shows nowhere else
)

// noteStat takes in what the process table says at a tick; main is the run
// time of the main thread, 0 when it is not known.
func (t *tracked) noteStat(st process.Stat, main time.Duration, now time.Time) {
	t.Unreaped = st.State == process.Unreaped
	if t.Unreaped && t.ExitedAt.IsZero() {
		t.ExitedAt = now
	}
	wasStopped := t.Stopped
	t.Stopped = st.State == process.Stopped
	if t.Stopped {
		t.in.Evidence.IdleSince = time.Time{} // it cannot say any more
	}
	if wasStopped && !t.Stopped {
		t.active = true // continued: ask what it is doing
		t.Failures, t.Unreachable = 0, false
	}
	if !t.cpuAt.IsZero() && t.hadMessage(st.CPU-t.cpu, main-t.mainCPU, main > 0 && t.mainCPU > 0) {
		t.active = true
	}
	t.cpu, t.mainCPU, t.cpuAt = st.CPU, main, now
}

// isUntouched tells that nothing has happened to the process since the last
// look: to stop, to continue, to end and to take in a message all make its
// main thread run. While probes fail the other threads count as well.
func (t *tracked) isUntouched(main time.Duration) bool {
	return main > 0 && main == t.mainCPU && t.Failures == 0 && !t.treeAt.IsZero()
}

// hadMessage tells from the CPU time used since the last look, by the process and
// by its main thread where that is known, whether there was a message.
func (t *tracked) hadMessage(process, main time.Duration, mainKnown bool) bool {
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
	t.tree, t.anyStopped = make([]monitor.Identity, 0, len(tree)), false
	for _, st := range tree {
		rss += st.RSSBytes
		cpu += st.CPU
		t.tree = append(t.tree, st.Identity)
		t.anyStopped = t.anyStopped || st.State == process.Stopped
	}
	e := &t.in.Evidence
	t.in.RSSBytes, t.in.Processes = rss, len(tree)
	if rss > e.SteadyBytes || rss < e.SteadyBytes-e.SteadyBytes/10 {
		e.SteadyBytes = rss
	}
	t.calls.noteTree(t.tree, t.in.Identity, now)
	if t.in.Managed && t.work.noteTree(tree, t.in.Identity, now) { // nothing else is parked
		e.QuietSince = now
	}
	t.members = slices.DeleteFunc(t.members, func(id monitor.Identity) bool {
		return id != t.in.Identity && !slices.Contains(t.tree, id)
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
	return t.isSerena() && t.port == 0 && t.ExitedAt.IsZero() && !t.Stopped && time.Since(t.Born) < monitor.StartBudget
}

// isSerena tells a server that has a dashboard.
func (t *tracked) isSerena() bool { return t.in.Kind == monitor.KindSerena }

// wantsPorts reports whether a port that is not known may be open by now.
func (t *tracked) wantsPorts(burst bool) bool {
	young := time.Since(t.firstSeen) < monitor.StartBudget // to us: one that has run for long is asked for all of its ports, too
	switch {
	case !t.isSerena() && t.isLaunched() && t.launch.Port > 0: // it takes its clients where we told it to
		return false
	case t.port == 0 && burst:
		return true
	case !t.isSerena():
		return !t.looked || t.in.Port == 0 && young
	}
	return t.waitsForDashboard() || t.port != 0 && t.wantsMCP() && young
}

// wantsMCP reports whether a port of its own that is not the dashboard takes MCP.
func (t *tracked) wantsMCP() bool { return t.in.MCPURL == "" && t.cmd.Transport != "stdio" }

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
		if !t.hasMember(l.PID) || !l.Reachable() || port == t.port || t.isLaunched() && port == t.launch.Port {
			continue
		}
		if other := t.port != 0 || slices.Contains(t.notDashboard, port); other {
			t.noteOtherPort(port)
			if t.port != 0 || !again {
				continue
			}
		}
		if c := (candidate{port, l.PID}); !slices.Contains(t.candidates, c) {
			t.candidates = append(t.candidates, c)
		}
	}
	if len(t.candidates) > 0 && t.Failures == 0 {
		t.nextProbe = now
	}
}

// notePort takes in where a server that is not Serena listens: it is called by
// a port of its own that can be reached from here, and any socket of its tree
// may have clients.
func (t *tracked) notePort(all []process.Listener) {
	t.looked, t.listens, t.in.Port = true, false, 0
	for _, l := range all {
		if !slices.Contains(t.listenerPIDs(), l.PID) {
			continue
		}
		t.listens = true
		if t.in.Port == 0 && t.hasMember(l.PID) && (l.Addr.Addr().IsLoopback() || l.Addr.Addr().IsUnspecified()) {
			t.in.Port = int(l.Addr.Port())
		}
	}
}

// listenerPIDs are the pids of the processes whose sockets matter.
func (t *tracked) listenerPIDs() []int {
	if t.isSerena() {
		return pidsOf(t.members)
	}
	return pidsOf(t.members, t.tree)
}

func pidsOf(processes ...[]monitor.Identity) (pids []int) {
	for _, id := range slices.Concat(processes...) {
		pids = append(pids, id.PID)
	}
	return pids
}

func (t *tracked) hasMember(pid int) bool { return slices.Contains(pidsOf(t.members), pid) }

// noteOtherPort takes in a port of its own that is not its dashboard.
func (t *tracked) noteOtherPort(port int) {
	if t.wantsMCP() {
		t.in.MCPURL = mcpURL(t.cmd.Transport, port)
	}
}

// isProbeDue decides whether to ask the instance now.
func (t *tracked) isProbeDue(now time.Time, burst bool) bool {
	if t.probing || t.Stopped || !t.ExitedAt.IsZero() || (t.port == 0 && len(t.candidates) == 0) {
		return false
	}
	if !t.nextProbe.IsZero() {
		return !now.Before(t.nextProbe)
	}
	return burst || (t.active && now.Sub(t.probedAt) >= t.limits.active)
}

// signOfLifeSuffices reports whether nothing can have happened since the last
// probe, so that one request is enough: the main thread has been watched, and
// it was asleep. A call that heals what is wrong may take less than shows.
func (t *tracked) signOfLifeSuffices(now time.Time) bool {
	return t.Answered && t.Failures == 0 && t.nextProbe.IsZero() && !t.active && !t.Busy &&
		t.mainCPU > 0 && !t.isOverviewDue(now) && !t.health.needsAttention()
}

// isOverviewDue reports whether a probe is to ask for the overview in any case.
func (t *tracked) isOverviewDue(now time.Time) bool {
	return t.wantOverview || now.Sub(t.overviewAt) >= overviewEvery
}

// judge is the state of t.
func (t *tracked) judge(now time.Time) monitor.Verdict {
	t.NoDashboard, t.FailingCPU, t.Problem = !t.isSerena(), t.cpu-t.cpuAtFailure, t.health.worst(now)
	t.Listens = t.port != 0 || slices.ContainsFunc(t.candidates, func(c candidate) bool {
		return !slices.Contains(t.notDashboard, c.port)
	})
	usage := t.shownEvidence()
	return monitor.Judge(&t.Facts, &usage, now)
}

// instance is what a snapshot shows of t, and whether it shows it at all. It takes note
// of when its state became red, so that it is to be called for each snapshot.
func (t *tracked) instance(now time.Time) (monitor.Instance, bool) {
	v := t.judge(now)
	if v.State != monitor.StateZombie {
		t.in.Evidence.RedSince = time.Time{}
	} else if t.in.Evidence.RedSince.IsZero() {
		t.in.Evidence.RedSince = now
	}
	if v.Gone || (!t.in.Recognised && !t.Answered && !t.isDedicated() && !t.in.OnPipes) {
		return monitor.Instance{}, false
	}
	in := t.in
	in.State, in.Cause, in.Reason, in.Evidence = v.State, v.Cause, v.Reason, t.shownEvidence()
	switch p := t.Problem; {
	case p == nil:
	case v.Cause == p.Cause && v.State == monitor.StateZombie:
		in.Problem = p
	case p.Cause == monitor.CauseNone && v.Cause == monitor.CauseNone:
		in.Problem, in.Reason = p, v.Reason+"; "+p.Sentence()
	}
	if t.Stopped || t.Unreachable {
		in.Busy = nil // what it said last was of another time
	}
	if v.Cause == monitor.CauseDefunct {
		// What is left is an entry in the process table.
		in.Evidence = monitor.Evidence{RedSince: t.in.Evidence.RedSince}
		in.DashboardURL, in.MCPURL, in.Busy, in.LastActivity = "", "", nil, time.Time{}
		in.RSSBytes, in.CPUPercent, in.Processes = 0, nil, 0
	}
	return in, true
}

// shownEvidence is the evidence that a snapshot shows, of what was found. Nothing is looked at for
// it, and it stays the same while nothing happens.
func (t *tracked) shownEvidence() monitor.Evidence {
	e := t.in.Evidence
	e.Transport, e.IdleSince, e.ClientGone = t.transport(), t.calls.idleSince(e.IdleSince), !t.clientGone.IsZero()
	if !t.isOverStdio() { // what its pipes tell says nothing
		e.ClientGone, e.Orphaned, e.Suspected, e.AloneSince = false, false, false, time.Time{}
	}
	return e
}

// transport is how the clients of t reach it, "" when that is not known: a
// server that is not Serena and listens somewhere may have clients either way.
func (t *tracked) transport() string {
	if t.cmd.Transport == "" && t.isOverStdio() {
		return "stdio"
	}
	return strings.TrimPrefix(t.cmd.Transport, "streamable-")
}

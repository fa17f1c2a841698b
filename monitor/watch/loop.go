package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// How often all dashboards are probed together.
const (
	burstEvery = 30 * time.Second       // so that the CPU can sleep
	burstShare = 300 * time.Millisecond // …but not more often than this per instance
)

// maxProbes bounds the probes under way, and with them our sockets.
const maxProbes = 16

// loop is the state of one Serve. Only its goroutine touches it.
type loop struct {
	o    Options
	self monitor.Identity
	*reports

	scan        func() ([]process.Info, error) // see process.System.Scan
	tracked     map[monitor.Identity]*tracked
	children    map[monitor.Identity]*clientChild // of clients, whose entries are looked for
	exits       process.Exits                     // nil for a single look
	watched     map[monitor.Identity]bool         // whose ends exits tells
	unannounced []*monitor.Instance               // that have ended before they were announced, until the next events
	lastShown   map[string]monitor.Instance       // by key, the running server of each as it was last

	firstTick  time.Time
	nextBurst  time.Time
	lastClock  time.Time // when the clock was looked at last
	awakeSince time.Time // as Snapshot.AwakeSince
	planStale  bool      // what the policies mean to do is to be said anew
	planDue    time.Time // the same, from then on; zero: when something changes

	results  chan result
	inFlight int
	answers  []chan<- freshAnswer // which the next snapshot tells
	slots    chan struct{}
	probes   sync.WaitGroup

	scanErr error
	failing map[string]bool // what could not be done when it was tried last
}

// findInstance is an instance of which something is true, nil for none.
func (l *loop) findInstance(is func(*tracked) bool) *tracked {
	for _, t := range l.tracked {
		if is(t) {
			return t
		}
	}
	return nil
}

// interval is the time to the next tick.
func (l *loop) interval() time.Duration {
	if l.findInstance((*tracked).waitsForDashboard) != nil {
		return l.o.limits.starting
	}
	return l.o.limits.tick
}

// tick looks at the process table, at each instance's process, and starts the
// probes that are due.
func (l *loop) tick(ctx context.Context, now time.Time) {
	if l.firstTick.IsZero() {
		l.firstTick = now
	}
	fresh, err := l.scan()
	l.scanErr = err
	l.noteError("cannot read the process table; instances that start now are not seen", err)
	l.discover(fresh, now)
	l.trackDedicatedServers(now)
	l.nameChildren(false, now)

	burst := !now.Before(l.nextBurst)
	if burst {
		for _, c := range l.children { // those that are in no settings may be by now
			l.entriesFor(c, now.Add(-settingsAge))
		}
		l.nextBurst = now.Add(max(burstEvery, time.Duration(len(l.tracked))*burstShare))
	}
	for id, t := range l.tracked {
		main, _ := l.o.System.MainThreadCPU(id.PID) // 0 when it is not known
		if !burst && t.isUntouched(main) {
			continue
		}
		st, err := l.o.System.Stat(id.PID)
		switch {
		case errors.Is(err, process.ErrGone) || (err == nil && st.Identity != id):
			l.noteExit(id, now)
			continue
		case err != nil:
			continue // unreadable for a moment: what is known stays
		}
		t.noteStat(st, main, now)
		if burst || t.treeAt.IsZero() {
			before, halted := t.tree, t.anyStopped
			known := l.sampleTree(t, now) != nil
			// A language server has started or ended, was suspended or continued, or may have been.
			t.active = t.active || before != nil && (!known || !slices.Equal(before, t.tree) || halted != t.anyStopped)
		}
	}
	l.findPorts(burst, now)
	if burst {
		l.findLostDashboards(now)
	}
	for _, t := range l.tracked {
		l.checkClient(t, burst, now)
		if burst {
			l.checkConnections(t)
		}
		if t.isProbeDue(now, burst) {
			l.probe(ctx, t, now)
		}
	}
}

// noteError logs that something has begun to fail, and that it works again.
func (l *loop) noteError(what string, err error) {
	switch {
	case err != nil && !l.failing[what]:
		l.o.Log.Warn(what, "error", err)
	case err == nil && l.failing[what]:
		l.o.Log.Info("it works again: " + what)
	}
	l.failing[what] = err != nil
}

// sampleTree measures memory and CPU of the whole tree, and returns it; nil when it
// cannot be read.
func (l *loop) sampleTree(t *tracked, now time.Time) []process.Stat {
	tree, err := l.treeOf(t)
	if err != nil {
		return nil
	}
	t.noteTree(tree, now)
	return tree
}

// treeOf is the tree of an instance, which is below its topmost wrapper: that may end and
// leave the server running.
func (l *loop) treeOf(t *tracked) ([]process.Stat, error) {
	tree, err := l.o.System.Tree(t.root)
	isServer := func(st process.Stat) bool { return st.Identity == t.in.Identity }
	if errors.Is(err, process.ErrGone) || err == nil && !slices.ContainsFunc(tree, isServer) {
		t.root = t.in.Identity
		return l.o.System.Tree(t.root)
	}
	return tree, err
}

// findPorts looks for the dashboards of instances that have none yet.
func (l *loop) findPorts(burst bool, now time.Time) {
	var pids []int
	var waiting []*tracked
	for _, t := range l.tracked {
		if t.wantsPorts(burst) {
			waiting = append(waiting, t)
			pids = append(pids, t.listenerPIDs()...)
		}
	}
	if len(pids) == 0 {
		return
	}
	slices.Sort(pids)
	listeners, err := l.o.System.Listeners(slices.Compact(pids))
	l.noteError("cannot read which ports are open; no dashboard can be found", err)
	if err != nil {
		return
	}
	for _, t := range waiting {
		t.noteListeners(listeners, burst, now)
	}
}

// instances are what a snapshot shows, in order.
func (l *loop) instances(now time.Time) []*monitor.Instance {
	list := make([]*monitor.Instance, 0, len(l.tracked))
	for _, t := range l.tracked {
		if in, ok := t.instance(now); ok {
			in.Pinned = l.o.Pinned != nil && l.o.Pinned(in.Identity)
			list = append(list, &in)
		}
	}
	list = l.addSharing(list)
	monitor.Sort(list)
	return list
}

// tolerance is how much the clocks may differ, and how much later than asked for
// a timer may come: a busy machine is no sleeping one.
const tolerance = 30 * time.Second

// jumped tells that the machine slept or its clock was set in a time that was to be no
// longer than wait: by the wall clock, which may be set and goes on while the machine
// sleeps, and by the monotonic one, which is never set, and goes on or not, depending
// on the system.
func jumped(wall, mono, wait time.Duration) bool {
	apart := wall - mono
	return apart > tolerance || apart < -tolerance || mono > wait+tolerance
}

// noteClock looks whether spans count anew from now. It is to be called before each
// snapshot, so that nothing is decided by a time in which the machine slept: no two of
// them are further apart than a tick.
func (l *loop) noteClock(now time.Time) {
	before := l.lastClock
	l.lastClock = now
	if before.IsZero() || !jumped(now.Round(0).Sub(before.Round(0)), now.Sub(before), l.o.limits.tick) {
		return
	}
	l.o.Log.Info("the machine slept or its clock was set; how long servers have been idle or alone counts from now")
	l.awakeSince = now
}

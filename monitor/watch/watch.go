// Package watch owns the model. One goroutine, in Serve, keeps what is known
// about every instance: it finds them in the process table, probes their
// dashboards, learns of their end, and publishes an immutable snapshot after
// each change. Views subscribe; nobody else writes.
//
// Facts about processes come from monitor/process, answers of dashboards from
// monitor/serena, and the judgement from monitor.
//
// A server is found by a rule (discover.go), by the settings of its client (entry.go), by the
// shim that runs it (shared.go), or because somebody reports it (reports.go). What is above
// it and what is part of it is in lineage.go, all that is known of it in tracked.go, what its
// dashboard says in probe.go and health.go, whether anybody uses it in use.go and link.go, and
// who ends in exits.go. One turn of the loop is in loop.go, a snapshot in watch.go, and what a
// snapshot tells that the one before did not in events.go.
package watch

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
)

// Rules recognises servers that are not Serena by executable and arguments:
// monitor/rules. It must be safe for concurrent use.
type Rules interface {
	Match(exe string, args []string) (name string, ok bool)
	// Hides reports whether a process is no server, and is not to be shown.
	Hides(exe string, args []string) bool
}

// Dashboards are what the Serenas of a machine say: *serena.Client.
type Dashboards interface {
	Heartbeat(ctx context.Context, port int) error
	LastExecution(ctx context.Context, port int) (*serena.Task, error)
	Queue(ctx context.Context, port int) ([]serena.Task, error)
	Overview(ctx context.Context, port int) (*serena.Overview, error)
	ToolCalls(ctx context.Context, port int) (int64, error)
	Records(ctx context.Context, port, from int) (records []serena.Record, next int, err error)
}

// Options of a Watch. The zero value works.
type Options struct {
	System     process.System // nil: this machine
	Dashboards Dashboards     // nil: over TCP
	Log        *slog.Logger   // nil: silent
	Warnings   []string       // shown in every snapshot until SetWarnings
	Rules      Rules          // nil: those that are built in
	// Record is called with each event in its order and must not block; nil:
	// nobody keeps them.
	Record func(monitor.Event)
	// Pinned reports whether the user has pinned an instance; nil: none is. It must be safe
	// for concurrent use and must not block.
	Pinned func(monitor.Identity) bool
	// Settings tell which processes of clients are servers, and under which name; nil:
	// nothing is known of them.
	Settings Settings
	// SerenaHome is where Serena keeps what is its user's, with its log files; "":
	// they are not read.
	SerenaHome string
	// Plan, if given, says in a new snapshot what the policies mean to do, before
	// anybody sees it: it sets Policy, and Plan and
	// Evidence.Refused of each instance, nothing else. It is
	// called when something has changed, and at the moment that it returned last, if
	// that is not zero. It must not block.
	Plan func(*monitor.Snapshot) time.Time

	limits limits
}

func (o Options) orDefault() Options {
	o.Log, o.System, o.limits = cmp.Or(o.Log, slog.New(slog.DiscardHandler)), cmp.Or(o.System, process.Local()), cmp.Or(o.limits, usual)
	if o.Dashboards == nil {
		o.Dashboards = serena.NewClient()
	}
	if o.Rules == nil {
		o.Rules = rules.New(nil)
	}
	if o.Record == nil {
		o.Record = func(monitor.Event) {}
	}
	if o.Plan == nil {
		o.Plan = func(*monitor.Snapshot) time.Time { return time.Time{} }
	}
	return o
}

// Watch is the model. Make one with New.
type Watch struct {
	o      Options
	unseen *monitor.Snapshot // before the first look
	feed   monitor.Feed[*monitor.Snapshot]
	events recentEvents
	said   *reports // for the loop of each Serve

	mu    sync.Mutex   // for o.Rules and inbox
	inbox []message    // what Serve is to take in, in this order
	wake  monitor.Bell // there is something in the inbox, or something to publish
}

// message is what the loop takes in of what somebody says.
type message func(context.Context, *loop, time.Time)

// New returns a Watch that knows nothing until Serve runs.
func New(o Options) *Watch {
	w := &Watch{o: o.orDefault(), wake: monitor.NewBell()}
	w.said = &reports{proofs: make(map[monitor.Identity]monitor.Proof), warnings: slices.Clone(o.Warnings)}
	w.unseen = &monitor.Snapshot{At: time.Now(), Warnings: w.said.warnings}
	return w
}

// Snapshot returns the newest snapshot, never nil: before the first look it is
// an empty one with the number 0. It must not be changed.
func (w *Watch) Snapshot() *monitor.Snapshot { return cmp.Or(w.feed.Latest(), w.unseen) }

// Subscribe returns a channel that holds the newest snapshot that has not been
// received yet, starting with the current one, or with the first as soon as
// there is one: a slow reader skips snapshots, it never delays the watch. The
// channel is never closed; cancel ends the subscription and may be called more
// than once.
func (w *Watch) Subscribe() (snapshots <-chan *monitor.Snapshot, cancel func()) {
	return w.feed.Subscribe()
}

// SetWarnings replaces the sentences that every snapshot carries. It is safe
// for concurrent use.
func (w *Watch) SetWarnings(list []string) {
	list = slices.Clone(list)
	w.enqueue(func(_ context.Context, l *loop, _ time.Time) { l.warnings = list })
}

// SetRules replaces the rules that servers other than Serena are recognised by.
// What no rule knows any more leaves the model. It is safe for concurrent use.
func (w *Watch) SetRules(r Rules) {
	w.mu.Lock()
	w.o.Rules = r
	w.mu.Unlock()
	w.enqueue(func(_ context.Context, l *loop, now time.Time) { l.setRules(w.Rules(), now) })
}

// PinsChanged makes the next snapshot, made at once, say what Options.Pinned says
// now. It does not wait for that, and is safe for concurrent use.
func (w *Watch) PinsChanged() { w.wake.Ring() }

// PolicyChanged makes the next snapshot, made at once, say what Options.Plan says
// now. It does not wait for that, and is safe for concurrent use.
func (w *Watch) PolicyChanged() {
	w.enqueue(func(_ context.Context, l *loop, _ time.Time) { l.planStale = true })
}

// Rules are those of now. It is safe for concurrent use.
func (w *Watch) Rules() Rules {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.o.Rules
}

// enqueue has Serve take in what somebody says before the next snapshot.
func (w *Watch) enqueue(takeIn message) {
	w.mu.Lock()
	w.inbox = append(w.inbox, takeIn)
	w.mu.Unlock()
	w.wake.Ring()
}

// readInbox takes in what waits in the inbox, one by one, so that a panic loses one alone.
// What comes meanwhile waits for the next time: a flood of hints delays no exit.
func (w *Watch) readInbox(ctx context.Context, l *loop) {
	w.mu.Lock()
	waiting := len(w.inbox)
	w.mu.Unlock()
	for range waiting {
		w.mu.Lock()
		next := w.inbox[0]
		w.inbox = w.inbox[1:]
		w.mu.Unlock()
		next(ctx, l, time.Now())
	}
}

// begin makes a loop that finds out anew what one before knew, of which a panic may have left
// half changed. What others have said stays, and what events have told. exits is nil for a
// single look.
func (w *Watch) begin(exits process.Exits) *loop {
	w.mu.Lock() // for the rules
	defer w.mu.Unlock()
	self, _ := w.o.System.Stat(w.o.System.Self())
	return &loop{
		o: w.o, self: self.Identity, reports: w.said, exits: exits, scan: w.o.System.Scan(),
		tracked: make(map[monitor.Identity]*tracked), children: make(map[monitor.Identity]*clientChild), failing: make(map[string]bool),
		planStale: true, results: make(chan result), slots: make(chan struct{}, maxProbes),
	}
}

// Serve watches until ctx ends. It may be called again after it returned, not
// twice at once.
func (w *Watch) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	exits := w.o.System.Exits()
	l := w.begin(exits)
	var running sync.WaitGroup
	running.Go(func() { _ = exits.Serve(ctx) }) // it ends with ctx alone, as all here
	if w.o.Settings != nil {
		running.Go(func() {
			_ = w.o.Settings.Serve(ctx, func() {
				w.enqueue(func(_ context.Context, l *loop, now time.Time) { l.nameChildren(true, now) })
			})
		})
	}
	defer func() {
		cancel()
		l.probes.Wait()
		running.Wait()
		for _, t := range l.tracked {
			if t.isLaunched() {
				w.Launched(*t.launch)
			}
		}
	}()

	w.readInbox(ctx, l) // before the first look
	tick := time.NewTimer(0)
	defer tick.Stop()
	next := time.Now()
	var gathered <-chan time.Time // nil: nothing waits
	for {
		mayWait := false // for what probes find that are under way
		select {
		case <-ctx.Done():
			return ctx.Err()
		case id := <-exits.Exits():
			l.noteExit(id, time.Now())
		case r := <-l.results:
			l.absorb(r, time.Now())
			l.probeForWaiting(ctx, r.of, time.Now())
			mayWait = true
		case <-gathered:
		case <-w.wake:
			w.readInbox(ctx, l)
			tick.Reset(min(l.interval(), max(time.Until(next), 0)))
		case <-tick.C:
			l.tick(ctx, time.Now())
			next = time.Now().Add(l.interval())
			tick.Reset(l.interval())
			mayWait = true
		}
		if mayWait && l.inFlight > 0 {
			gathered = cmp.Or(gathered, time.After(gatherTime))
			continue
		}
		gathered = nil
		w.publish(l, time.Now())
	}
}

// gatherTime is how long what a look at the processes or a probe has found waits for what the
// others find that are under way: one by one, n dashboards would make and compare n snapshots of
// n instances.
const gatherTime = 50 * time.Millisecond

// firstLook is how long the first snapshot waits for answers, so that servers
// which have run for hours do not flash as starting when we start.
const firstLook = time.Second

// publish makes and hands out a snapshot when something has changed, the first
// one after the first look.
func (w *Watch) publish(l *loop, now time.Time) {
	l.noteClock(now)
	l.watchExits(now)
	if l.firstTick.IsZero() || l.inFlight > 0 && now.Sub(l.firstTick) < firstLook {
		return
	}
	before := w.Snapshot()
	after := &monitor.Snapshot{
		Seq: before.Seq + 1, At: now, Instances: w.events.withoutEnded(l.instances(now)), Warnings: l.warnings,
		AwakeSince: l.awakeSince, Policy: before.Policy,
	}
	known := make(map[monitor.Identity]*monitor.Instance, len(before.Instances))
	for _, in := range before.Instances {
		known[in.Identity] = in
	}
	for _, in := range after.Instances {
		if was := known[in.Identity]; was != nil { // until the policies say something else
			in.Plan, in.Evidence.Refused = was.Plan, was.Evidence.Refused
		}
	}
	for _, e := range w.newEvents(l, before, after) {
		w.note(e)
	}
	after.Recent = w.events.latest()
	changed := before.Seq == 0 || !areSame(before, after)
	if changed || l.planStale || len(l.answers) > 0 || !l.planDue.IsZero() && !now.Before(l.planDue) {
		l.planStale = false
		l.planDue = w.o.Plan(after)
		after.Recent = w.events.latest()
		changed = changed || !areSame(before, after)
	}
	if changed {
		for i, in := range after.Instances { // whoever draws it sees by the pointer what has changed
			if was := known[in.Identity]; was != nil && reflect.DeepEqual(was, in) {
				after.Instances[i] = was
			}
		}
		w.feed.Publish(after)
	}
	for _, answer := range l.answers {
		answer <- freshAnswer{s: after}
	}
	l.answers = nil
}

// areSame reports whether two snapshots say the same, their number and time aside.
func areSame(before, after *monitor.Snapshot) bool {
	return before.AwakeSince.Equal(after.AwakeSince) && slices.Equal(before.Warnings, after.Warnings) && slices.Equal(before.Recent, after.Recent) &&
		reflect.DeepEqual(before.Policy, after.Policy) &&
		slices.EqualFunc(before.Instances, after.Instances, func(x, y *monitor.Instance) bool { return reflect.DeepEqual(x, y) })
}

// Once scans and probes one time and returns what it found. An instance that
// needs longer than its answer time is in the state that a first failed probe
// leaves.
func Once(ctx context.Context, o Options) (*monitor.Snapshot, error) {
	w := New(o)
	l := w.begin(nil)
	look, cancel := context.WithTimeout(ctx, w.o.limits.once)
	defer l.probes.Wait()
	defer cancel()
	l.tick(look, time.Now())
	if len(l.children) > 0 {
		l.o.Settings.Look()
		l.tick(look, time.Now())
	}
	for l.inFlight > 0 && look.Err() == nil {
		select {
		case r := <-l.results:
			l.absorb(r, time.Now())
		case <-look.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	now := time.Now()
	l.findPorts(false, now) // once the dashboard is known, the other port is MCP
	s := &monitor.Snapshot{Seq: 1, At: now, Instances: l.instances(now), Warnings: l.warnings}
	w.o.Plan(s)
	return s, l.scanErr
}

// limits are how often a Watch looks, and how long it waits. Between two looks only an exit or
// an answer wakes it.
type limits struct {
	tick     time.Duration // from one look at the processes to the next
	starting time.Duration // the same while somebody waits for a new lamp, and from one probe of what starts to the next
	active   time.Duration // between two probes that a server's use of the CPU asks for
	busy     time.Duration // from one probe of a server that is at work to the next
	probe    time.Duration // how long a dashboard has for each answer that tells whether it lives
	answer   time.Duration // the same for an answer that takes longer, or that somebody waits for
	once     time.Duration // how long Once waits for answers
}

// usual are the limits of all but tests.
var usual = limits{
	tick: time.Second, starting: 250 * time.Millisecond, active: time.Second, busy: 2 * time.Second,
	probe: serena.ProbeTimeout, answer: serena.AnswerTimeout, once: 3 * time.Second,
}

package policies

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is everything around an engine, on a clock that the test moves.
type world struct {
	mu      sync.Mutex
	time    time.Time
	awake   time.Time    // since then the machine runs
	wake    monitor.Bell // see watched
	s       *monitor.Snapshot
	events  []monitor.Event
	notices []Notice
	gone    []string // withdrawn
	changed int

	stops   []stop.Order
	stopped []monitor.Identity
	// stop is what the ladder makes of an order; nil: it ends the instance.
	stop func(in monitor.Instance, o stop.Order) (stop.Result, error)
	// contrary is what a look just before would say.
	contrary error
	asked    []int // the pids of those that were looked at
}

// noon is when every test begins.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func newWorld() *world {
	return &world{time: noon, s: &monitor.Snapshot{Seq: 1, At: noon}}
}

func (w *world) options() Options {
	return Options{
		Source: w, Stop: w, Fresh: w.fresh, Active: true,
		Record:   func(e monitor.Event) { w.mu.Lock(); defer w.mu.Unlock(); w.events = append(w.events, e) },
		Tell:     func(n Notice) { w.mu.Lock(); defer w.mu.Unlock(); w.notices = append(w.notices, n) },
		Withdraw: func(s string) { w.mu.Lock(); defer w.mu.Unlock(); w.gone = append(w.gone, s) },
		Changed:  func() { w.mu.Lock(); defer w.mu.Unlock(); w.changed++ },
	}
}

func (w *world) now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.time }

func (w *world) Snapshot() *monitor.Snapshot { w.mu.Lock(); defer w.mu.Unlock(); return w.s }

func (w *world) Subscribe() (<-chan *monitor.Snapshot, func()) { panic("nobody subscribes") }

func (w *world) Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	if o.Confirm != nil {
		if err := o.Confirm(ctx); err != nil {
			refusal := &stop.Refusal{Label: in.Label(), Kind: stop.ErrChanged, Why: err.Error() + "."}
			return stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}, refusal
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = append(w.stops, o)
	if w.stop != nil {
		return w.stop(in, o)
	}
	w.stopped = append(w.stopped, in.Identity)
	return stop.Result{Outcome: stop.Ended, FreedBytes: 100_000_000}, nil
}

func (w *world) fresh(ctx context.Context, id monitor.Identity) (*monitor.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	w.asked = append(w.asked, id.PID)
	return w.newest(), w.contrary
}

// newest is the snapshot of now; the caller holds the lock.
func (w *world) newest() *monitor.Snapshot {
	s := *w.s
	s.At, s.AwakeSince, s.Instances = w.time, w.awake, nil
	for _, in := range w.s.Instances {
		s.Instances = append(s.Instances, new(*in)) // which the engine writes into
	}
	return &s
}

// instances replaces the snapshot.
func (w *world) instances(list ...monitor.Instance) *monitor.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.s = &monitor.Snapshot{Seq: w.s.Seq + 1, At: w.time}
	for _, in := range list {
		w.s.Instances = append(w.s.Instances, &in)
	}
	return w.s
}

func (w *world) kinds(of ...monitor.EventKind) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		for _, k := range of {
			if e.Kind == k {
				found = append(found, fmt.Sprintf("%s %d %s", e.Kind, e.PID, e.Detail))
			}
		}
	}
	return found
}

func who(pid int) monitor.Identity { return monitor.Identity{PID: pid, Start: 7} }

// server is one that answers and has nothing to do since then.
func server(pid int, idle time.Time) monitor.Instance {
	busy, keeps := false, false
	return monitor.Instance{
		Identity: who(pid), Kind: monitor.KindSerena, Port: 24000 + pid, ProjectName: "alpha", Recognised: true, State: monitor.StateProject,
		Busy: &busy, Evidence: monitor.Evidence{Transport: "http", IdleSince: idle, KeepsState: &keeps},
	}
}

// orphan is one whose client is gone since then.
func orphan(pid int, alone time.Time) monitor.Instance {
	in := server(pid, alone)
	in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
	in.Client = &monitor.Client{Identity: who(pid + 1000), Name: "Codex"}
	in.Evidence.Transport, in.Evidence.Orphaned, in.Evidence.ClientGone, in.Evidence.AloneSince = "stdio", true, true, alone
	return in
}

// attached is one over stdio whose client lives.
func attached(pid int, idle time.Time) monitor.Instance {
	in := server(pid, idle)
	in.Evidence.Transport = "stdio"
	in.Client = &monitor.Client{Identity: who(pid + 1000), Name: "Codex"}
	return in
}

// usual are rules that end orphans after 10 minutes and idle ones after 30.
func usual() policy.Rules {
	return policy.Rules{OrphanGrace: 10 * time.Minute, IdleAfter: 30 * time.Minute}
}

// drive asks an engine as the watch does, on the clock of the world and without a
// goroutine: ends are begun, and carried out when the test says so.
type drive struct {
	*world
	e     *Engine
	due   time.Time // when it wants to be asked again
	begun []start
}

func (w *world) drive(e *Engine) *drive { return &drive{world: w, e: e} }

func (w *world) engine(o Options) *Engine {
	e := newEngine(o, w.now, func() (string, error) { return "boot", nil })
	e.SetRules(usual())
	return e
}

// driving drives an engine with these rules, which has seen these instances.
func driving(r policy.Rules, list ...monitor.Instance) (*world, *drive) {
	w := newWorld()
	d := w.drive(w.engine(w.options()))
	d.e.SetRules(r)
	w.instances(list...)
	d.look()
	return w, d
}

// look makes a snapshot, with what is planned.
func (d *drive) look() {
	d.mu.Lock()
	s := d.newest()
	d.mu.Unlock()
	d.due = d.e.Plan(s)
	d.mu.Lock()
	d.s = s
	d.mu.Unlock()
	for len(d.e.starts) > 0 {
		d.begun = append(d.begun, <-d.e.starts)
	}
}

// carryOut ends what was begun, and looks again.
func (d *drive) carryOut() {
	for len(d.begun) > 0 {
		begun := d.begun
		d.begun = nil
		for _, next := range begun {
			d.e.carryOut(context.Background(), next)
		}
		d.look()
	}
}

// choose answers a notice, and carries out what comes of that.
func (d *drive) choose(n Notice, key string) {
	d.e.Chosen(n, key)
	d.look()
	d.carryOut()
}

// pass lets time pass, and looks when the engine wants that.
func (d *drive) pass(span time.Duration) {
	for end := d.now().Add(span); ; {
		now := d.now()
		if d.due.IsZero() || d.due.After(end) {
			d.tick(end.Sub(now))
			return
		}
		d.tick(d.due.Sub(now))
		d.look()
		d.carryOut()
	}
}

// tick moves the clock.
func (d *drive) tick(span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.time = d.time.Add(max(span, 0))
}

// sleep lets time pass in which the machine does not run.
func (d *drive) sleep(span time.Duration) {
	d.tick(span)
	d.awake = d.now()
}

var errUsed = errors.New("a call runs")

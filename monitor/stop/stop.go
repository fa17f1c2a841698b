// Package stop is the stop ladder: how an instance is ended, with everything
// that belongs to it and nothing else.
//
// Who may be ended is decided by Check, which is pure; the steps of the ladder are a
// table, see climb.steps. Whether an instance should be ended at all
// (idle, orphaned) is not decided here: somebody orders it.
//
// A climb: hold every process of the tree; ask the server to end (Serena, if
// its dashboard can be reached); SIGTERM and SIGCONT to the root; the same to
// what is left; SIGKILL to what is left then; look whether all of it is gone.
// Each rung has its limit and is left at once when nothing lives any more. The
// tree is looked at again all the time: what it starts meanwhile belongs to it
// as long as its parent was seen alive. Whoever is to be terminated or killed is
// suspended for the moment before: what stands still starts nothing, so nothing
// of it is missed.
//
// What has left the tree before anybody looked (a daemon that forked twice) is
// not pursued, nor is a whole process group: nobody can say whose they are.
package stop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// Order is what somebody wants to be done to an instance.
type Order struct {
	Force   bool   // refuse only what can never be ended, and wait less
	DryRun  bool   // check everything and say what would be done
	By      string // who orders it, for the event: "the menu", "the command line"
	Protect []int  // pids that must not be ended, with their ancestors: who asks, beside this process

	// Automatic says that a policy orders it, not a user: what cannot be told
	// then counts as busy, and nothing that needs the user's word is done, so that
	// Force means nothing. A refusal is no event: a policy tries again and again,
	// and tells itself what stands against it.
	Automatic bool
	// Confirm, if given, is asked when the tree is held, as late as possible: an
	// error refuses the order, as ErrChanged. It must not block for longer than
	// its context.
	Confirm func(context.Context) error
}

// forced reports whether the user insists.
func (o Order) forced() bool { return o.Force && !o.Automatic }

// Outcome is how a Stop ended, in one word.
type Outcome string

// The outcomes.
const (
	Ended     Outcome = "ended"     // all of it is gone
	WouldEnd  Outcome = "would_end" // a dry run that met no objection
	Refused   Outcome = "refused"   // the error is a *Refusal
	Gone      Outcome = "gone"      // there was nothing to end; the error is process.ErrGone
	Failed    Outcome = "failed"    // the error is ErrSurvived, or why nothing could be done
	Cancelled Outcome = "cancelled" // the context ended on the way
)

// ErrSurvived says that something of the tree still runs after all rungs.
var ErrSurvived = errors.New("not all of it has ended")

// Result tells what Stop did, also to programs.
type Result struct {
	Outcome    Outcome         `json:"outcome"`
	Detail     string          `json:"detail"`      // whole sentences
	Steps      []monitor.Event `json:"steps"`       // what was done, in order; none for a dry run
	Processes  int             `json:"processes"`   // how many ended; for a dry run, how many would
	FreedBytes uint64          `json:"freed_bytes"` // resident memory that the tree had when it was held
}

// Dashboards are what the Serenas of a machine say: *serena.Client.
type Dashboards interface {
	Queue(ctx context.Context, port int) ([]serena.Task, error)
	Shutdown(ctx context.Context, port int) error
}

// Options say how a ladder works. The zero value is useful.
type Options struct {
	System     process.System      // default: this machine
	Dashboards Dashboards          // default: over TCP
	Log        *slog.Logger        // default: nowhere
	Record     func(monitor.Event) // gets each step as it is done, from the goroutine of Stop
	Limits     Limits

	// Recognise, if given, looks once more whether the process is a server: it
	// may run another program than when it was seen last. It is not asked about
	// one that we have started.
	Recognise func(process.Info) bool
	// Run, if given, runs a command line to its end. The error says that it failed. It
	// ends the containers that a tree has started.
	Run func(ctx context.Context, command []string) error
	// Pinned, if given, reports whether an instance is pinned at the moment of the
	// order, for a snapshot may be older than a pin, or why nobody can say.
	Pinned func(monitor.Identity) (bool, error)
}

// Ladder ends instances. It is safe for concurrent use.
type Ladder struct {
	o      Options
	now    func() time.Time
	ending sync.Map // by the identity of an instance: a channel that is closed when its Stop is over
}

// New makes a ladder.
func New(o Options) *Ladder {
	o.System = cmp.Or(o.System, process.Local())
	o.Dashboards = cmp.Or[Dashboards](o.Dashboards, serena.NewClient())
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Record == nil {
		o.Record = func(monitor.Event) {}
	}
	o.Limits = o.Limits.orDefault()
	return &Ladder{o: o, now: time.Now}
}

// Stop ends an instance with its whole tree, or says why not. It returns when
// all of it is gone or the ladder is at its end, see Limits. The error is nil
// only when the outcome is Ended or WouldEnd; see Outcome for the others. When
// ctx ends on the way, nothing more is sent, except that what was suspended for
// the next rung is continued.
//
// A second Stop of an instance that is being ended waits for the first, and then looks
// for itself: what a policy is refused, a user may do all the same.
func (l *Ladder) Stop(ctx context.Context, in monitor.Instance, o Order) (Result, error) {
	if !o.DryRun {
		over, err := l.enter(ctx, in.Identity)
		if err != nil {
			err = fmt.Errorf("no longer waiting for the end of %s, which somebody else has ordered: %w", in.Label(), err)
			return Result{Outcome: Cancelled, Detail: monitor.Sentence(err.Error())}, err
		}
		defer over()
	}
	return l.stop(ctx, &in, o)
}

// enter waits until nobody else ends an instance. over lets the next one do so.
func (l *Ladder) enter(ctx context.Context, id monitor.Identity) (over func(), err error) {
	mine := make(chan struct{})
	for {
		other, others := l.ending.LoadOrStore(id, mine)
		if !others {
			return func() {
				l.ending.Delete(id)
				close(mine)
			}, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stop is Stop of one that nobody else ends.
func (l *Ladder) stop(ctx context.Context, in *monitor.Instance, o Order) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{Outcome: Cancelled, Detail: "Nothing was done: " + err.Error() + "."}, err
	}
	c := l.newClimb(in, o)
	defer c.release()
	if err := c.hold(); err != nil {
		return c.nothingDone(err)
	}
	facts := Facts{Label: in.Label(), Pinned: in.Pinned}
	c.manager(ctx, &facts)
	if err := c.confirm(ctx); err != nil {
		return c.nothingDone(err)
	}
	if l.o.Pinned != nil && !o.forced() { // who insists does not wait for the disk
		facts.Pinned, facts.PinsUnknown = l.o.Pinned(in.Identity)
	}
	canAsk := c.gather(ctx, &facts)
	if ctx.Err() != nil {
		return c.nothingDone(ctx.Err())
	}
	if refusal := Check(facts, o); refusal != nil {
		return c.nothingDone(refusal)
	}
	c.findElsewhere()
	if o.DryRun {
		return c.wouldEnd(canAsk), nil
	}
	c.add(monitor.EventStopOrdered, o.by())
	c.endElsewhere(ctx)
	if canAsk {
		c.ask(ctx)
	}
	c.run(ctx, c.steps())
	return c.finish(ctx)
}

// confirm has whoever ordered it look once more, see Order.Confirm. The error is a
// *Refusal, or says that nothing can be done any more.
func (c *climb) confirm(ctx context.Context) error {
	if c.order.Confirm == nil {
		return nil
	}
	look, cancel := context.WithTimeout(ctx, c.limits.Check)
	defer cancel()
	err := c.order.Confirm(look)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, errors.Is(err, process.ErrGone):
		return err
	}
	return &Refusal{Label: c.in.Label(), Kind: ErrChanged, Why: monitor.Clean(err.Error()) + "."}
}

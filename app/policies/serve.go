package policies

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// Serve carries out what Plan has decided until ctx ends. It returns when the ladder
// has given up what it was at.
func (e *Engine) Serve(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	e.tellProblem()
	for {
		for _, next := range e.take() {
			running.Go(func() { e.carryOut(ctx, next) })
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.wake:
		}
	}
}

// take are the ends to begin.
func (e *Engine) take() []start {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.starts
	e.starts = nil
	return list
}

// Plan decides about a new snapshot, before anybody sees it, and writes into it how
// the policies stand and what they mean to do about each instance. It announces what
// will be ended, and has Serve end what is due. next is when it is to be asked again
// although nothing has changed, zero: never. It never blocks, and must not be called
// twice at once.
func (e *Engine) Plan(s *monitor.Snapshot) (next time.Time) {
	now := s.At
	e.expire(now)
	e.takeIn(s)
	r := e.rules()
	for i := range s.Instances {
		s.Instances[i].Evidence.Refused = e.book.refusedOf(&s.Instances[i])
	}
	actions, next := policy.Decide(s, r)
	if e.o.Active {
		w := e.book.look(s, actions, r)
		for _, event := range w.events {
			e.o.Record(event)
		}
		e.begin(w.end...)
		if r.PausedAt(now) {
			e.book.told.silence()
		}
		e.tell(now)
		next = sooner(next, sooner(e.book.next(), e.book.told.next()))
	}
	s.Policy = r.Standing(s)
	s.Policy.Active = e.o.Active
	for i := range s.Instances {
		in := &s.Instances[i]
		if until, kept := r.KeptAt(in.Identity, now); kept {
			in.Plan = monitor.Plan{KeptUntil: until}
		} else {
			in.Plan = e.book.plan(in.Identity)
		}
		in.Plan.GivenUpSince = e.book.givenUp[in.Identity]
	}
	return next
}

// tell shows what is to be told.
func (e *Engine) tell(now time.Time) {
	notices, withdrawn := e.book.told.take(now, len(e.book.running) == 0)
	for _, subject := range withdrawn {
		e.o.Withdraw(subject)
	}
	for _, n := range notices {
		e.o.Tell(n)
	}
}

// tellProblem tells once what is wrong with the file.
func (e *Engine) tellProblem() {
	e.mu.Lock()
	n := e.problem
	e.problem = nil
	e.mu.Unlock()
	if n != nil && e.o.Active {
		e.o.Tell(*n)
	}
}

// expire ends a pause whose time is over.
func (e *Engine) expire(now time.Time) {
	e.mu.Lock()
	over := e.wishes.Paused && !e.wishes.PausedAt(now)
	if over {
		e.wishes = e.wishes.Tidy(now)
	}
	e.mu.Unlock()
	if over && e.o.Active {
		e.o.Record(monitor.Event{At: now, Kind: monitor.EventPoliciesResumed, Detail: "the time is over"})
	}
}

// outcome is how an end went.
type outcome struct {
	start
	result stop.Result
	err    error
	// changed is what stood against it when the tree was held.
	changed error
}

// begin has Serve end instances.
func (e *Engine) begin(list ...start) {
	if len(list) > 0 {
		e.mu.Lock()
		e.starts = append(e.starts, list...)
		e.mu.Unlock()
		e.wake.Ring()
	}
}

// carryOut has the ladder end an instance.
func (e *Engine) carryOut(ctx context.Context, next start) {
	o := outcome{start: next}
	order := e.order(&o.in, o.rule, o.reason)
	if o.rule == "" {
		order = stop.Order{By: next.by, Confirm: e.confirmNotice(&o.in, next.grounds)}
	}
	confirm := order.Confirm
	order.Confirm = func(ctx context.Context) error {
		o.changed = confirm(ctx)
		return o.changed
	}
	o.result, o.err = e.o.Stop.Stop(ctx, next.in, order)
	e.post(func(s *monitor.Snapshot) { e.absorb(o, s.At) })
	e.o.Changed()
}

// post has the next Plan take something in.
func (e *Engine) post(takeIn func(*monitor.Snapshot)) {
	e.mu.Lock()
	e.inbox = append(e.inbox, takeIn)
	e.mu.Unlock()
}

// takeIn takes in what was posted, twice: what waits for the end of another one may begin
// when that is taken in, and is posted again until then.
func (e *Engine) takeIn(s *monitor.Snapshot) {
	for range 2 {
		e.mu.Lock()
		inbox := e.inbox
		e.inbox = nil
		e.mu.Unlock()
		for _, takeIn := range inbox {
			takeIn(s)
		}
	}
}

// endAsked begins what the user has asked for, as soon as it can be.
func (e *Engine) endAsked(s *monitor.Snapshot, r request) {
	found := s.Instance(r.id)
	switch {
	case !e.o.Active, found == nil, e.book.gone[r.id]: // it has ended meanwhile, or is not ours to end
	case e.book.begin(r.id):
		e.begin(start{in: *found, by: r.by, grounds: r.grounds})
	default:
		e.post(func(s *monitor.Snapshot) { e.endAsked(s, r) })
	}
}

// absorb takes in how an end went.
func (e *Engine) absorb(o outcome, now time.Time) {
	id := o.in.Identity
	delete(e.book.running, id)
	switch o.result.Outcome {
	case stop.Ended:
		e.book.ended(id)
		e.book.told.ended(id, o.in.Label(), o.reason, o.result.FreedBytes, now)
	case stop.Gone, stop.Cancelled: // the snapshots know that too in a moment; Serve may begin again
		e.book.again(id, "", false, now)
	default:
		e.notEnded(o, now)
	}
}

// notEnded takes in that the ladder refused an end, or failed.
func (e *Engine) notEnded(o outcome, now time.Time) {
	because := why(o)
	switch {
	case o.rule == "":
		e.book.told.failed(o.in.Identity, o.in.Label(), because, true, now)
		return
	case o.result.Outcome == stop.Refused:
		var w work
		e.book.refuse(&w, &o.in, o.rule, o.reason, because, o.kind(because), now)
		for _, event := range w.events {
			e.o.Record(event)
		}
	default:
		e.book.told.failed(o.in.Identity, o.in.Label(), because, false, now)
	}
	e.book.again(o.in.Identity, because, o.rule != policy.Orphans && o.inUse(), now)
}

// inUse tells that the end was refused because somebody uses the instance.
func (o *outcome) inUse() bool {
	return o.changed != nil || errors.Is(o.err, stop.ErrInUse) || errors.Is(o.err, stop.ErrBusy)
}

// kind is what kind of refusal it was, whose words are these.
func (o *outcome) kind(because string) string {
	var refusal *stop.Refusal
	if o.changed == nil && errors.As(o.err, &refusal) {
		return refusal.Kind.Error()
	}
	return kindOf(because)
}

// why says in a part of a sentence why an instance was not ended.
func why(o outcome) string {
	var refusal *stop.Refusal
	text := o.result.Detail
	switch {
	case o.changed != nil:
		text = o.changed.Error()
	case errors.As(o.err, &refusal):
		text, _, _ = strings.Cut(refusal.Why, ". ")
	case text == "" && o.err != nil:
		text = o.err.Error()
	}
	return strings.TrimRight(monitor.Clean(text), ".")
}

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

// Serve acts until ctx ends. It looks when a snapshot is new, when something is
// due, when the user has said something and when an end is over, and sleeps
// otherwise. It returns when the ladder has given up what it was at.
func (e *Engine) Serve(ctx context.Context) error {
	snapshots, cancel := e.o.Source.Subscribe()
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	e.tellProblem()
	e.last = e.read()
	var s *monitor.Snapshot
	var due time.Time
	timer := time.NewTimer(watchful)
	defer timer.Stop()
	wait := watchful
	for {
		look := true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s = <-snapshots:
		case <-e.wake:
		case <-timer.C:
			now := e.read().now
			look = !due.IsZero() && !now.Before(due)
		}
		if e.woke(wait) || look {
			due = e.look(ctx, s, running.Go)
		}
		wait = e.until(due)
		timer.Reset(wait)
	}
}

// endless is a wait while nothing is planned: something else ends it.
const endless = 365 * 24 * time.Hour

// until is how long to sleep before something is due.
func (e *Engine) until(due time.Time) time.Duration {
	wait := endless
	if len(e.book.plans) > 0 {
		wait = watchful
	}
	if !due.IsZero() {
		wait = min(wait, max(due.Sub(e.read().now), 0))
	}
	return wait
}

// woke takes note of the time, after a wait that was to be no longer than that,
// and reports whether spans count anew from now.
func (e *Engine) woke(wait time.Duration) bool {
	now := e.read()
	slept := jumped(e.last, now, wait)
	e.last = now
	if !slept {
		return false
	}
	e.o.Log.Info("the machine slept or its clock was set; how long servers have been idle or alone counts from now")
	e.mu.Lock()
	e.awake = now.now
	e.mu.Unlock()
	return true
}

// look decides what is to be done now, does it, and says when to look again.
// Begin runs a function beside this one.
func (e *Engine) look(ctx context.Context, s *monitor.Snapshot, begin func(func())) (due time.Time) {
	now := e.read().now
	ended := e.expire(now)
	e.absorb(now)
	said := e.saidNow()
	due = said.next()
	if s == nil {
		return due
	}
	s, r := at(s, now), e.rules(now)
	actions, next := policy.Decide(s, r)
	if e.o.Active {
		e.requests(ctx, s, now, begin)
		w := e.book.look(s, actions, r, now)
		for _, event := range w.events {
			e.o.Record(event)
		}
		for _, start := range w.end {
			in := *start.in
			e.begin(ctx, begin, &in, start.rule, start.reason, e.order(&in, start.rule))
		}
		if r.Paused {
			e.book.told.silence()
		}
		e.tell(now)
		due = sooner(due, sooner(e.book.next(now), e.book.told.next()))
	}
	e.show(s, r, ended)
	return sooner(due, next)
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

// expire ends what the user has said for a time, and tells whether there was
// something.
func (e *Engine) expire(now time.Time) bool {
	e.mu.Lock()
	before := e.said
	over := before.over(now)
	if over {
		e.said = before.tidy(now)
	}
	e.mu.Unlock()
	if over && e.o.Active && before.paused && !before.pausedAt(now) {
		e.o.Record(monitor.Event{At: now, Kind: monitor.EventPoliciesResumed, Detail: "the time is over"})
	}
	return over
}

// outcome is how an end went.
type outcome struct {
	in     *monitor.Instance
	rule   policy.Rule // "" = the user's word
	reason string
	result stop.Result
	err    error
	// changed is what stood against it when the tree was held.
	changed error
}

// begin has the ladder end an instance, beside this goroutine.
func (e *Engine) begin(ctx context.Context, run func(func()), in *monitor.Instance, rule policy.Rule, reason string, o stop.Order) {
	run(func() {
		var changed error // as Confirm found
		if confirm := o.Confirm; confirm != nil {
			o.Confirm = func(ctx context.Context) error {
				changed = confirm(ctx)
				return changed
			}
		}
		result, err := e.o.Stop.Stop(ctx, *in, o)
		e.mu.Lock()
		e.finished = append(e.finished, outcome{in, rule, reason, result, err, changed})
		e.mu.Unlock()
		e.wake.Ring()
	})
}

// requests begins what the user has asked for, as far as it can be now.
func (e *Engine) requests(ctx context.Context, s *monitor.Snapshot, now time.Time, begin func(func())) {
	e.mu.Lock()
	asked := e.asked
	e.asked = nil
	e.mu.Unlock()
	var waiting []request
	for _, r := range asked {
		found := s.Instance(r.id)
		switch {
		case found == nil || e.book.isGone(r.id, now): // it has ended meanwhile
		case e.book.begin(r.id):
			in := *found
			e.begin(ctx, begin, &in, "", "", stop.Order{By: r.by, Confirm: e.confirmNotice(&in, r.grounds)})
		default:
			waiting = append(waiting, r)
		}
	}
	e.mu.Lock()
	e.asked = append(waiting, e.asked...)
	e.mu.Unlock()
}

// absorb takes in how ends went.
func (e *Engine) absorb(now time.Time) {
	e.mu.Lock()
	finished := e.finished
	e.finished = nil
	e.mu.Unlock()
	for _, o := range finished {
		id := o.in.Identity
		delete(e.book.running, id)
		switch o.result.Outcome {
		case stop.Ended:
			e.book.ended(id)
			e.book.told.ended(id, o.in.Label(), o.reason, o.result.FreedBytes, now)
		case stop.Gone:
			e.book.missed(id, now)
		case stop.Cancelled: // by the end of Serve, which may begin again
			e.book.again(id, "", now)
		default:
			e.notEnded(o, now)
		}
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
		e.book.refuse(&w, o.in, o.rule, o.reason, because, o.kind(because), now)
		for _, event := range w.events {
			e.o.Record(event)
		}
	default:
		e.book.told.failed(o.in.Identity, o.in.Label(), because, false, now)
	}
	if o.rule != policy.Orphans && o.inUse() {
		e.book.rest(o.in.Identity, because, now)
		return
	}
	e.book.again(o.in.Identity, because, now)
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
		text, _, _ = strings.Cut("it "+refusal.Why, ". ")
	case text == "" && o.err != nil:
		text = o.err.Error()
	}
	return strings.TrimRight(monitor.Clean(text), ".")
}

package policies

import (
	"context"
	"errors"
	"slices"
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next := <-e.starts:
			running.Go(func() { e.carryOut(ctx, next) })
		}
	}
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
	for _, in := range s.Instances {
		in.Evidence.Refused = e.book.refusedOf(in)
	}
	actions, next := policy.Decide(s, r)
	if e.o.Active {
		for _, due := range e.book.look(s, actions, r) {
			e.starts <- due
		}
		if r.PausedAt(now) {
			e.book.told.silence()
		}
		e.tell(now)
		next = sooner(next, sooner(e.book.next(), e.book.told.next()))
	}
	s.Policy = r.Standing(s)
	s.Policy.Active = e.o.Active
	for _, in := range s.Instances {
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

// carryOut has the ladder end an instance.
func (e *Engine) carryOut(ctx context.Context, next start) {
	order := stop.Order{By: byNotice, Confirm: e.confirmNotice(&next.in, next.grounds)}
	if next.rule != "" {
		confirm := func(s *monitor.Snapshot, r policy.Rules) error { return policy.Confirm(&next.in, next.rule, s, r) }
		order = stop.Order{By: "the policy " + string(next.rule) + ": " + next.reason, Automatic: true, Confirm: e.lookAgain(&next.in, confirm)}
	}
	result, err := e.o.Stop.Stop(ctx, next.in, order)
	e.post(func(s *monitor.Snapshot) { e.absorb(next, result, err, s.At) })
}

// post has Plan take something in.
func (e *Engine) post(take func(*monitor.Snapshot)) {
	e.mu.Lock()
	e.inbox = append(e.inbox, take)
	e.mu.Unlock()
	e.o.Changed()
}

// takeIn takes in how ends went, and begins what the user has asked for.
func (e *Engine) takeIn(s *monitor.Snapshot) {
	e.mu.Lock()
	inbox := e.inbox
	e.inbox = nil
	e.mu.Unlock()
	for _, take := range inbox {
		take(s)
	}
	e.book.asked = slices.DeleteFunc(e.book.asked, func(asked start) bool { return e.endAsked(s, asked) })
}

// endAsked begins what the user has asked for. False: it cannot begin before another end
// is over.
func (e *Engine) endAsked(s *monitor.Snapshot, asked start) bool {
	id := asked.in.Identity
	found := s.Instance(id)
	if !e.o.Active || found == nil || e.book.gone[id] {
		return true // it has ended meanwhile, or is not ours to end
	}
	if !e.book.begin(id) {
		return false
	}
	asked.in = *found
	e.starts <- asked
	return true
}

// absorb takes in how an end went.
func (e *Engine) absorb(begun start, result stop.Result, err error, now time.Time) {
	id := begun.in.Identity
	delete(e.book.running, id)
	switch result.Outcome {
	case stop.Ended:
		e.book.ended(id)
		e.book.told.ended(id, begun.in.Label(), begun.reason, result.FreedBytes, now)
	case stop.Gone, stop.Cancelled: // the snapshots know that too in a moment; Serve may begin again
		e.book.again(id, "", false, now)
	default:
		e.notEnded(begun, result.Detail, err, now)
	}
}

// notEnded takes in that the ladder refused an end, or failed.
func (e *Engine) notEnded(begun start, because string, err error, now time.Time) {
	var refusal *stop.Refusal
	if errors.As(err, &refusal) {
		because, _, _ = strings.Cut(refusal.Why, ". ")
	}
	because = strings.TrimRight(monitor.Clean(because), ".")
	switch {
	case begun.rule == "":
		e.book.told.failed(begun.in.Identity, begun.in.Label(), because, true, now)
		return
	case refusal == nil:
		e.book.told.failed(begun.in.Identity, begun.in.Label(), because, false, now)
	case refusal.Kind == stop.ErrChanged:
		e.book.refuse(&begun.in, begun.rule, begun.reason, because, because, now)
	default: // whose words may name a process
		e.book.refuse(&begun.in, begun.rule, begun.reason, because, refusal.Kind.Error(), now)
	}
	inUse := errors.Is(err, stop.ErrChanged) || errors.Is(err, stop.ErrInUse) || errors.Is(err, stop.ErrBusy)
	e.book.again(begun.in.Identity, because, inUse && begun.rule != policy.Orphans, now)
}

package stop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// journal puts a Stop into events and words.
type journal struct {
	ladder *Ladder
	record func(monitor.Event)
	in     *monitor.Instance
	began  time.Time
	order  Order
	steps  []monitor.Event
}

func (j *journal) add(kind monitor.EventKind, detail string) {
	j.note(j.in.Event(kind, j.ladder.now(), detail))
}

// note tells an event as one of this Stop.
func (j *journal) note(e monitor.Event) {
	e.Order = strconv.FormatInt(j.began.UnixMilli(), 36)
	j.steps = append(j.steps, e)
	j.record(e)
}

// by says who has ordered it, and how; "" when nobody has said.
func (o Order) by() string {
	var words []string
	if by := monitor.Clean(o.By); by != "" {
		words = append(words, "by "+by)
	}
	if o.forced() {
		words = append(words, "forced")
	}
	return strings.Join(words, ", ")
}

// nothingDone is the result when the end was refused, or the tree could not be held or
// examined.
func (j *journal) nothingDone(err error) (Result, error) {
	r := Result{Outcome: Failed, Detail: "Not ended: " + err.Error() + "."}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		if !j.order.DryRun && !j.order.Automatic {
			j.add(monitor.EventStopRefused, refusal.Why)
		}
		r = Result{Outcome: Refused, Detail: refusal.Error(), Steps: j.steps}
	case errors.Is(err, process.ErrGone):
		r.Outcome, r.Detail = Gone, monitor.Sentence(err.Error())
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		r.Outcome = Cancelled
	}
	return r, err
}

// wouldEnd says what a climb would do.
func (j *journal) wouldEnd(tree *heldTree) Result {
	var how []string
	for _, e := range tree.elsewhere {
		if e.end != nil {
			how = append(how, inShort(e))
		}
	}
	if tree.canAsk {
		how = append(how, fmt.Sprintf("ask it on port %d to end", j.in.Port))
	}
	if tree.atOnce {
		how = append(how, "end what is left")
	} else {
		how = append(how, "SIGTERM, the root first", "SIGKILL to what is left")
	}
	all := names(tree.left())
	r := Result{Outcome: WouldEnd, Processes: len(all)}
	r.Detail = fmt.Sprintf("Would end %s: %s. How: %s.", j.in.Label(), listed(all, len(all)), strings.Join(how, ", then "))
	if len(tree.elsewhere) == 0 {
		r.FreedBytes = tree.memory()
		r.Detail += " Gives back about " + monitor.Memory(r.FreedBytes) + "."
	}
	for _, sentence := range tree.goesOn() {
		r.Detail += " " + sentence
	}
	return r
}

// goesOn says what an end leaves, in sentences.
func (tree *heldTree) goesOn() (sentences []string) {
	if len(tree.beside) > 0 {
		sentences = append(sentences, "Left alone, because people work in it: "+list(tree.beside)+".")
	}
	for _, e := range tree.elsewhere {
		if e.end == nil {
			sentences = append(sentences, monitor.Sentence(e.What+" may run on; look with: "+e.Look))
		}
	}
	return sentences
}

// finish tells how the climb ended, by what is left. The memory of what ran elsewhere
// is not known.
func (j *journal) finish(ctx context.Context, tree *heldTree) (Result, error) {
	left := names(tree.left())
	r := Result{Processes: len(tree.members) - len(left)}
	if len(left) == 0 {
		r.Outcome = Ended
		what := monitor.Plural(r.Processes, "process", "processes")
		if len(tree.elsewhere) == 0 {
			r.FreedBytes = tree.memory()
			what += fmt.Sprintf(", about %s given back", monitor.Memory(r.FreedBytes))
		}
		span := monitor.Span(j.ladder.now().Sub(j.began))
		more := ""
		for _, sentence := range tree.goesOn() {
			more += ". " + strings.TrimSuffix(sentence, ".")
		}
		detail := strings.TrimPrefix(fmt.Sprintf("%s; %s, after %s%s", j.order.by(), what, span, more), "; ")
		ended := j.in.Event(monitor.EventEnded, j.ladder.now(), detail)
		ended.FreedBytes, ended.Unused = r.FreedBytes, j.order.Automatic || j.order.Confirm != nil
		j.note(ended)
		r.Detail = fmt.Sprintf("Ended: %s, %s%s.", j.in.Label(), what, more)
		r.Steps = j.steps
		return r, nil
	}
	err := ErrSurvived
	why := these(left) + " still there"
	if tree.denied != nil {
		why += ": " + tree.denied.Error()
	}
	if r.Outcome = Failed; ctx.Err() != nil {
		r.Outcome, err, why = Cancelled, ctx.Err(), "given up on the way, "+why
	}
	j.add(monitor.EventStopFailed, why)
	r.Detail, r.Steps = "Not ended: "+j.in.Label()+": "+why+".", j.steps
	return r, fmt.Errorf("%s: %s: %w", j.in.Label(), why, err)
}

func these(left []Process) string {
	if len(left) == 1 {
		return left[0].String() + " is"
	}
	return list(left) + " are"
}

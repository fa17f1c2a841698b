package stop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// add tells a step.
func (c *climb) add(kind monitor.EventKind, detail string) {
	c.note(c.in.Event(kind, c.now(), detail))
}

// note tells an event as one of this Stop.
func (c *climb) note(e monitor.Event) {
	e.Order = strconv.FormatInt(c.began.UnixMilli(), 36)
	c.done = append(c.done, e)
	c.record(e)
}

// by says who has ordered it, and how; "" when nobody has said.
func (o Order) by() string {
	words := ""
	if by := monitor.Clean(o.By); by != "" {
		words = "by " + by
	}
	if o.forced() {
		words += ", forced"
	}
	return strings.TrimPrefix(words, ", ")
}

// nothingDone is the result when the end was refused, or the tree could not be held or
// examined.
func (c *climb) nothingDone(err error) (Result, error) {
	r := Result{Outcome: Failed, Detail: "Not ended: " + err.Error() + "."}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		if !c.order.DryRun && !c.order.Automatic {
			c.add(monitor.EventStopRefused, refusal.Why)
		}
		r = Result{Outcome: Refused, Detail: refusal.Error(), Steps: c.done}
	case errors.Is(err, process.ErrGone):
		r.Outcome, r.Detail = Gone, monitor.Sentence(err.Error())
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		r.Outcome = Cancelled
	}
	return r, err
}

// wouldEnd says what a climb would do.
func (c *climb) wouldEnd(canAsk bool) Result {
	var how []string
	for _, e := range c.elsewhere {
		if e.End != nil {
			how = append(how, inShort(e))
		}
	}
	if canAsk {
		how = append(how, fmt.Sprintf("ask it on port %d to end", c.in.Port))
	}
	if c.atOnce {
		how = append(how, "end what is left")
	} else {
		how = append(how, "SIGTERM, the root first", "SIGKILL to what is left")
	}
	all := names(c.left())
	r := Result{Outcome: WouldEnd, Processes: len(all)}
	r.Detail = fmt.Sprintf("Would end %s: %s. How: %s", c.in.Label(), listed(all, len(all)), strings.Join(how, ", then "))
	if len(c.elsewhere) == 0 {
		r.FreedBytes = c.memory()
		r.Detail += ". Gives back about " + monitor.Memory(r.FreedBytes)
	}
	r.Detail += c.goesOn() + "."
	return r
}

// goesOn says what an end leaves, after a sentence that has no full stop yet, as it has
// none either.
func (c *climb) goesOn() (words string) {
	if len(c.beside) > 0 {
		words += ". Left alone, because people work in it: " + list(c.beside)
	}
	for _, e := range c.elsewhere {
		if e.End == nil {
			words += ". " + strings.TrimSuffix(monitor.Sentence(e.What+" may run on; look with: "+e.Look), ".")
		}
	}
	return words
}

// finish tells how the climb ended, by what is left. The memory of what ran elsewhere
// is not known.
func (c *climb) finish(ctx context.Context) (Result, error) {
	left := names(c.left())
	r := Result{Processes: len(c.members) - len(left)}
	if len(left) == 0 {
		r.Outcome = Ended
		what := monitor.Plural(r.Processes, "process", "processes")
		if len(c.elsewhere) == 0 {
			r.FreedBytes = c.memory()
			what += fmt.Sprintf(", about %s given back", monitor.Memory(r.FreedBytes))
		}
		span := monitor.Span(c.now().Sub(c.began))
		detail := strings.TrimPrefix(fmt.Sprintf("%s; %s, after %s%s", c.order.by(), what, span, c.goesOn()), "; ")
		ended := c.in.Event(monitor.EventEnded, c.now(), detail)
		ended.FreedBytes, ended.Unused = r.FreedBytes, c.order.Automatic || c.order.Confirm != nil
		c.note(ended)
		r.Detail = fmt.Sprintf("Ended: %s, %s%s.", c.in.Label(), what, c.goesOn())
		r.Steps = c.done
		return r, nil
	}
	err := ErrSurvived
	why := these(left) + " still there"
	if c.denied != nil {
		why += ": " + c.denied.Error()
	}
	if r.Outcome = Failed; ctx.Err() != nil {
		r.Outcome, err, why = Cancelled, ctx.Err(), "given up on the way, "+why
	}
	c.add(monitor.EventStopFailed, why)
	r.Detail, r.Steps = "Not ended: "+c.in.Label()+": "+why+".", c.done
	return r, fmt.Errorf("%s: %s: %w", c.in.Label(), why, err)
}

func these(left []Process) string {
	if len(left) == 1 {
		return left[0].String() + " is"
	}
	return list(left) + " are"
}

package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/pins"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/stop"
)

// matcher recognises servers that are not Serena: monitor/rules.
type matcher interface {
	Match(exe string, args []string) (name string, ok bool)
}

// newLadder makes the stop ladder, which looks once more whether a process is
// a server before it touches it, by the rules that are current then, and
// whether it is pinned. Each step goes to record. unknown tells why it is not
// known who is pinned, nil when it is.
func newLadder(log *slog.Logger, record func(monitor.Event), current func() matcher, pinned *pins.Store, unknown func() error) api.Stopper {
	ladder := stop.New(stop.Options{
		Log: log, Record: record, Pinned: pinned.Pinned,
		Recognise: func(p process.Info) bool {
			if _, ok := serena.ParseCommand(p.Exe, p.Args); ok {
				return true
			}
			_, ok := current().Match(p.Exe, p.Args)
			return ok
		},
	})
	return careful{ladder, unknown, record}
}

// careful ends nothing without force while it is not known who is pinned.
type careful struct {
	ladder  api.Stopper
	unknown func() error
	record  func(monitor.Event)
}

func (c careful) Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	if o.Force {
		return c.ladder.Stop(ctx, in, o)
	}
	err := c.unknown()
	if err == nil {
		return c.ladder.Stop(ctx, in, o)
	}
	refusal := &stop.Refusal{
		Label: in.Label(), Kind: stop.ErrUnknown, Forceable: true,
		Why: fmt.Sprintf("may be pinned: which servers are cannot be read (%v). Mend or remove that file, or force it.", err),
	}
	result := stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}
	if !o.DryRun {
		e := monitor.Event{
			At: time.Now(), Kind: monitor.EventStopRefused, ID: in.ID(), PID: in.Identity.PID, Label: in.Label(), Detail: "it " + refusal.Why,
		}
		c.record(e)
		result.Steps = []monitor.Event{e}
	}
	return result, refusal
}

// ourselves ends instances in this process and writes down what it does.
type ourselves struct {
	ladder api.Stopper
	log    *events.Log // nil: there is no place for it
	warn   func(error)
}

// withoutBackground prepares for ending instances in this process.
func (p *program) withoutBackground() ourselves {
	o := ourselves{warn: func(err error) { p.say("what happens is not written down (%v)", err) }}
	dir := p.places().StateDir
	if err := stateDirectory(dir); err != nil {
		o.warn(err)
	} else {
		o.log = events.New(events.Options{Dir: dir})
	}
	o.ladder = p.ladder(o.record)
	return o
}

// record writes an event down, where there is a place for it.
func (o ourselves) record(e monitor.Event) {
	if o.log != nil {
		o.log.Append(e)
	}
}

func (o ourselves) Stop(ctx context.Context, in monitor.Instance, order stop.Order) (stop.Result, error) {
	return o.ladder.Stop(ctx, in, order)
}

// close writes down what is not written yet.
func (o ourselves) close() {
	if o.log == nil {
		return
	}
	if err := o.log.Flush(); err != nil {
		o.warn(err)
	}
}

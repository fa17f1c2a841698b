package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// stopped is what came of one server, also on the wire of --json.
type stopped struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	api.Killed

	// Of a server that an option means: by which rule, why, and what stands
	// against it.
	Rule    policy.Rule `json:"rule,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Because string      `json:"because,omitempty"`
	// Evidence is what is known about its use, with --dry-run.
	Evidence []string `json:"evidence,omitempty"`

	server    *view.Server // as it was seen
	restart   bool         // it is started again
	leftAlone bool         // it is not ended, whatever the ladder would say
	lost      bool         // the background process does not answer any more
}

// end ends the server and notes what came of it.
func (r *stopped) end(ctx context.Context, end func(context.Context, *stopped) (api.Killed, error)) {
	err := ctx.Err()
	begun := err == nil
	var killed api.Killed
	if begun {
		killed, err = end(ctx, r)
	}
	if err == nil {
		r.Killed = killed
		return
	}
	r.Killed = api.Killed{Error: err.Error(), Result: stop.Result{Outcome: stop.Failed, Steps: []monitor.Event{}}}
	switch {
	case begun && ctx.Err() != nil:
		r.Outcome = stop.Cancelled
		r.Detail = "Not waited for: " + r.Label + ": lamplighter goes on ending it; lamplighter events tells what comes of it."
	case ctx.Err() != nil:
		r.Outcome = stop.Cancelled
		r.Detail = "Not ended: " + r.Label + ": interrupted before its turn."
	case errors.Is(err, api.ErrUnreachable):
		r.lost = true
		r.Detail = "Not known: " + r.Label + ": " + err.Error() + "; lamplighter status tells whether it still runs."
	default:
		r.Detail = "Not ended: " + r.Label + ": " + err.Error() + "."
	}
}

// leave notes that the server is not ended, and why, in a clause: "it is
// pinned".
func (r *stopped) leave(because string) {
	r.leftAlone, r.Because = true, because
	how := ": " + because
	if rest, ok := strings.CutPrefix(because, "it "); ok {
		how = " " + rest
	}
	r.Killed = api.Killed{Result: stop.Result{Outcome: stop.Refused, Detail: "Not ended: " + r.Label + how + ".", Steps: []monitor.Event{}}}
}

// failed reports whether the order was not carried out. An order for some servers
// is, when it leaves one of them alone for a good reason; one for all is not.
func (r *stopped) failed(o stopOptions) bool {
	if r.leftAlone {
		return o.all
	}
	return !ended(r.Outcome)
}

// ended tells the outcomes that leave nothing to be done.
func ended(o stop.Outcome) bool {
	return o == stop.Ended || o == stop.WouldEnd || o == stop.Gone || o == api.OutcomeRestarted
}

// printStopped prints what came of one server, and what is known about its use
// if that was asked for.
func (p *program) printStopped(r *stopped, o stopOptions) error {
	var b strings.Builder
	to, width := p.Stdout, p.screen.width
	if r.failed(o) {
		p.Say("%s", outcomeLine(r))
		to, width = p.Stderr, p.errScreen.width
	} else {
		b.WriteString(monitor.Clean(outcomeLine(r)) + "\n")
	}
	facts := r.Evidence
	if o.dryRun && r.Rule != "" {
		facts = append([]string{"by the rule " + string(r.Rule) + ": " + r.Reason}, facts...)
	}
	for _, fact := range facts {
		b.WriteString(cut("  "+monitor.Clean(fact), width) + "\n")
	}
	_, err := fmt.Fprint(to, b.String())
	return err
}

// outcomeLine is what came of one server, in one line.
func outcomeLine(r *stopped) string {
	switch {
	case r.Outcome == stop.Gone:
		return "Ended already: " + r.Label + "."
	case ended(r.Outcome):
		return r.Detail
	case r.Forceable:
		return strings.TrimSuffix(r.Detail, ".") + " (--force)."
	case r.Outcome == stop.Cancelled, r.lost, r.leftAlone, r.restart && strings.Contains(r.Detail, r.Label):
		return r.Detail
	}
	text := strings.TrimPrefix(r.Detail, "Not ended: ")
	if !strings.HasPrefix(text, r.Label) {
		text = r.Label + ": " + text
	}
	return "Not ended: " + text
}

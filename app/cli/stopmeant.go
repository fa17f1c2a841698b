package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

// decider finds out which servers an order to stop is about.
type decider struct {
	*program
	client   *api.Client       // nil: without a background process
	servers  []*view.Server    // of a client alone, when the order is about that
	seen     *monitor.Snapshot // without a background process, as they were found
	repeated []view.Repeated
	options  stopOptions
}

// decisions are those of the background process, which has watched, or rest on
// one look.
func (d *decider) decisions(ctx context.Context, w policy.Rule) ([]api.Decision, error) {
	if d.client != nil {
		return d.client.Decisions(ctx, w)
	}
	return api.EncodeDecisions(policy.Select(d.seen, w, d.policyRules())).Decisions, nil
}

// confirm looks at the processes once more, when nobody watches, whether an order
// for the idle or the orphaned servers means this one; nil for another order.
func (d *decider) confirm(id string) func(context.Context) error {
	w := d.options.rule()
	if w == "" {
		return nil
	}
	return func(ctx context.Context) error {
		s, err := d.scan(ctx)
		if err != nil {
			return fmt.Errorf("the processes cannot be looked at once more: %w", err)
		}
		for _, a := range policy.Select(s, w, d.policyRules()) {
			if a.ID.String() == id && a.Do == policy.End {
				return nil
			}
		}
		return errors.New("one more look cannot tell that it is " + map[policy.Rule]string{policy.Idle: "idle", policy.Orphans: "orphaned"}[w])
	}
}

// named are the servers that the arguments mean.
func (d *decider) named(ctx context.Context, args []string) ([]*stopped, error) {
	servers, err := chooseAll(d.servers, args, "ended")
	switch {
	case err != nil && d.options.client != "":
		return nil, fmt.Errorf("of the servers of %s: %w", d.options.client, err)
	case err != nil:
		return nil, err
	}
	known, err := d.known(ctx)
	if err != nil { // the order does not need it
		d.Say("what is known about their use cannot be told: %v", err)
	}
	targets := make([]*stopped, len(servers))
	for i, s := range servers {
		targets[i] = &stopped{ID: string(s.ID), Label: s.Label, server: s, Evidence: known[string(s.ID)].Evidence}
	}
	return targets, nil
}

// suspected are the servers whose pipes nobody holds. What had other ways to be reached
// when its client went is not meant.
func (d *decider) suspected() []*stopped {
	var targets []*stopped
	for _, s := range d.servers {
		if view.Value(s.Cause) == string(monitor.CauseSuspected) && !s.ClientGone {
			targets = append(targets, &stopped{ID: string(s.ID), Label: s.Label, Reason: view.Value(s.Reason), server: s})
		}
	}
	return targets
}

// others are the servers that are the same as one, of the same client.
func (d *decider) others() ([]*stopped, error) {
	keep, err := choose(d.servers, d.options.others)
	if err != nil {
		return nil, err
	}
	for _, r := range d.repeated {
		switch {
		case !slices.Contains(r.IDs, keep.ID):
			continue
		case r.Keep == nil:
			return nil, fmt.Errorf("%s; name those that are to end", r.Words)
		case *r.Keep != keep.ID:
			return nil, fmt.Errorf("%s, and that is the one to keep", r.Words)
		}
		var targets []*stopped
		for _, s := range d.servers {
			if s.ID != keep.ID && slices.Contains(r.IDs, s.ID) {
				targets = append(targets, &stopped{ID: string(s.ID), Label: s.Label, server: s})
			}
		}
		return targets, nil
	}
	return nil, fmt.Errorf("its client has started %s once", keep.Label)
}

// meant are the servers that the options mean, with those among them that must
// not be ended; for a dry run all that there are.
func (d *decider) meant(ctx context.Context) ([]*stopped, error) {
	list, err := d.decisions(ctx, d.options.what())
	if err != nil {
		return nil, err
	}
	servers := map[string]*view.Server{}
	for _, s := range d.servers {
		servers[string(s.ID)] = s
	}
	targets := make([]*stopped, 0, len(list))
	decided := map[string]bool{}
	for i := range list {
		a := &list[i]
		if servers[a.ID] == nil {
			continue // of another client, or gone
		}
		decided[a.ID] = true
		if o := d.options; a.Do != policy.End && !o.all && o.dryRun && !o.verbose && !o.asJSON {
			continue // why it goes on is told with -v
		}
		r := &stopped{ID: a.ID, Label: a.Label, Rule: view.Value(a.Rule), Reason: view.Value(a.Reason), server: servers[a.ID]}
		if d.options.dryRun {
			r.Evidence = a.Evidence
		}
		// Who insists on all leaves the refusal to the ladder.
		if a.Do != policy.End && !(d.options.all && d.options.force) {
			r.leave(view.Value(a.Because))
			r.Forceable = d.options.all
		}
		targets = append(targets, r)
	}
	known, err := d.known(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range d.servers {
		a, ok := known[string(s.ID)]
		if !ok || decided[string(s.ID)] {
			continue
		}
		r := &stopped{ID: string(s.ID), Label: s.Label, server: s, Evidence: a.Evidence}
		r.leave(d.notMeant(s, time.Now()))
		targets = append(targets, r)
	}
	return targets, nil
}

// known is what is known about each server, by id, for a dry run.
func (d *decider) known(ctx context.Context) (map[string]api.Decision, error) {
	if o := d.options; !o.dryRun || o.what() != "" && !o.verbose && !o.asJSON {
		return nil, nil
	}
	list, err := d.decisions(ctx, policy.Everything)
	known := make(map[string]api.Decision, len(list))
	for i := range list {
		known[list[i].ID] = list[i]
	}
	return known, err
}

// notMeant says why an order for some servers does not mean this one.
func (d *decider) notMeant(s *view.Server, now time.Time) string {
	since, last := view.Value(s.IdleSince), view.Value(s.LastActivity)
	switch {
	case d.options.orphans:
		return "it is not orphaned"
	case view.Value(s.Busy):
		return "it is at work"
	case d.client == nil:
		return "one look cannot tell for how long it has been idle"
	case !last.IsZero() && !last.Before(since):
		return "it answered a call " + monitor.Span(now.Sub(last)) + " ago"
	case !since.IsZero():
		return "it was seen idle for " + monitor.Span(now.Sub(since)) + " only"
	}
	return "it has not been idle for long enough"
}

// nothingMeant says that an order means no server, as far as is known.
func (d *decider) nothingMeant() string {
	switch o := d.options; {
	case o.all, len(d.servers) == 0:
		return "Nothing to end: no server runs."
	case o.suspected:
		return "No suspected orphans."
	case d.client == nil:
		return "Nothing was ended."
	case o.orphans:
		return "No orphans."
	}
	return "Nothing to end: no server has been idle for long enough. With --dry-run -v you are told why of each."
}

// oneLook says what an order cannot mean where nobody has watched: what one look
// at the processes does not tell. The error is then that nobody has.
func (d *decider) oneLook(targets []*stopped) error {
	if d.client != nil || !d.options.idle && !d.options.orphans {
		return nil
	}
	left := len(d.servers)
	for _, r := range targets {
		if !r.leftAlone {
			left--
		}
	}
	if left == 0 {
		return nil
	}
	what := "for how long a server has had no call"
	if d.options.orphans {
		what = "whether its client has left a server"
	}
	d.Say("one look at the processes cannot tell %s; start lamplighter and order this later, or name the servers", what)
	return toldError{fmt.Errorf("nobody has watched: %w", api.ErrUnreachable)}
}

package daemon

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter/app/notify"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// byMenu is who orders what is chosen there.
const byMenu = "the menu"

// keepTime is how long the menu keeps an instance.
const keepTime = time.Hour

// stopAll ends the instances that are idle or orphaned now, which may be others
// than the menu has counted. Each is looked at once more before its end.
func (d *desk) stopAll(what policy.Rule) {
	var running errgroup.Group
	running.SetLimit(AtOnce)
	s := d.parts.Source.Snapshot()
	for _, a := range d.parts.Policies.Decisions(s, what) {
		in := s.Instance(a.ID)
		if in == nil || a.Do != policy.End {
			continue
		}
		running.Go(func() error {
			order := view.Order{Verb: view.StopAll, Ref: view.Ref{ID: view.ID(in.ID())}}
			d.note(order, d.end(context.Background(), in, d.parts.Policies.Confirm(*in, what)))
			return nil
		})
	}
	_ = running.Wait() // each has told of itself
}

// end ends an instance on the word of the user at the menu, unless confirm, which
// may be nil, finds something against it just before.
func (d *desk) end(ctx context.Context, in *monitor.Instance, confirm func(context.Context) error) error {
	_, err := d.parts.Stop.Stop(ctx, *in, stop.Order{By: byMenu, Confirm: confirm})
	return err
}

// The buttons of the question of stopAsked.
const (
	keyStop   = "stop"
	keyCancel = "cancel"
)

// stopAsked ends an instance for the menu. A menu cannot ask, and a client that holds the
// server loses it: there a notification asks, or else the page, which asks before it ends
// anything.
func (d *desk) stopAsked(in *monitor.Instance, o view.Order) error {
	end := func() error { return d.end(context.Background(), in, nil) }
	shown := view.Of(in)
	if view.Value(shown.Restart) != view.ClientsLost {
		return end()
	}
	byPage := func() error {
		if address := d.page(FragmentOf(shown.ID)); address != "" {
			return d.open(address)
		}
		return end()
	}
	question := notify.Notification{
		ID: "stop " + in.ID(), Summary: "Stop " + in.Label() + "?", Body: strings.Join(shown.Words.Loses, " "), Urgent: true,
		Actions: []notify.Action{{Key: keyStop, Words: "Stop"}, {Key: keyCancel, Words: "Cancel"}}, Unheard: func() { d.note(o, byPage()) },
	}
	asked := d.ask != nil && d.ask(question, func(key string) {
		if key == keyStop {
			d.note(o, end())
		}
	})
	if !asked {
		return byPage()
	}
	return nil
}

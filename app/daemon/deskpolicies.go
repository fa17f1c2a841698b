package daemon

import (
	"context"
	"strings"
	"sync"
	"time"

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

// StopAll ends the instances that are idle or orphaned now, which may be others
// than the menu has counted. Each is looked at once more before its end.
func (d *desk) StopAll(what policy.What) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, AtOnce)
	s := d.source.Snapshot()
	for _, a := range d.policies.Decisions(s, what) {
		in := s.Instance(a.ID)
		if in == nil || a.Do != policy.End {
			continue
		}
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			d.end(in, d.policies.Confirm(*in, what))
		})
	}
}

// said logs what the policies did not take.
func (d *desk) said(err error) {
	if err != nil {
		d.log.Warn("an order of the menu was not carried out", "error", err)
	}
}

// end ends an instance on the word of the user at the menu, unless confirm, which
// may be nil, finds something against it just before.
func (d *desk) end(in *monitor.Instance, confirm func(context.Context) error) {
	if _, err := d.stop.Stop(context.Background(), *in, stop.Order{By: byMenu, Confirm: confirm}); err != nil {
		d.log.Info("an order of the menu to end an instance was not carried out", "instance", in.Label(), "error", err)
	}
}

// restart ends an instance and starts it again, for the menu.
func (d *desk) restart(in *monitor.Instance) {
	_, err := d.again.Restart(context.Background(), in, false, func(ctx context.Context) error {
		_, err := d.stop.Stop(ctx, *in, stop.Order{By: byMenu})
		return err
	})
	if err != nil {
		d.log.Info("an order of the menu to restart a server was not carried out", "instance", in.Label(), "error", err)
	}
}

// The buttons of the question of stopAsked.
const (
	keyStop   = "stop"
	keyCancel = "cancel"
)

// stopAsked ends an instance for the menu. A menu cannot ask, and a client that holds the
// server loses it: there a notification asks, or else the page, which asks before it ends
// anything.
func (d *desk) stopAsked(in *monitor.Instance) {
	shown := view.Of(in)
	if view.Value(shown.Restart) != view.ClientsLost {
		d.end(in, nil)
		return
	}
	byPage := func() {
		address := d.page(FragmentOf(in))
		if address == "" {
			d.end(in, nil)
		} else if err := d.open(address); err != nil {
			d.log.Warn("nobody was asked whether to end a server", "instance", in.Label(), "error", err)
		}
	}
	question := notify.Notification{
		ID: "stop " + in.ID(), Summary: "Stop " + in.Label() + "?", Body: strings.Join(shown.Words.Loses, " "), Urgent: true,
		Actions: []notify.Action{{Key: keyStop, Words: "Stop"}, {Key: keyCancel, Words: "Cancel"}}, Unheard: byPage,
	}
	asked := d.ask != nil && d.ask(question, func(key string) {
		if key == keyStop {
			d.end(in, nil)
		}
	})
	if !asked {
		byPage()
	}
}

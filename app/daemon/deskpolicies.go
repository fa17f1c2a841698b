package daemon

import (
	"context"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// byMenu is who orders what is chosen there.
const byMenu = "the menu"

// keepTime is how long the menu keeps an instance.
const keepTime = time.Hour

// StopAll ends the instances that are idle or orphaned now, which may be others
// than the menu has counted. Each is looked at once more before its end.
func (d *desk) StopAll(what string) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, AtOnce)
	s := d.source.Snapshot()
	for _, a := range d.policies.Decisions(s, policy.What(what)) {
		in := s.Instance(a.ID)
		if in == nil || a.Do != policy.End {
			continue
		}
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			d.end(in, d.policies.Confirm(*in, policy.What(what)))
		})
	}
}

// Keep lets no policy end the instance with that id for an hour.
func (d *desk) Keep(id string) {
	d.about(id, "kept", func(in *monitor.Instance) error { return d.policies.Keep(*in, keepTime, byMenu) })
}

// Pin pins the instance with that id, or takes that back.
func (d *desk) Pin(id string, pinned bool) {
	d.about(id, "pinned or unpinned", func(in *monitor.Instance) error { return d.pins.Pin(*in, pinned, byMenu) })
}

// Pause lets the policies do nothing until then; zero: until Resume.
func (d *desk) Pause(until time.Time) { d.said(d.policies.Pause(until, byMenu)) }

// Resume takes that back.
func (d *desk) Resume() { d.said(d.policies.Resume(byMenu)) }

// Switch switches a rule of the policies.
func (d *desk) Switch(rule string, on bool) {
	d.said(d.policies.Switch(policy.Rule(rule), on, byMenu))
}

// about does something about the instance with that id.
func (d *desk) about(id, what string, do func(*monitor.Instance) error) {
	found := d.source.Snapshot().Find(id)
	if len(found) != 1 {
		d.log.Info("not "+what+": the instance has ended meanwhile", "id", id)
		return
	}
	d.said(do(found[0]))
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

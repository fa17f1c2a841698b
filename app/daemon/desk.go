package daemon

import (
	"context"
	"errors"
	"fmt"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

// desk does what tray and control socket ask the background process for. Its
// calls wait until the browser has been started (browserTime at most).
type desk struct {
	parts api.Parts
	web   webPage // nil: there is no global dashboard
	open  func(url string) error
	ask   func(n notify.Notification, chosen func(key string)) bool // false: nobody can be asked so
	login func(on bool)
	quit  func()
}

// Do carries out an order of the menu, which reads what came of it from snapshots.
func (d *desk) Do(o view.Order) { d.note(o, d.carryOut(o)) }

// note logs why an order was not carried out.
func (d *desk) note(o view.Order, err error) {
	if err != nil {
		d.parts.Log.Warn("an order of the menu was not carried out", "order", o.Verb, "id", o.ID, "error", err)
	}
}

func (d *desk) carryOut(o view.Order) error {
	switch o.Verb {
	case view.OpenPage:
		_, err := d.Show()
		return err
	case view.StopAll:
		d.stopAll(policy.Rule(o.What))
	case view.Pause:
		return d.parts.Policies.Pause(o.Until, byMenu)
	case view.Resume:
		return d.parts.Policies.Resume(byMenu)
	case view.Switch:
		return d.parts.Policies.Switch(policy.Rule(o.What), o.On, byMenu)
	case view.SetIdle:
		return d.parts.SetIdle(o.After, o.On)
	case view.Login:
		d.login(o.On)
	case view.Quit:
		d.quit()
	default:
		in := d.find(o.Ref)
		if in == nil {
			return errors.New("the server has ended meanwhile")
		}
		return d.about(in, o)
	}
	return nil
}

// find is the server that a Ref names, nil when it has ended.
func (d *desk) find(r view.Ref) *monitor.Instance {
	id, err := monitor.ParseIdentity(string(r.ID))
	if err != nil || r.Host != "" {
		return nil
	}
	return d.parts.Source.Snapshot().Instance(id)
}

// about carries out an order about one server.
func (d *desk) about(in *monitor.Instance, o view.Order) error {
	switch o.Verb {
	case view.Open:
		_, err := d.show(view.Of(in))
		return err
	case view.Stop:
		return d.stopAsked(in, o)
	case view.Restart:
		_, err := d.parts.Restarter.Restart(context.Background(), in, false, func(ctx context.Context) error { return d.end(ctx, in, nil) })
		return err
	case view.Keep:
		return d.parts.Policies.Keep(*in, keepTime, byMenu)
	case view.Pin:
		return d.parts.Pins.Pin(*in, o.On, byMenu)
	}
	return nil
}

// Show opens the global dashboard or, while that is not served, the dashboard
// of the newest instance. It returns the address, also when no browser could be
// opened.
func (d *desk) Show() (string, error) {
	if address := d.page(""); address != "" {
		return WithoutToken(address), d.open(address)
	}
	s := Newest(view.All(d.parts.Source.Snapshot()))
	if s == nil {
		return "", ErrNoInstance
	}
	return d.show(s)
}

func (d *desk) show(s *view.Server) (string, error) {
	address := view.Value(s.DashboardURL)
	if address == "" {
		address = d.page(FragmentOf(s.ID))
	}
	if address == "" {
		return "", fmt.Errorf("%s has no dashboard (%s)", s.Label, s.WithoutDashboard())
	}
	return WithoutToken(address), d.open(address)
}

// page is the address of a part of the global dashboard, "" while that is not
// served.
func (d *desk) page(fragment string) string {
	if d.web == nil {
		return ""
	}
	return d.web.OpenURL(fragment)
}

// ErrNoInstance: nothing runs that could be opened.
var ErrNoInstance = errors.New("no server with a dashboard is running; start your assistant and try again")

// Newest is the server that started last and has a dashboard, nil when there
// is none.
func Newest(all []*view.Server) *view.Server {
	var last *view.Server
	for _, s := range all {
		if s.DashboardURL != nil && (last == nil || view.Value(s.StartedAt).After(view.Value(last.StartedAt))) {
			last = s
		}
	}
	return last
}

// AtOnce is how many servers are ended at the same time: each may take its
// time, and has not much to do with the others.
const AtOnce = 4

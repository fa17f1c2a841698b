package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

// desk does what tray and control socket ask the background process for. Its
// calls wait until the browser has been started (browserTime at most).
type desk struct {
	source   interface{ Snapshot() *monitor.Snapshot }
	web      webPage // nil: there is no global dashboard
	open     func(url string) error
	stop     api.Stopper
	again    api.Restarter
	ask      func(n notify.Notification, chosen func(key string)) bool // false: nobody can be asked so
	pins     api.Pinner
	policies api.Policies
	login    func(on bool)
	setIdle  func(after time.Duration, attached bool) error
	quit     func()
	log      *slog.Logger
}

// Do carries out an order of the menu, which reads what came of it from snapshots.
func (d *desk) Do(o view.Order) {
	switch o.Verb {
	case view.OpenPage:
		d.OpenGlobal()
	case view.StopAll:
		d.StopAll(policy.What(o.What))
	case view.Pause:
		d.said(d.policies.Pause(o.Until, byMenu))
	case view.Resume:
		d.said(d.policies.Resume(byMenu))
	case view.Switch:
		d.said(d.policies.Switch(policy.Rule(o.What), o.On, byMenu))
	case view.SetIdle:
		d.said(d.setIdle(o.After, o.On))
	case view.Login:
		d.login(o.On)
	case view.Quit:
		d.quit()
	default:
		if in := d.find(o.Ref); in != nil {
			d.about(in, o)
		} else {
			d.log.Info("an order of the menu was not carried out: the server has ended meanwhile", "order", o.Verb, "id", o.ID)
		}
	}
}

// find is the server that a Ref names, nil when it has ended.
func (d *desk) find(r view.Ref) *monitor.Instance {
	id, err := monitor.ParseIdentity(string(r.ID))
	if err != nil || r.Host != "" {
		return nil
	}
	return d.source.Snapshot().Instance(id)
}

// about carries out an order about one server.
func (d *desk) about(in *monitor.Instance, o view.Order) {
	switch o.Verb {
	case view.Open:
		if _, err := d.show(in); err != nil {
			d.log.Warn("a dashboard was not opened", "instance", in.Label(), "error", err)
		}
	case view.Stop:
		d.stopAsked(in)
	case view.Restart:
		d.restart(in)
	case view.Keep:
		d.said(d.policies.Keep(*in, keepTime, byMenu))
	case view.Pin:
		d.said(d.pins.Pin(*in, o.On, byMenu))
	}
}

// OpenGlobal opens the global dashboard, as Show does.
func (d *desk) OpenGlobal() {
	if _, err := d.Show(); err != nil {
		d.log.Warn("no dashboard was opened", "error", err)
	}
}

// Show opens the global dashboard or, while that is not served, the dashboard
// of the newest instance. It returns the address, also when no browser could be
// opened.
func (d *desk) Show() (string, error) {
	if address := d.page(""); address != "" {
		return WithoutToken(address), d.open(address)
	}
	in := Newest(d.source.Snapshot())
	if in == nil {
		return "", ErrNoInstance
	}
	return d.show(in)
}

func (d *desk) show(in *monitor.Instance) (string, error) {
	address := in.DashboardURL
	if address == "" {
		address = d.page(FragmentOf(in))
	}
	if address == "" {
		return "", fmt.Errorf("%s has no dashboard (%s)", in.Label(), view.WithoutDashboard(in))
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

// Newest is the instance that started last and has a dashboard, nil when there
// is none.
func Newest(s *monitor.Snapshot) *monitor.Instance {
	var last *monitor.Instance
	for i := range s.Instances {
		in := &s.Instances[i]
		if in.DashboardURL != "" && (last == nil || in.StartedAt.After(last.StartedAt)) {
			last = in
		}
	}
	return last
}

// AtOnce is how many servers are ended at the same time: each may take its
// time, and has not much to do with the others.
const AtOnce = 4

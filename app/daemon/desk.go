package daemon

import (
	"errors"
	"fmt"
	"log/slog"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// desk does what tray and control socket ask the background process for. Its
// calls wait until the browser has been started (browserTime at most).
type desk struct {
	source   interface{ Snapshot() *monitor.Snapshot }
	web      webPage // nil: there is no global dashboard
	open     func(url string) error
	stop     api.Stopper
	pins     api.Pinner
	policies api.Policies
	quit     func()
	log      *slog.Logger
}

// OpenInstance opens the dashboard of the instance with that id. One that has
// none is shown on the global one.
func (d *desk) OpenInstance(id string) {
	found := d.source.Snapshot().Find(id)
	if len(found) != 1 {
		d.log.Info("not opened: the instance has ended meanwhile", "id", id)
		return
	}
	if _, err := d.show(found[0]); err != nil {
		d.log.Warn("a dashboard was not opened", "instance", found[0].Label(), "error", err)
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

// StopInstance ends the instance with that id, on the word of the user at the
// menu, which tells what came of it: the ladder records its steps.
func (d *desk) StopInstance(id string) {
	found := d.source.Snapshot().Find(id)
	if len(found) != 1 {
		d.log.Info("not ended: it has gone meanwhile", "id", id)
		return
	}
	d.end(found[0], nil)
}

// Quit ends the background process.
func (d *desk) Quit() { d.quit() }

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

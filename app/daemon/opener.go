package daemon

import (
	"context"
	"log/slog"
	"time"

	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// webPage is the page of the global dashboard, as it is served: api.Web.
type webPage interface {
	URL() string                    // "" while it is not served
	OpenURL(fragment string) string // for a browser; likewise
	Watched() bool                  // it is open somewhere
}

// opener opens the global dashboard without an order of the user: with the
// first server after login where that is set, and for a server that asks for
// its page. Both together do so once per login at most, and never while a page
// is open. Make one with newOpener.
type opener struct {
	web      webPage
	settings func() config.Dashboard // that hold now
	open     func(url string) error
	mark     interface {
		claim() (first bool, err error)
	}
	pause func(ctx context.Context, d time.Duration) error
	log   *slog.Logger

	appeared monitor.Bell // a server has appeared
	asked    chan int     // holds the port of one that asks for its page
}

func newOpener(web webPage, settings func() config.Dashboard, open func(string) error, mark loginMark, pause func(context.Context, time.Duration) error, log *slog.Logger) *opener {
	return &opener{
		web: web, settings: settings, open: open, mark: mark, pause: pause, log: log,
		appeared: monitor.NewBell(), asked: make(chan int, 1),
	}
}

// happened takes note of an event. It never waits.
func (o *opener) happened(e monitor.Event) {
	if e.Kind != monitor.EventFound && e.Kind != monitor.EventStarted {
		return
	}
	o.appeared.Ring()
}

// viewer takes note of a server that asks for its page. It never waits; one
// that asks while another's wish is looked at gets none.
func (o *opener) viewer(port int) {
	select {
	case o.asked <- port:
	default:
	}
}

// Serve opens what is to be opened until ctx ends.
func (o *opener) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.appeared:
			o.launch(ctx)
		case port := <-o.asked:
			o.view(ctx, port)
		}
	}
}

// launch opens the page for a server that has appeared.
func (o *opener) launch(ctx context.Context) {
	if d := o.settings(); d.On && d.OpenOnLaunch && o.served(ctx) {
		o.once("the first server since login")
	}
}

// view opens the page for a server that asks for its own, or that one where the
// page is not served.
func (o *opener) view(ctx context.Context, port int) {
	if o.served(ctx) {
		o.once("a server asks for its page")
		return
	}
	if err := o.open(serena.DashboardURL(port)); err != nil {
		o.log.Warn("a dashboard was not opened", "port", port, "error", err)
	}
}

// How long a page that is to be served gets to be, right after the start, and
// how often that is looked at.
const (
	servedTime = 5 * time.Second
	servedPoll = 50 * time.Millisecond
)

// served reports whether there is a page. It waits for one that is about to be.
func (o *opener) served(ctx context.Context) bool {
	for range servedTime / servedPoll {
		if o.web.URL() != "" {
			return true
		}
		if !o.settings().On || o.pause(ctx, servedPoll) != nil {
			return false
		}
	}
	return false
}

// once opens the page unless that was done in this login. The mark is written
// first, so that whatever fails afterwards does not open it again and again;
// a page that is open already uses it up.
func (o *opener) once(why string) {
	first, err := o.mark.claim()
	switch {
	case err != nil:
		o.log.Warn("the global dashboard was not opened by itself, because it could not be noted that it was", "error", err)
		return
	case !first || o.web.Watched():
		return
	}
	if err := o.open(o.web.OpenURL("")); err != nil {
		o.log.Warn("the global dashboard was not opened", "address", o.web.URL(), "error", err)
		return
	}
	o.log.Info("opened the global dashboard", "address", o.web.URL(), "why", why)
}

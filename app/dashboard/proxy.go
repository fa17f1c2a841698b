package dashboard

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// ProxyOptions of a Proxy.
type ProxyOptions struct {
	Log *slog.Logger // nil: nothing is logged
	// Owner returns the process with that pid if it listens on that port of the
	// loopback interface, as serena.PortOwner does, which nil means.
	Owner  func(pid, port int) (monitor.Identity, error)
	Limits Limits
}

// Limits are how long an instance may take. A zero field means the default.
type Limits struct {
	// Quick is for an answer that Serena gives at once: a second, as users are promised.
	Quick time.Duration
}

// Proxy forwards requests to the dashboards of instances. It is safe for
// concurrent use; an instance that does not answer delays no other.
//
// What it holds in memory is bounded: an answer is read whole before any of it
// is passed on, at most 12 of up to 4 MiB for one instance, and of those that are
// larger (logs) two for all. Answers are kept for less than a second, 16 MiB of
// them at most.
type Proxy struct {
	log   *slog.Logger
	owner func(pid, port int) (monitor.Identity, error)
	peers peers
	shelf shelf
	large chan struct{} // holds one for each large answer in memory
	quick time.Duration // see Limits
}

// maxLarge is how many large answers are held at once, each of up to 64 MiB.
const maxLarge = 2

// NewProxy makes a Proxy. It runs nothing of its own.
func NewProxy(o ProxyOptions) *Proxy {
	p := &Proxy{log: o.Log, owner: o.Owner, large: make(chan struct{}, maxLarge), quick: cmp.Or(o.Limits.Quick, time.Second)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.owner == nil {
		p.owner = serena.PortOwner
	}
	return p
}

// Forward answers a request with what the instance answers to that route: a
// JSON object with status 200, or {"error": "…"} with
//
//	400, 413  what is asked is not what the route takes
//	404       the instance has ended, or its version does not have the route
//	409       it has no dashboard, or no answer yet, or another program has its port
//	502       it failed, or answered with something that is not one
//	503       too much is being asked at once
//	504       it did not answer in time, or is suspended
//
// Nothing of the caller's headers reaches the instance and nothing of the
// instance's headers reaches the caller. Who asked and goes away ends the
// request, except one that changes something. The instance is not changed; in
// is read until Forward returns and shortly after.
//
// Permit, if given, is asked when nothing speaks against the request any more
// and nothing has been sent; false means that it has answered.
func (p *Proxy) Forward(w http.ResponseWriter, req *http.Request, in *monitor.Instance, route Route, permit func() bool) {
	r, known := ruleOf(route)
	if !known {
		failed(http.StatusNotFound, "%s is not forwarded to instances", strconv.Quote(monitor.Shorten(monitor.Clean(route.Name), 40))).write(w)
		return
	}
	body, wrong := readBody(w, req, r.fields)
	if wrong == nil {
		wrong = forwardable(in)
	}
	if wrong == nil {
		wrong = r.unsent(p.living(in))
	}
	if wrong != nil {
		answer{failure: wrong}.write(w)
		return
	}
	if permit != nil && !permit() {
		return
	}
	if r.changes {
		p.change(req.Context(), in, r, body).write(w)
		return
	}
	p.ask(w, req, in, r, body)
}

// forwardable tells why an instance has no dashboard that could be asked.
func forwardable(in *monitor.Instance) *failure {
	switch {
	case in.State == monitor.StateParked:
		return &failure{http.StatusConflict, named(in) + " is parked and wakes at the next request of its client; it has no dashboard until then"}
	case in.Cause == monitor.CauseDefunct:
		return &failure{http.StatusConflict, named(in) + " has exited; only an entry in the process table is left of it"}
	case in.Port == 0 && in.State == monitor.StateStarting:
		return &failure{http.StatusConflict, named(in) + " is starting: its dashboard is not yet known; ask again in a moment"}
	case in.Port == 0 || in.DashboardURL == "":
		return &failure{http.StatusConflict, named(in) + " has no dashboard"}
	}
	return nil
}

// change sends what changes something. Once sent it is seen through: whether it
// was done must not depend on who still listens.
func (p *Proxy) change(ctx context.Context, in *monitor.Instance, r rule, body []byte) answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.limit(r, in.Version))
	defer cancel()
	defer p.shelf.drop(in.Identity) // also after a failure: it may have been done
	return p.send(ctx, in, r, body)
}

// ask answers with what the instance says now, or said a moment ago to another
// who asked the same.
func (p *Proxy) ask(w http.ResponseWriter, req *http.Request, in *monitor.Instance, r rule, body []byte) {
	q := question{in.Identity, in.Port, r.Name, string(body)}
	c := p.shelf.join(req.Context(), q, r.lingers(in.Version), func(ctx context.Context) answer {
		ctx, cancel := context.WithTimeout(ctx, p.limit(r, in.Version))
		defer cancel()
		return p.send(ctx, in, r, body)
	})
	defer c.leave()
	patience := time.NewTimer(p.patience(r))
	defer patience.Stop()
	select {
	case <-c.done:
		c.answer.write(w)
	case <-patience.C:
		late(in, r, true, p.patience(r)).write(w)
	case <-req.Context().Done():
		// Nobody is there to read an answer.
	}
}

package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/app/launch"
	"lamplighter/app/mcp"
	"lamplighter/monitor"
)

// group is a key, with those who share its server. Its fields are guarded by the
// broker's mu, except those that never change. At most one of starting and run is
// set; without either the server is parked, or was never needed.
type group struct {
	plan    *Plan     // of who came last, whose key never changes; until somebody comes to one that was adopted it does not say how to start
	members []*Client // in the order in which they came
	// inFlight is how many requests have no answer yet, those of clients that have left
	// included.
	inFlight int

	starting *start
	run      *run
	lock     *flock.Flock // of the key, while a server starts or runs
	crashes  crashes
	answers  map[question][]byte // of its servers, see Client.Store
	seen     []string            // sessions of the REPL that clients have named, the newest last

	last   monitor.Identity // the process that ended last, zero when there was none
	ended  time.Time        // when that was
	reason string           // why no server runs: a part of a sentence
	since  time.Time        // of being parked, starting or running

	used  time.Time // the last answer, the start, or when the first member came or the last one went
	until time.Time // it is not to be looked at before: something may run on unseen, or it was just looked at
	held  bool      // the last look found what would be lost, and nobody has asked anything since
	why   string    // in words, why the next one starts; "" when a request has asked for it
}

// start is one try to have a server. err is guarded by the broker's mu.
type start struct{ err error }

// run is a server that runs.
type run struct {
	group     *group
	server    Server
	transport *http.Transport
	settings  string          // their fingerprint when it was started; "" is not known
	inherited bool            // an earlier run of this program has started it, whose clients have named sessions of its REPL
	gone      context.Context // until its process has ended, or it was replaced
	lose      context.CancelFunc

	// Guarded by the broker's mu.
	hung    time.Time       // since when it does not answer; zero while it does
	open    context.Context // see gate
	shut    context.CancelFunc
	ending  string // why we end it, a part of a sentence; "" when nobody does
	failed  error  // of the last try to end it
	ordered string // who else has ordered its end: "by the tray"
	orderAt time.Time
}

// usable reports whether requests can be sent to it.
func (r *run) usable() bool { return r != nil && r.gone.Err() == nil && r.ending == "" }

// gate shuts a server that hangs or is about to be ended, and opens it again after that.
// Who begins a request from then on knows it: see Client.Began. The caller holds mu.
func (r *run) gate() {
	switch {
	case r == nil:
	case r.ending != "" || !r.hung.IsZero():
		r.shut()
	case r.open.Err() != nil:
		r.open, r.shut = context.WithCancel(context.Background())
	}
}

// runs reports whether there is a server, or soon is.
func (g *group) runs() bool { return g.run != nil || g.starting != nil }

// waitTime is how long the end of a server is waited for by who wants the next one, and
// what an earlier run has left. What has survived is tried to be ended for longer.
const waitTime = 20 * time.Second

// acquire returns the server of a client, also after it has moved, and starts it when it
// does not run.
func (b *Broker) acquire(ctx context.Context, m *Client) (r *run, err error) {
	var waits *start
	end := time.Now().Add(waitTime)
	gone := b.until(ctx, func() bool {
		if r, err = b.tryAcquire(m, &waits); err == errSurvives || err == errNotSettled {
			return !time.Now().Before(end)
		}
		end = time.Now().Add(waitTime)
		return r != nil || err != nil
	})
	return r, cmp.Or(gone, err)
}

// tryAcquire returns the server when there is one, or why there will be none: with
// errSurvives and errNotSettled there may be one within waitTime. Without either who asks
// waits for as long as it takes. The caller holds mu.
func (b *Broker) tryAcquire(m *Client, waits **start) (*run, error) {
	g := m.group
	switch s := *waits; {
	case m.gone:
		return nil, errLeft
	case b.open.Err() != nil:
		return nil, errEnding
	case s != nil && s.err != nil:
		return nil, s.err
	case g.run.isHung():
		return nil, nil
	case g.run.usable():
		g.used = time.Now()
		return g.run, nil
	case g.run != nil && g.run.failed != nil:
		return nil, errors.Join(errSurvives, g.run.failed)
	case g.run != nil:
		return nil, errSurvives
	case !b.settled: // one that is started now might be the second one for its key
		return nil, errNotSettled
	case g.starting == nil:
		if err := g.crashes.refuse(time.Now()); err != nil {
			return nil, err
		}
		b.begin(g, nil)
	}
	*waits = g.starting
	return nil, nil
}

// begin gets a group a server under the lock of its key: the one that an earlier run has
// left, or, with nil, a new one as whoever came last has it. Then all that earlier runs
// have left is known. That goes on when nobody waits for it any more: then the server
// lingers. The caller holds mu.
func (b *Broker) begin(g *group, left Server) {
	s, plan := &start{}, g.plan // there is one without left: members have it
	g.starting, g.since, g.reason = s, time.Now(), ""
	b.change()
	b.busy.Go(func() {
		var err error
		if g.lock == nil {
			g.lock, err = lockKey(b.open, b.o.LockDir, plan.Key)
		}
		r := &run{group: g, server: left, inherited: true}
		switch {
		case left != nil && err != nil:
			b.o.Log.Warn("a server of an earlier run goes on without the lock of its key", "server", left.Identity().String(), "error", err)
			err = nil
		case left == nil && err == nil:
			r, err = b.launch(g, plan)
		}
		b.started(g, s, r, err)
	})
}

// launch starts a server of a group.
func (b *Broker) launch(g *group, plan *Plan) (*run, error) {
	// The client may have been here for days.
	if why := b.o.Forbid(b.open); why != "" {
		return nil, fmt.Errorf("the server is not started: %w; a client that is started now gets a server of its own", alone(monitor.Clean(why)))
	}
	spec := plan.Spec
	spec.Lifetime, spec.Key, spec.Limit = launch.Shared, plan.Key, b.o.Limit()
	spec.AskedBy = func() (first monitor.Client) { // of those who are here then
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(g.members) > 0 {
			first = g.members[0].client
		}
		return first
	}
	settings := plan.Fingerprint() // before it reads them
	server, err := b.o.Launch.Launch(b.open, spec)
	return &run{group: g, server: server, settings: settings}, err
}

// reasonColumns is how much is shown of why a start failed; its clients and the log
// get all of it.
const reasonColumns = 200

// started takes in what came of a start.
func (b *Broker) started(g *group, s *start, r *run, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.change()
	now, why := time.Now(), g.why
	g.starting, g.why, s.err = nil, "", err
	if err != nil {
		g.unlock()
		b.notStarted(g, s)
		return
	}
	r.transport = mcp.NewTransport()
	r.gone, r.lose = context.WithCancel(context.Background())
	r.open, r.shut = context.WithCancel(context.Background())
	g.run, g.since, g.used, g.reason = r, now, now, ""
	b.busy.Go(func() { b.attend(r) })
	if why == "" && g.last.PID != 0 && len(g.members) > 0 {
		why = "started again by a request, " + monitor.Span(now.Sub(g.ended)) + " after it had ended"
	}
	if why != "" {
		b.record(g, r.server.Identity(), monitor.EventWoken, why)
	}
}

// notStarted takes in why there is no server. The caller holds mu.
func (b *Broker) notStarted(g *group, s *start) {
	now, why := time.Now(), s.err.Error()
	var failed *launch.StartError
	if errors.As(s.err, &failed) {
		why = failed.Why // without the command
		// Like a crash, but what was only refused.
		if len(failed.Chosen.Command) > 0 && !errors.Is(s.err, context.Canceled) {
			g.crashes.add(now, 0, monitor.Clean(s.err.Error()))
		}
	}
	g.since, g.reason = now, monitor.NotStarted+monitor.Shorten(monitor.Clean(why), reasonColumns)
	var forbidden alone
	if errors.As(s.err, &forbidden) {
		g.reason = string(forbidden)
	}
}

// orderTime is how long after the order to end a server its end is taken for what
// came of that.
const orderTime = time.Minute

// attend waits for the end of a server, and takes it out of its group when all of it has
// gone, so that the next one can start. At our end it goes on.
func (b *Broker) attend(r *run) {
	g := r.group
	defer r.transport.CloseIdleConnections()
	select {
	case <-r.server.Exited():
	case <-r.server.Done():
	case <-b.lifetime.Done():
		return
	}
	b.mu.Lock()
	if time.Since(r.orderAt) > orderTime {
		r.ordered = "" // that came to nothing
	}
	r.lose()
	b.change()
	b.mu.Unlock()
	select {
	case <-r.server.Done():
	case <-b.lifetime.Done():
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.change()
	if g.run != r { // it was replaced
		b.left = slices.DeleteFunc(b.left, func(other *run) bool { return other == r })
		return
	}
	g.unlock()
	ran := time.Since(g.since)
	g.part(r.how())
	if r.ending == "" && r.ordered == "" {
		g.crashes.add(g.ended, ran, g.reason)
		b.o.Log.Warn("a shared server has ended by itself", "server", g.label(g.last), "how", g.reason, "clients", len(g.members))
	}
	if g.why == "" && len(g.members) > 0 {
		b.record(g, g.last, monitor.EventParked, g.reason+"; the next request starts it again")
	}
}

// part notes that the group has lost its server, and why. What went on unseen has ended
// with it, and so have the sessions of its REPL, but that of a request that is on its way
// and is sent to the next one. The caller holds mu.
func (g *group) part(reason string) {
	now := time.Now()
	g.last, g.run, g.since, g.ended, g.reason = g.run.server.Identity(), nil, now, now, reason
	g.held, g.until = false, time.Time{}
	if g.inFlight == 0 {
		g.seen = nil
	}
}

// how tells how it has ended, as a part of a sentence. The caller holds mu.
func (r *run) how() string {
	switch {
	case r.ending != "":
		return r.ending
	case r.ordered != "":
		return "it was stopped " + r.ordered
	}
	return "it " + monitor.Clean(r.server.Ending())
}

func (b *Broker) record(g *group, id monitor.Identity, kind monitor.EventKind, detail string) {
	b.o.Record(monitor.Event{At: time.Now(), Kind: kind, ID: id.String(), PID: id.PID, Label: g.label(id), Detail: monitor.Clean(detail)})
}

// label names the server of a group in events as the model does.
func (g *group) label(id monitor.Identity) string {
	in := monitor.Instance{Identity: id, Kind: monitor.KindSerena}
	if name := filepath.Base(g.plan.Spec.Project); name != "." && name != string(filepath.Separator) {
		in.ProjectName = name
	}
	if g.run == nil {
		in.State = monitor.StateParked
	}
	return in.Label()
}

package share

import (
	"context"
	"fmt"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// lookMost is after how long the latest servers are looked at again, and those
// that nobody needs when something spoke against their end.
const lookMost = time.Minute

// lookAgain is the same for servers that are parked after that time: what is idle
// sooner is looked at more often.
func lookAgain(idle time.Duration) time.Duration {
	if idle <= 0 {
		return lookMost
	}
	return min(max(idle, time.Second), lookMost)
}

// standing is what decides when a server is ended because nobody needs it.
type standing struct {
	leases, inFlight int
	used             time.Time // the last answer, or the start
	turned           time.Time // when the first lease came, or the last one went
	until            time.Time // something may run on unseen until then
	wait             time.Time // nothing is to be ended before
	held             bool      // it holds what leases would lose
	forbidden        bool      // nothing may be shared now
}

// due tells when a server is ended that nobody asks for that long, and false when
// time alone does not bring that about.
func (s standing) due(idle time.Duration) (time.Time, bool) {
	if s.leases == 0 && (idle <= 0 || idle > mostUnused) {
		idle = mostUnused
	}
	if s.forbidden {
		idle = 0 // as soon as nothing speaks against it
	} else if idle <= 0 {
		return time.Time{}, false
	}
	if s.inFlight > 0 || s.held && s.leases > 0 {
		return time.Time{}, false
	}
	since := s.used
	if s.turned.After(since) {
		since = s.turned
	}
	at := since.Add(idle)
	for _, later := range []time.Time{s.until, s.wait} {
		if later.After(at) {
			at = later
		}
	}
	return at, true
}

func (g *group) standing() standing {
	return standing{
		leases: len(g.members), inFlight: g.inFlight, used: g.used, turned: g.turned, until: g.until, wait: g.wait, held: g.held,
	}
}

// attendIdle ends servers that nobody needs, until ctx ends.
func (b *Broker) attendIdle(ctx context.Context) {
	timer := time.NewTimer(lookMost)
	defer timer.Stop()
	for {
		forbidden := ""
		if len(b.runs()) > 0 {
			forbidden = monitor.Clean(b.o.Forbid(ctx))
		}
		if next, some := b.endIdle(forbidden); some {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
		select {
		case <-b.changed:
		case <-timer.C:
			b.shown.Ring() // of their memory
		case <-ctx.Done():
			return
		}
	}
}

// endIdle begins to end what is due, and returns how long it is until the next
// one is, and whether any server runs. What is forbidden says why nothing may be
// shared now, "" when it may be.
func (b *Broker) endIdle(forbidden string) (next time.Duration, some bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, idle := time.Now(), b.o.Idle()
	next = lookAgain(idle)
	if b.closed {
		return next, false
	}
	for _, g := range b.groups {
		if g.run == nil || g.look || g.run.exited || g.run.ending != "" && g.run.failed == nil {
			continue
		}
		some = true
		standing := g.standing()
		standing.forbidden = forbidden != ""
		at, due := standing.due(idle)
		if g.run.failed != nil {
			at, due = g.wait, true
		}
		switch r := g.run; {
		case !due:
		case at.After(now):
			next = min(next, at.Sub(now))
		default:
			g.look = true
			used, again := g.used, r.failed != nil
			b.busy.Go(func() {
				ctx, stop := b.whileServed()
				defer stop()
				if again {
					b.end(ctx, g, r)
				} else {
					b.tryEnd(ctx, g, r, used, now.Sub(used), forbidden)
				}
			})
		}
	}
	return next, some
}

// tryEnd ends a server that nobody needs, or that must not be shared now, unless
// something speaks against it.
func (b *Broker) tryEnd(ctx context.Context, g *group, r *run, used time.Time, quiet time.Duration, forbidden string) {
	idle := b.o.Idle()
	if forbidden != "" {
		idle = 0
	}
	why, held := b.against(ctx, g, r, quiet, idle)
	if why == "" && forbidden == "" { // else whoever is connected may be the other user
		why = b.usedDirectly(ctx, r)
	}
	if why != "" {
		b.o.Log.Debug("a server that nobody needs goes on", "server", r.server.Identity().String(), "why", why)
		b.goesOn(g, r, used, held)
		return
	}
	b.weigh() // while it starts it needs more than later
	parks, ok := b.beginEnd(g, r, used, forbidden)
	if !ok {
		return
	}
	if !allPark(parks, func() { b.resume(g, r) }) { // who refused waits for it
		return
	}
	b.end(ctx, g, r)
}

// parks are what Client.OnPark has set. The caller holds the broker's mu.
func (g *group) parks() (parks []func() bool) {
	for _, m := range g.members {
		if m.park != nil {
			parks = append(parks, m.park)
		}
	}
	return parks
}

// allPark asks all at once, since each may wait for a server that does not answer, and
// reports whether none has refused. refused is called when the first one does.
func allPark(parks []func() bool, refused func()) bool {
	answers := make(chan bool, len(parks))
	for _, park := range parks {
		go func() { answers <- park() }()
	}
	all := true
	for range parks {
		if ok := <-answers; !ok && all {
			all = false
			refused()
		}
	}
	return all
}

// against is what speaks against the end of a server that nobody needs, "" when
// nothing does, and whether that stays until somebody asks for something.
func (b *Broker) against(ctx context.Context, g *group, r *run, quiet, idle time.Duration) (why string, held bool) {
	if why := b.o.Spare(r.server.Identity()); why != "" {
		return why, false
	}
	switch busy, err := b.o.Busy(ctx, r.server, quiet); {
	case err != nil:
		return fmt.Sprintf("whether it works cannot be told: %v", err), false
	case busy:
		return "it works", false
	}
	b.mu.Lock()
	seen, leases := g.seen.names(), len(g.members)
	b.mu.Unlock()
	if leases == 0 { // what a client leaves behind, it has given up
		return "", false
	}
	switch since, err := b.o.Quiet(ctx, r.server.Identity()); {
	case err != nil:
		return fmt.Sprintf("whether something works below it cannot be told: %v", err), false
	case time.Since(since) < idle:
		return "something works below it", false
	}
	if len(seen) == 0 && !r.inherited {
		return "", false
	}
	switch what, err := b.o.Holds(ctx, r.server, seen, r.inherited); {
	case err != nil:
		return fmt.Sprintf("what would be lost with it cannot be told: %v", err), false
	case what != "":
		return what, true
	}
	return "", false
}

// usedDirectly says who has a server without a lease, "" when nobody does.
func (b *Broker) usedDirectly(ctx context.Context, r *run) string {
	who, err := b.o.Direct(ctx, r.server)
	if err != nil {
		return fmt.Sprintf("whether somebody else has it cannot be told: %v", err)
	}
	return who
}

// goesOn notes that a server is not ended now.
func (b *Broker) goesOn(g *group, r *run, used time.Time, held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.run != r {
		return
	}
	g.look, g.wait = false, time.Now().Add(lookAgain(b.o.Idle()))
	g.held = held && g.inFlight == 0 && g.used.Equal(used)
	b.change()
}

// beginEnd lets no new request have the server, and returns whom to ask; false
// when it is needed by now.
func (b *Broker) beginEnd(g *group, r *run, used time.Time, forbidden string) (parks []func() bool, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.change()
	if g.run != r {
		return nil, false
	}
	if b.closed || r.exited || !g.used.Equal(used) || g.inFlight > 0 || time.Now().Before(g.until) {
		g.look = false
		return nil, false
	}
	r.parts = len(g.members) == 0
	switch {
	case forbidden != "":
		r.ending = forbidden
	case r.parts:
		r.ending = "no client had it"
	default:
		r.ending = "no request for " + monitor.Span(time.Since(used))
	}
	r.moot = make(chan struct{})
	return g.parks(), true
}

// resume lets requests have the server again that was not ended after all.
func (b *Broker) resume(g *group, r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.look, g.restarting = false, false; !b.closed { // else it is ended for that, or goes on unseen
		r.ending = ""
	}
	close(r.moot)
	if g.run == r {
		g.used = time.Now()
	}
	b.change()
}

// end ends the server. What could not be ended is tried again later.
func (b *Broker) end(ctx context.Context, g *group, r *run) {
	by := launch.ByParking
	if r.parts {
		by = launch.ByLeaving
	}
	err := r.server.End(ctx, by)
	if err == nil || ctx.Err() != nil {
		return // what follows comes with its end
	}
	b.o.Log.Warn("a shared server could not be ended; it is tried again", "server", r.server.Identity().String(), "error", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.failed == nil {
		close(r.moot) // who waits learns why
	}
	r.failed = err
	g.look, g.wait = false, time.Now().Add(lookAgain(b.o.Idle()))
	b.change()
}

// whileServed is a context that ends with Serve. The caller calls stop.
func (b *Broker) whileServed() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-b.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

package share

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// mostUnused is how long a server stays at most that no client has: what is started for
// the next one costs no work of anybody.
const mostUnused = 10 * time.Minute

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

// due tells when the server is ended that nobody asks for that long, or that must not be
// shared now, and false when time alone does not bring that about. The caller holds mu.
func (g *group) due(idle time.Duration, forbidden bool) (at time.Time, ok bool) {
	if len(g.members) == 0 && (idle <= 0 || idle > mostUnused) {
		idle = mostUnused
	}
	switch {
	case g.inFlight > 0, g.held && len(g.members) > 0:
		return at, false
	case forbidden:
		idle = 0 // as soon as nothing speaks against it
	case idle <= 0:
		return at, false
	}
	return slices.MaxFunc([]time.Time{g.used.Add(idle), g.until, g.wait}, time.Time.Compare), true
}

// attendAll sees to the servers, until ctx ends.
func (b *Broker) attendAll(ctx context.Context) {
	timer := time.NewTimer(lookMost)
	defer timer.Stop()
	for {
		if next, some := b.look(monitor.Clean(b.o.Forbid(ctx))); some {
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

// look replaces servers that hang, begins to end those that nobody needs, and returns
// after how long it is to be called again, false when none runs.
func (b *Broker) look(forbidden string) (next time.Duration, some bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next = lookAgain(b.o.Idle())
	if b.open.Err() != nil {
		return next, false
	}
	for _, g := range b.groups {
		if g.run == nil || g.run.exited {
			continue
		}
		some = true
		next = min(next, b.lookHung(g))
		if g.run != nil { // else it was replaced
			next = min(next, b.lookIdle(g, forbidden))
		}
	}
	return next, some
}

// lookIdle begins to end the server of a group if it is due, and returns after how long
// it is. What is forbidden says why nothing may be shared now. The caller holds mu.
func (b *Broker) lookIdle(g *group, forbidden string) (next time.Duration) {
	r := g.run
	if g.look || r.ending != "" && r.failed == nil {
		return lookMost
	}
	at, due := g.due(b.o.Idle(), forbidden != "")
	used := g.used
	attempt := func() { b.tryEnd(g, r, used, forbidden) }
	if r.failed != nil {
		at, due = g.wait, true
		attempt = func() { b.endRun(g, r) }
	}
	switch left := time.Until(at); {
	case !due:
		return lookMost
	case left > 0:
		return left
	}
	g.look = true
	b.busy.Go(attempt)
	return lookMost
}

// tryEnd ends a server that nobody has used since, or that must not be shared now, unless
// something speaks against it. From when it is asked for no request has the server.
func (b *Broker) tryEnd(g *group, r *run, used time.Time, forbidden string) {
	why, held := b.against(g, r, time.Since(used), forbidden != "")
	b.mu.Lock()
	same := g.used.Equal(used) && g.inFlight == 0
	ends := g.run == r && r.usable() && why == "" && same && !time.Now().Before(g.until) && b.open.Err() == nil
	switch {
	case ends:
		b.weigh(g) // while it starts it needs more than later
		switch {
		case forbidden != "":
			r.ending = forbidden
		case len(g.members) == 0:
			r.ending = noClient
		default:
			r.ending = "no request for " + monitor.Span(time.Since(used))
		}
	case g.run == r:
		g.look, g.held = false, held && same
		if why != "" {
			b.o.Log.Debug("a server that nobody needs goes on", "server", r.server.Identity().String(), "why", why)
			g.wait = time.Now().Add(lookAgain(b.o.Idle()))
		}
	}
	parks := g.parks()
	b.change()
	b.mu.Unlock()
	if ends && allPark(parks, func() { b.resume(g, r) }) { // who refuses waits for it
		b.endRun(g, r)
	}
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
func (b *Broker) against(g *group, r *run, quiet time.Duration, forbidden bool) (why string, held bool) {
	ctx, id, idle := b.lifetime, r.server.Identity(), b.o.Idle()
	if forbidden {
		idle = 0
	}
	if why := b.o.Spare(id); why != "" {
		return why, false
	}
	switch busy, err := b.o.Busy(ctx, r.server, quiet); {
	case err != nil:
		return fmt.Sprintf("whether it works cannot be told: %v", err), false
	case busy:
		return "it works", false
	}
	b.mu.Lock()
	seen, clients := slices.Clone(g.seen), len(g.members)
	b.mu.Unlock()
	if clients > 0 { // what a client leaves behind, it has given up
		switch since, err := b.o.Quiet(ctx, id); {
		case err != nil:
			return fmt.Sprintf("whether something works below it cannot be told: %v", err), false
		case time.Since(since) < idle:
			return "something works below it", false
		}
	}
	if clients > 0 && (len(seen) > 0 || r.inherited) {
		switch what, err := b.o.Holds(ctx, r.server, seen, r.inherited); {
		case err != nil:
			return fmt.Sprintf("what would be lost with it cannot be told: %v", err), false
		case what != "":
			return what, true
		}
	}
	if forbidden { // whoever is connected may be the other user
		return "", false
	}
	who, err := b.o.Direct(ctx, r.server)
	if err != nil {
		return fmt.Sprintf("whether somebody else has it cannot be told: %v", err), false
	}
	return who, false
}

// resume lets requests have the server again that was not ended after all.
func (b *Broker) resume(g *group, r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.Err() == nil { // else it is ended for that, or goes on unseen
		r.ending = ""
	}
	g.look, g.why = false, ""
	if g.run == r {
		g.used = time.Now()
	}
	b.change()
}

// noClient is why a server ends that is not parked: nobody has it.
const noClient = "no client had it"

// endRun ends the server. What could not be ended is tried again later.
func (b *Broker) endRun(g *group, r *run) {
	by := launch.ByParking
	if r.ending == noClient {
		by = launch.ByLeaving
	}
	err := r.server.End(b.lifetime, by)
	if err == nil || b.lifetime.Err() != nil {
		return // what follows comes with its end
	}
	b.o.Log.Warn("a shared server could not be ended; it is tried again", "server", r.server.Identity().String(), "error", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.failed = err
	g.look, g.wait = false, time.Now().Add(lookAgain(b.o.Idle()))
	b.change()
}

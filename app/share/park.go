package share

import (
	"cmp"
	"context"
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

// lookAgain is the same for servers that are parked after that time, 0 is never: what is
// idle sooner is looked at more often.
func lookAgain(idle time.Duration) time.Duration {
	return min(max(cmp.Or(idle, lookMost), time.Second), lookMost)
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
	return slices.MaxFunc([]time.Time{g.used.Add(idle), g.until}, time.Time.Compare), true
}

// showEvery is how long there is between two shows at least: requests that come
// and go change what is shown.
const showEvery = 250 * time.Millisecond

// attendAll sees to the servers and shows them, after each change, until ctx ends.
func (b *Broker) attendAll(ctx context.Context) {
	for {
		var again <-chan time.Time
		if next := b.look(monitor.Clean(b.o.Forbid(ctx))); next > 0 {
			again = time.After(next)
		}
		b.o.Show(b.Shared())
		select {
		case <-time.After(showEvery):
		case <-ctx.Done():
			return
		}
		select {
		case <-b.changed:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// look replaces servers that hang, begins to end those that nobody needs, and returns
// after how long it is to be called again, 0 when none runs.
func (b *Broker) look(forbidden string) (next time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		if !g.run.usable() || b.open.Err() != nil {
			continue
		}
		next = min(cmp.Or(next, lookAgain(b.o.Idle())), b.lookHung(g))
		if g.run != nil { // else it was replaced
			next = min(next, b.lookIdle(g, forbidden))
		}
	}
	return next
}

// lookIdle begins to end the server of a group if it is due, and returns after how long
// it is. What is forbidden says why nothing may be shared now. The caller holds mu.
func (b *Broker) lookIdle(g *group, forbidden string) (next time.Duration) {
	r, used := g.run, g.used
	at, due := g.due(b.o.Idle(), forbidden != "")
	switch left := time.Until(at); {
	case !due:
		return lookMost
	case left > 0:
		return left
	}
	g.until = time.Now().Add(lookAgain(b.o.Idle()))
	b.busy.Go(func() { b.tryEnd(r, used, forbidden) })
	return lookMost
}

// tryEnd ends a server that nobody has used since, or that must not be shared now, unless
// something speaks against it. No request begins in it after its end was decided.
func (b *Broker) tryEnd(r *run, used time.Time, forbidden string) {
	g := r.group
	why, held := b.against(r, time.Since(used), forbidden != "")
	b.mu.Lock()
	same := g.used.Equal(used) && g.inFlight == 0
	ending, by := "no request for "+monitor.Span(time.Since(used)), launch.ByParking
	switch {
	case forbidden != "":
		ending = forbidden
	case len(g.members) == 0:
		ending, by = "no client had it", launch.ByLeaving
	}
	ends := g.run == r && r.usable() && why == "" && same && b.open.Err() == nil
	if ends {
		r.ending = ending
	}
	g.held = held && same && g.run == r
	b.o.Log.Debug("a server that nobody needs was looked at", "server", r.server.Identity().String(), "it goes on because", why)
	b.change()
	b.mu.Unlock()
	if ends {
		b.endRun(r, func(ctx context.Context) error { return r.server.End(ctx, by) })
	}
}

// against is what speaks against the end of a server that nobody needs, "" when
// nothing does, and whether that stays until somebody asks for something.
func (b *Broker) against(r *run, quiet time.Duration, forbidden bool) (why string, stays bool) {
	b.mu.Lock()
	look, hasClients := Look{r.server, quiet, slices.Clone(r.group.seen), r.inherited}, len(r.group.members) > 0
	b.mu.Unlock()
	var err error
	speaks := func(ask Ask) bool {
		if why, err = ask(b.lifetime, look); err != nil {
			why = "it cannot be told: " + err.Error()
		}
		return why != ""
	}
	switch {
	case speaks(b.o.Spare):
	case speaks(b.o.Asks.Works):
	case hasClients && !forbidden && speaks(b.o.Below): // what a client leaves behind, it has given up
	case hasClients && (len(look.Sessions) > 0 || look.Inherited) && speaks(b.o.Asks.Holds):
		return why, err == nil
	case !forbidden && speaks(b.o.Asks.Direct): // else whoever is connected may be the other user
	}
	return why, false
}

// endAgain is how often it is tried to end a server that could not be ended.
const endAgain = time.Minute

// endRun ends a server by end, and tries that again until it works or the server has
// ended otherwise. One that was replaced is shown until then for what it is.
func (b *Broker) endRun(r *run, end func(context.Context) error) {
	for {
		err := end(b.lifetime)
		if err == nil || b.lifetime.Err() != nil {
			return // what follows comes with its end
		}
		b.mu.Lock()
		if id := r.server.Identity(); r.failed == nil {
			b.o.Log.Warn("a shared server could not be ended; it is tried again", "server", id.String(), "error", err)
			if slices.Contains(b.left, r) { // else it has just gone
				b.record(r.group, id, monitor.EventStopRefused, "it hangs, was replaced and goes on: "+err.Error())
			}
		}
		r.failed = err
		b.change()
		b.mu.Unlock()
		select {
		case <-time.After(endAgain):
		case <-r.server.Done():
			return
		case <-b.lifetime.Done():
			return
		}
	}
}

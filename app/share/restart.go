package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter/monitor"
)

// Why a server is not restarted.
var (
	ErrNotShared = errors.New("it is not shared, or has ended")
	ErrAtWork    = errors.New("requests are at work in it")
	ErrEnds      = errors.New("it is being ended already")
)

// calmTime is how long a moment without a request is waited for.
const calmTime = 10 * time.Second

// Restart ends a server and starts it again at once. What its clients ask meanwhile
// waits, and their conversations go on. It waits for a moment in which no request is
// at work, or fails with ErrAtWork; with force, or when the server hangs, it does not
// wait, and those requests get an error that says that they may have been carried out.
// end ends the server; after its error all goes on as before. The result is the new
// server, zero where nobody has told how to start it: the next client does.
func (b *Broker) Restart(ctx context.Context, id monitor.Identity, force bool, end func(context.Context) error) (monitor.Identity, error) {
	var none monitor.Identity
	var r *run
	var parks []func() bool
	var refused error
	working := 0
	calm, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	g := b.groupWith(id)
	err := b.until(calm, func() bool {
		switch {
		case g == nil || b.open.Err() != nil || g.run == nil || g.run.exited || g.run.server.Identity() != id:
			refused = ErrNotShared
			return true
		case !g.run.usable():
			refused = ErrEnds
			return true
		}
		r = g.run
		force = force || r.isHung()
		if working = g.inFlight; working > 0 && !force {
			return false
		}
		g.anew, g.look = "restarted", true // nobody else ends it
		r.ending = "it is restarted"
		parks = g.parks()
		b.change()
		return true
	})
	switch {
	case err != nil:
		return none, fmt.Errorf("%w: %d", ErrAtWork, working)
	case refused != nil:
		return none, refused
	}
	resume := func() { b.resume(g, r) } // who refuses waits for it
	if force {
		resume = func() {}
	}
	if !allPark(parks, resume) && !force {
		return none, ErrAtWork
	}
	if err := end(ctx); err != nil {
		b.resume(g, r)
		return none, err
	}
	if err := b.until(ctx, func() bool { return g.run != r }); err != nil {
		return none, err
	}
	return b.startAgain(ctx, g)
}

// groupWith is the group that has a server, nil when none has.
func (b *Broker) groupWith(id monitor.Identity) *group {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		if g.run != nil && g.run.server.Identity() == id {
			return g
		}
	}
	return nil
}

// startAgain starts a server that has ended, unless a request has done so meanwhile.
func (b *Broker) startAgain(ctx context.Context, g *group) (id monitor.Identity, err error) {
	b.mu.Lock()
	if !g.runs() && g.plan != nil && b.open.Err() == nil {
		b.begin(g)
	}
	s := g.starting
	if s == nil {
		g.anew = ""
	}
	b.mu.Unlock()
	if err := b.until(ctx, func() bool { return s == nil || s.over }); err != nil {
		return id, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s != nil && s.err != nil {
		return id, s.err
	}
	if g.run != nil {
		id = g.run.server.Identity()
	}
	return id, nil
}

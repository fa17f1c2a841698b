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

// How long a moment without a request is waited for, and how often it is looked for.
const (
	calmTime  = 10 * time.Second
	calmEvery = 50 * time.Millisecond
)

// Restart ends a server and starts it again at once. What its clients ask meanwhile
// waits, and their conversations go on. It waits for a moment in which no request is
// at work, or fails with ErrAtWork; with force, or when the server hangs, it does not
// wait, and those requests get an error that says that they may have been carried out.
// end ends the server; after its error all goes on as before. The result is the new
// server, zero where nobody has told how to start it: the next client does.
func (b *Broker) Restart(ctx context.Context, id monitor.Identity, force bool, end func(context.Context) error) (monitor.Identity, error) {
	g, r, err := b.beginRestart(ctx, id, force)
	if err != nil {
		return monitor.Identity{}, err
	}
	b.mu.Lock()
	parks := g.parks()
	force = force || !r.hung.IsZero()
	b.mu.Unlock()
	resume := func() { b.resume(g, r) } // who refused waits for it
	if force {
		resume = func() {}
	}
	if !allPark(parks, resume) && !force {
		return monitor.Identity{}, ErrAtWork
	}
	if err := end(ctx); err != nil {
		b.resume(g, r)
		return monitor.Identity{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return monitor.Identity{}, ctx.Err()
	}
	return b.startAgain(ctx, g)
}

// beginRestart lets no new request have the server from a moment on in which none is
// at work.
func (b *Broker) beginRestart(ctx context.Context, id monitor.Identity, force bool) (*group, *run, error) {
	ctx, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	for {
		g, r, working, err := b.tryRestart(id, force)
		if err != nil || working == 0 {
			return g, r, err
		}
		select {
		case <-time.After(calmEvery):
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w: %d", ErrAtWork, working)
		}
	}
}

// tryRestart returns the server of which nobody gets anything any more, or how many
// requests are at work in it.
func (b *Broker) tryRestart(id monitor.Identity, force bool) (*group, *run, int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		r := g.run
		switch {
		case b.closed, r == nil, r.exited, r.server.Identity() != id:
			continue
		case !r.usable():
			return nil, nil, 0, ErrEnds
		case !force && !r.isHung() && g.inFlight > 0:
			return g, r, g.inFlight, nil
		}
		g.restarting, g.look = true, true // nobody else ends it
		r.ending, r.moot = "it is restarted", make(chan struct{})
		b.change()
		return g, r, 0, nil
	}
	return nil, nil, 0, ErrNotShared
}

// startAgain starts a server that has ended, unless a request has done so meanwhile.
func (b *Broker) startAgain(ctx context.Context, g *group) (monitor.Identity, error) {
	b.mu.Lock()
	switch {
	case g.runs():
	case g.plan != nil && !b.closed:
		b.begin(g)
	default:
		g.restarting = false
	}
	s := g.starting
	b.mu.Unlock()
	if s != nil {
		if err := s.wait(ctx, b.ended); err != nil {
			return monitor.Identity{}, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.run == nil {
		return monitor.Identity{}, nil
	}
	return g.run.server.Identity(), nil
}

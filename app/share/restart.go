package share

import (
	"context"
	"errors"
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
func (b *Broker) Restart(ctx context.Context, id monitor.Identity, force bool, end func(context.Context) error) (next monitor.Identity, err error) {
	var g *group
	var r *run
	var refused error
	var known bool // how it is started
	calm, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	err = b.until(calm, func() bool {
		if g, refused = b.restartable(id); refused != nil {
			return true
		}
		r = g.run
		force = force || r.isHung()
		if g.inFlight > 0 && !force {
			return false
		}
		g.look, r.ending = true, "it is restarted" // nobody else ends it
		if known = g.plan != nil; known {
			g.why = "restarted"
		}
		b.change()
		return true
	})
	switch {
	case err != nil:
		return next, ErrAtWork
	case refused != nil:
		return next, refused
	}
	if err := end(ctx); err != nil {
		b.resume(g, r)
		return next, err
	}
	if !known {
		return next, nil
	}
	r, err = b.acquire(ctx, func() (*group, error) { return g, nil })
	if err != nil {
		return next, err
	}
	return r.server.Identity(), nil
}

// restartable is the group whose server can be restarted. The caller holds mu.
func (b *Broker) restartable(id monitor.Identity) (*group, error) {
	for _, g := range b.groups {
		switch r := g.run; {
		case b.open.Err() != nil || r == nil || r.exited || r.server.Identity() != id:
		case !r.usable():
			return nil, ErrEnds
		default:
			return g, nil
		}
	}
	return nil, ErrNotShared
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

package share

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter/monitor"
)

// Hung tells which processes do not answer whether they live, in place of what it was
// told before; it is to be told again when something else is shared. A call that takes
// long is no sign of that. While a server of ours is among them, what clients ask waits, or
// is answered from memory. It is replaced when that takes longer than Options.HangLimit and
// somebody waits.
func (b *Broker) Hung(ids []monitor.Identity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.groups {
		r := g.run
		if r == nil || slices.Contains(ids, r.server.Identity()) != r.hung.IsZero() {
			continue // all is as it was
		}
		if r.hung.IsZero() {
			r.hung = time.Now()
		} else {
			r.hung = time.Time{}
		}
		b.change()
	}
}

// isHung reports whether one that could be used hangs.
func (r *run) isHung() bool { return r.usable() && !r.hung.IsZero() }

// Hang says in words that the server does not answer, and when another one takes its
// place; "" while it does.
func (m *Client) Hang() (text string) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	r := m.group.run
	if !r.isHung() {
		return ""
	}
	text = "the server does not answer"
	if left := b.o.HangLimit() - time.Since(r.hung); left > 0 {
		text += "; another one takes its place in " + monitor.Span(left)
	}
	return text
}

// lookHung replaces a server that hangs when clients have waited long enough for it. It
// returns after how long it is to be called again. The caller holds mu.
func (b *Broker) lookHung(g *group) (next time.Duration) {
	if !g.run.isHung() || g.inFlight == 0 || !b.settled || b.o.HangLimit() <= 0 { // there may be another one already
		return lookMost
	}
	if left := b.o.HangLimit() - time.Since(g.run.hung); left > 0 {
		return left
	}
	b.replace(g)
	return lookMost
}

// replace starts another server in place of one that hangs, which has the lock of the
// key from then on. What was asked of the one before may have been carried out. The
// caller holds mu.
func (b *Broker) replace(g *group) {
	r := g.run
	name := g.label(r.server.Identity())
	b.o.Log.Warn("a shared server hangs, and is replaced", "server", name, "clients", len(g.members))
	r.ending = "it did not answer for " + monitor.Span(time.Since(r.hung))
	r.lose()
	g.part(r.ending)
	b.left = append(b.left, r)
	g.why = "in place of " + name + ", which did not answer"
	b.begin(g, nil)
	b.busy.Go(func() {
		b.endRun(r, func(ctx context.Context) error { return b.o.EndHung(ctx, r.server) })
	})
}

// Why a server is not restarted.
var (
	ErrNotShared = errors.New("it is not shared, has ended or is being ended")
	ErrAtWork    = errors.New("requests are at work in it")
)

// calmTime is how long a moment without a request is waited for.
const calmTime = 10 * time.Second

// Restart ends a server and starts it again at once. What its clients ask meanwhile
// waits, and their conversations go on. It waits for a moment in which no request is
// at work, or fails with ErrAtWork; with force, or when the server hangs, it does not
// wait, and those requests get an error that says that they may have been carried out.
// end ends the server; after its error all goes on as before. The result is the new
// server, zero where nobody has come to it since it was adopted: only who comes tells how
// it is started.
func (b *Broker) Restart(ctx context.Context, id monitor.Identity, force bool, end func(context.Context) error) (next monitor.Identity, err error) {
	var g *group
	var r *run
	var known bool // how it is started
	calm, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	err = b.until(calm, func() bool {
		g = nil
		for _, other := range b.groups {
			if other.run.usable() && other.run.server.Identity() == id && b.open.Err() == nil {
				g, r = other, other.run
			}
		}
		if g == nil {
			return true
		}
		if g.inFlight > 0 && !force && !r.isHung() {
			return false
		}
		r.ending = "it is restarted" // nobody else ends it
		if known = g.plan.Fingerprint != nil; known {
			g.why = "restarted"
		}
		b.change()
		return true
	})
	switch {
	case err != nil:
		return next, ErrAtWork
	case g == nil:
		return next, ErrNotShared
	}
	if err = end(ctx); err != nil { // requests have it again
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.open.Err() == nil { // else it is ended for that, or goes on unseen
			r.ending = ""
		}
		g.why = ""
		g.used = time.Now()
		b.change()
		return next, err
	}
	if known {
		if r, err = b.acquire(ctx, &Client{group: g}); err == nil {
			next = r.server.Identity()
		}
	}
	return next, err
}

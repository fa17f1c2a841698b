package share

import (
	"context"
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
		if r == nil || r.exited {
			continue
		}
		switch hangs := slices.Contains(ids, r.server.Identity()); {
		case hangs && r.hung.IsZero():
			r.hung = time.Now()
			b.change()
		case !hangs && !r.hung.IsZero():
			r.hung = time.Time{}
			b.change()
		}
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
	if !g.run.isHung() || g.inFlight == 0 {
		return lookMost
	}
	limit, silent := b.o.HangLimit(), time.Since(g.run.hung)
	switch left := limit - silent; {
	case limit <= 0:
	case left > 0:
		return left
	case b.settled: // else there may be one already
		b.replace(g, silent)
	}
	return lookMost
}

// replace starts another server in place of one that hangs, which has the lock of the
// key from then on. What was asked of the one before may have been carried out. The
// caller holds mu.
func (b *Broker) replace(g *group, silent time.Duration) {
	r := g.run
	name := g.label(r.server.Identity())
	b.o.Log.Warn("a shared server hangs, and is replaced", "server", name, "clients", len(g.members))
	r.ending = "it did not answer for " + monitor.Span(silent)
	r.lose()
	g.part(r.ending)
	b.left = append(b.left, r)
	g.why = "in place of " + name + ", which did not answer"
	b.begin(g, nil)
	b.busy.Go(func() {
		b.endRun(g, r, func(ctx context.Context) error { return b.o.EndHung(ctx, r.server) })
	})
}

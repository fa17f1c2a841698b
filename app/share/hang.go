package share

import (
	"context"
	"slices"
	"time"

	"lamplighter/monitor"
)

// defaultHang is how long a server that does not answer is waited for.
const defaultHang = 2 * time.Minute

// How often clients that wait for such a server are told so, and how often it is tried
// to end one that was replaced.
const (
	progressEvery = 15 * time.Second
	leftEvery     = time.Minute
)

// Hung tells which processes do not answer whether they live, in place of what it was
// told before. A call that takes long is no sign of that. While a server of ours is among
// them, what clients ask waits, or is answered from memory. It is replaced when that
// takes longer than Options.HangLimit and somebody waits.
func (b *Broker) Hung(ids []monitor.Identity) {
	b.mu.Lock()
	b.silent = ids
	for _, g := range b.groups {
		b.noteHang(g.run)
	}
	b.change()
	b.mu.Unlock()
	b.hangs.Ring()
}

// noteHang takes in whether a server is one of those. The caller holds mu.
func (b *Broker) noteHang(r *run) {
	switch {
	case r == nil || r.exited:
	case r.hung.IsZero() == slices.Contains(b.silent, r.server.Identity()):
		if r.hung.IsZero() {
			r.hung, r.settles = time.Now(), make(chan struct{})
			close(r.hangs)
		} else {
			r.hangs = make(chan struct{})
			r.settle()
		}
	}
}

// settle tells who waits for a server that hangs to ask again.
func (r *run) settle() {
	if !r.hung.IsZero() {
		r.hung = time.Time{}
		close(r.settles)
	}
}

// answers reports whether a server can be used and does not hang.
func (r *run) answers() bool { return r.usable() && r.hung.IsZero() }

// isHung reports whether one that could be used hangs.
func (r *run) isHung() bool { return r.usable() && !r.hung.IsZero() }

// attendHung replaces servers that hang, until ctx ends.
func (b *Broker) attendHung(ctx context.Context) {
	timer := time.NewTimer(progressEvery)
	defer timer.Stop()
	var told time.Time
	for {
		next, waiting := b.replaceHung()
		timer.Stop()
		if len(waiting) > 0 {
			timer.Reset(next)
		}
		if len(waiting) > 0 && time.Since(told) >= progressEvery {
			told = time.Now()
			for _, tell := range waiting {
				tell()
			}
		}
		select {
		case <-b.hangs:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// replaceHung replaces the servers for which clients have waited long enough, and
// returns how long it is until it is to be called again, and what tells those clients
// that still wait for one.
func (b *Broker) replaceHung() (next time.Duration, waiting []func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit, next := b.o.HangLimit(), progressEvery
	for _, g := range b.groups {
		r := g.run
		if b.closed || !r.isHung() || g.inFlight == 0 {
			continue
		}
		silent := time.Since(r.hung)
		text := "the server does not answer"
		if limit > 0 {
			if silent >= limit {
				b.replace(g, r, silent)
				continue
			}
			next = min(next, limit-silent)
			text += "; another one takes its place in " + monitor.Span(limit-silent)
		}
		for _, m := range g.members {
			waiting = append(waiting, func() { m.tellHang(text) })
		}
	}
	return next, waiting
}

// replace starts another server in place of one that hangs, which has the lock of its
// key from then on. What was asked of the one before may have been carried out. The
// caller holds mu.
func (b *Broker) replace(g *group, r *run, silent time.Duration) {
	now := time.Now()
	b.o.Log.Warn("a shared server hangs, and is replaced", "server", g.label(r.server.Identity()), "clients", len(g.members))
	r.ending = "it did not answer for " + monitor.Span(silent)
	r.exited = true
	close(r.gone)
	r.settle()
	g.run, g.last, g.ended, g.reason = nil, r.server.Identity(), now, r.ending
	g.look, g.until = false, time.Time{}
	g.lock, r.lock = r.lock, nil
	g.seen.forget(r.generation)
	b.left = append(b.left, r)
	g.replaces = true
	b.begin(g)
	b.busy.Go(func() { b.endLeft(g, r) })
}

// endLeft ends a server that was replaced as soon as nothing speaks against it. Until
// then it is shown for what it is.
func (b *Broker) endLeft(g *group, r *run) {
	ctx, stop := b.whileServed()
	defer stop()
	for first := true; ; first = false {
		err := b.o.EndHung(ctx, r.server)
		if err == nil || ctx.Err() != nil {
			return
		}
		if first {
			b.mu.Lock()
			b.record(g, r.server.Identity(), monitor.EventStopRefused, "it hangs, was replaced and goes on: "+err.Error())
			b.mu.Unlock()
		}
		select {
		case <-time.After(leftEvery):
		case <-r.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

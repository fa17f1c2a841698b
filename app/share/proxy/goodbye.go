package proxy

import (
	"context"

	"lamplighter/app/share/wire"
)

// checkDrained ends Serve when Finish was called and nothing is left to do.
func (l *Session) checkDrained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checkDrainedLocked()
}

func (l *Session) checkDrainedLocked() {
	select {
	case <-l.finishing:
	default:
		return
	}
	if l.current == nil && len(l.queue) == 0 && len(l.urgent) == 0 && l.open == 0 {
		l.drainOnce.Do(func() { close(l.drained) })
	}
}

// stop makes the pump end, and Take return at once.
func (l *Session) stop(leaving bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending, l.leaving = true, leaving
	if l.overdue != nil {
		l.overdue.Stop()
	}
	l.changed.Broadcast()
}

// giveUp tells the client the fate of what is still open, 30 s after its last
// word. What the server works on stays pending, for sayGoodbye to cancel it.
func (l *Session) giveUp() {
	l.mu.Lock()
	var left []*item
	for _, it := range l.pending {
		if !it.told {
			left = append(left, it)
		}
	}
	l.mu.Unlock()
	for _, it := range left {
		l.accept(it)
		l.mu.Lock()
		told, started := it.told, it.stage == sent || it == l.current
		it.told = true
		if it.stage != sent {
			l.forgetLocked(it)
		}
		l.mu.Unlock()
		if told {
			continue
		}
		text := "there was no answer within 30 s after the client closed its end; it was not carried out"
		if started {
			text = "there was no answer within 30 s after the client closed its end; it may have been carried out"
		}
		line := wire.ErrorLine(it.ID, wire.CodeInternal, text)
		l.write(func() error { return l.o.Out.Deliver(it.seq, true, line) })
		l.closed()
	}
}

// sayGoodbye cancels what the server works on and ends the MCP session. Each step
// has its own limit: a server or client that holds up one does not take away the
// next.
func (l *Session) sayGoodbye(ctx context.Context, pumped <-chan struct{}) {
	await(ctx, pumped, goodbye)
	l.mu.Lock()
	lk := l.link
	var running []*item
	for _, it := range l.pending {
		if it.stage == sent && !it.answered {
			running = append(running, it)
		}
	}
	l.mu.Unlock()
	telling, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	var told []<-chan struct{}
	for _, it := range running {
		if it.cancelled.IsZero() && it.link == lk && lk != nil {
			taken, _ := lk.session.Begin(telling, cancellation(it.ID, "the client has gone"), nil, nil)
			told = append(told, taken)
		}
	}
	for _, taken := range told {
		select {
		case <-taken:
		case <-telling.Done():
		}
	}
	if len(running) > 0 {
		l.o.Servers.Lingering(unseen)
	}
	if lk != nil {
		lk.close(ctx)
	}
}

// detach ends this process's part, and leaves the MCP session to the next one.
func (l *Session) detach() {
	l.stop(true)
	l.mu.Lock()
	lk := l.link
	l.mu.Unlock()
	if lk != nil {
		lk.detach()
	}
}

package proxy

import "context"

// checkDrainedLocked ends Serve when Finish was called and nothing is left to do.
func (l *Session) checkDrainedLocked() {
	if l.finishing && l.current == nil && len(l.queue) == 0 && len(l.urgent) == 0 && l.open == 0 {
		l.drainOnce.Do(func() { close(l.drained) })
	}
}

// stop makes the pump end, and Take return at once.
func (l *Session) stop(leaving bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending, l.leaving = true, leaving
	l.changed.Broadcast()
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

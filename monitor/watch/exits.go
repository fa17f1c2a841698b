package watch

import (
	"errors"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// watch has the end of a process told. It is process.ErrGone when that has ended.
func (l *loop) watch(id monitor.Identity) error {
	if l.exits == nil {
		return nil
	}
	l.watched[id] = struct{}{}
	return l.exits.Watch(id)
}

// watchClient makes the end of t's client known at once.
func (l *loop) watchClient(t *tracked, now time.Time) {
	if id := t.watchedClient(); id.PID != 0 && errors.Is(l.watch(id), process.ErrGone) {
		t.clientGone = now
	}
}

// watchedClient is the client whose end matters to t, zero for none: that of whoever asked
// us for a server does not.
func (t *tracked) watchedClient() monitor.Identity {
	if t.in.Client == nil || t.in.Managed {
		return monitor.Identity{}
	}
	return t.in.Client.Identity
}

// exited takes note that a process ended.
func (l *loop) exited(id monitor.Identity, now time.Time) {
	l.clientEnded(id, now)
	t, ok := l.tracked[id]
	if !ok {
		return
	}
	t.ExitedAt = now
	if st, err := l.o.System.Stat(id.PID); err != nil || st.Identity != id {
		l.forget(t)
		return
	}
	t.Unreaped = true
}

// clientEnded takes note that a process which may be a client has gone.
func (l *loop) clientEnded(id monitor.Identity, now time.Time) {
	for _, t := range l.tracked {
		if t.watchedClient() == id && t.clientGone.IsZero() {
			t.clientGone = now
			l.lookForClient(t, false, now)
		}
	}
}

func (l *loop) forget(t *tracked) {
	delete(l.tracked, t.in.Identity)
	delete(l.children, t.in.Identity)
	l.release(t)
	if t.awaited && !l.livesOn(t.in.Identity) { // begin and end are told all the same
		l.lost = append(l.lost, t.in)
	}
	// A launcher that ended may leave the server itself.
	for _, id := range t.members {
		if id == t.in.Identity {
			continue
		}
		if info, err := l.o.System.Read(id.PID); err == nil && info.Identity == id {
			l.discover([]process.Info{info}, time.Now())
		}
	}
}

// release answers those who wait for a look at t, which is tracked no more, and ends the
// watches that it alone needed.
func (l *loop) release(t *tracked) {
	for _, answer := range slices.Concat(t.waiting, t.asked) {
		answer <- fresh{err: errUnwatched}
	}
	l.unwatchOthers()
}

// unwatchOthers ends the watch of processes that are neither a server that is tracked nor
// the client of one.
func (l *loop) unwatchOthers() {
	clients := map[monitor.Identity]bool{}
	for _, t := range l.tracked {
		clients[t.watchedClient()] = true
	}
	for id := range l.watched {
		if l.tracked[id] == nil && !clients[id] {
			l.exits.Forget(id)
			delete(l.watched, id)
		}
	}
}

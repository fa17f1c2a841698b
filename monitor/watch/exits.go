package watch

import (
	"errors"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// watchExits has the ends of all servers told, and of their clients, and of nobody else. It
// is to be called before each snapshot.
func (l *loop) watchExits(now time.Time) {
	if l.exits == nil { // of a single look
		return
	}
	before, wanted := l.watched, make(map[monitor.Identity]bool, len(l.watched))
	for id, t := range l.tracked {
		if t.ExitedAt.IsZero() {
			wanted[id] = true
		}
		if client := t.clientToWatch(); client.PID != 0 && t.clientGone.IsZero() {
			wanted[client] = true
		}
	}
	for id := range before {
		if !wanted[id] {
			l.exits.Forget(id)
		}
	}
	l.watched = wanted
	for id := range wanted {
		if !before[id] && errors.Is(l.exits.Watch(id), process.ErrGone) {
			l.noteExit(id, now)
		}
	}
}

// clientToWatch is the client whose end matters to t, zero for none: that of whoever asked
// us for a server does not.
func (t *tracked) clientToWatch() monitor.Identity {
	if t.in.Client == nil || t.in.Managed {
		return monitor.Identity{}
	}
	return t.in.Client.Identity
}

// noteExit takes note that a process ended, which may be a server, and the client of others.
func (l *loop) noteExit(id monitor.Identity, now time.Time) {
	for _, t := range l.tracked {
		if t.clientToWatch() == id && t.clientGone.IsZero() {
			t.clientGone = now
			l.checkClient(t, false, now)
		}
	}
	t, ok := l.tracked[id]
	if !ok {
		return
	}
	st, err := l.o.System.Stat(id.PID)
	t.ExitedAt, t.Unreaped = now, err == nil && st.Identity == id
	if !t.Unreaped {
		l.untrack(t)
	}
}

func (l *loop) untrack(t *tracked) {
	delete(l.tracked, t.in.Identity)
	delete(l.children, t.in.Identity)
	t.releaseWaiting()
	if t.awaited && !l.isAlive(t.in.Identity) { // begin and end are told all the same
		l.unannounced = append(l.unannounced, &t.in)
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

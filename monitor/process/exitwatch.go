package process

import (
	"context"
	"sync"
	"time"

	"lamplighter/monitor"
)

// exitPollEvery is how often a process is asked whose end the system does not
// tell: on Windows and macOS, and on a Linux without pidfds or descriptors left.
const exitPollEvery = 500 * time.Millisecond

// ExitWatch reports when watched processes end, at once where the system helps.
// It is safe for concurrent use. What is watched outlives Serve, so that it can
// be called again after a failure.
type ExitWatch struct {
	exits     chan monitor.Identity
	woken     monitor.Bell // something has ended, or is to be polled from now on
	pollEvery time.Duration
	alarm     *exitAlarm // nil when the system has none for us: everything is polled

	mu      sync.Mutex
	watched map[monitor.Identity]*watched
}

// watched is one process under watch.
type watched struct {
	handle *Handle // one that holds nothing when the process could not be held
	alarms bool    // its end sets the alarm off; else it is polled
}

// NewExitWatch makes a watch that watches nothing yet.
func NewExitWatch() *ExitWatch {
	return &ExitWatch{
		alarm:     newExitAlarm(),
		exits:     make(chan monitor.Identity, 16),
		woken:     monitor.NewBell(),
		pollEvery: exitPollEvery,
		watched:   map[monitor.Identity]*watched{},
	}
}

// Exits delivers the processes that have ended, each watched identity at most once.
// An exit that was on its way when Forget was called may still arrive.
func (w *ExitWatch) Exits() <-chan monitor.Identity { return w.exits }

// Watch begins to watch a process; nothing happens if it is watched already.
// The error is ErrGone when it has ended already (also if nobody has reaped it
// yet) or when the pid is another process's.
func (w *ExitWatch) Watch(id monitor.Identity) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.watched[id]; p != nil {
		if p.handle.Ended() {
			return gone(id.PID)
		}
		return nil
	}
	p := &watched{handle: unheld(id)}
	if len(w.watched) < mostHeld() {
		if h, err := Hold(id); err == nil {
			p.handle = h
		}
	}
	if p.handle.Ended() {
		p.handle.Close()
		return gone(id.PID)
	}
	p.alarms = w.alarm != nil && w.alarm.add(p.handle) == nil
	w.watched[id] = p
	if !p.alarms {
		w.woken.Ring()
	}
	return nil
}

// Forget ends the watch of a process, if there is one.
func (w *ExitWatch) Forget(id monitor.Identity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.watched[id]; p != nil {
		p.handle.Close()
	}
	delete(w.watched, id)
}

// Serve reports exits until ctx ends, and returns its error then.
func (w *ExitWatch) Serve(ctx context.Context) error {
	if w.alarm != nil {
		defer w.alarm.start(w.woken.Ring)()
	}
	for {
		ids, polling := w.look()
		for _, id := range ids {
			select {
			case w.exits <- id:
				w.Forget(id)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		var poll <-chan time.Time
		if polling {
			poll = time.After(w.pollEvery)
		}
		select {
		case <-w.woken:
		case <-poll:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look returns what has ended, and whether anything has to be polled.
func (w *ExitWatch) look() (ids []monitor.Identity, polling bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, p := range w.watched {
		if p.handle.Ended() {
			ids = append(ids, id)
		}
		polling = polling || !p.alarms
	}
	return ids, polling
}

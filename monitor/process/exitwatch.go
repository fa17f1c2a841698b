package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

// pollEvery is how often a process is looked at that the system does not watch
// for us: no pidfd (old kernels, seccomp) or no descriptors left.
const pollEvery = 500 * time.Millisecond

// errServed is what a second Serve gets.
var errServed = errors.New("the exit watch is being served already")

// ExitWatch tells at once when watched processes end, all of them from one
// goroutine that sleeps meanwhile. It is safe for concurrent use. Descriptors
// are held only while Serve runs; what is watched outlives it, so that Serve
// can be called again after a failure.
type ExitWatch struct {
	exits chan monitor.Identity

	mu      sync.Mutex
	watched map[monitor.Identity]*watched
	armed   map[uint64]*watched // those that the waiter watches, by token
	tokens  uint64              // the last one used; an old one never comes again
	served  bool
	waiter  *waiter // nil while Serve does not run, or when the system has none for us
	open    func() (*waiter, error)
}

// watched is one process under watch. Without a token it is polled.
type watched struct {
	id    monitor.Identity
	token uint64
	ended bool // and is on its way to Exits
}

// NewExitWatch makes a watch that watches nothing yet.
func NewExitWatch() *ExitWatch {
	return &ExitWatch{
		exits:   make(chan monitor.Identity, 16),
		watched: map[monitor.Identity]*watched{},
		armed:   map[uint64]*watched{},
		open:    newWaiter,
	}
}

// Exits is where ended processes are told, each watched identity at most once.
// An exit that was on its way when Forget was called may still arrive.
func (w *ExitWatch) Exits() <-chan monitor.Identity { return w.exits }

// Watch begins to watch a process; nothing happens if it is watched already.
// The error is ErrGone when it has ended already (also if nobody has reaped it
// yet) or when the pid is another process's. Before Serve runs, Watch only
// takes note.
func (w *ExitWatch) Watch(id monitor.Identity) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.watched[id]; p != nil {
		if p.ended {
			return gone(id.PID)
		}
		return nil
	}
	p := &watched{id: id}
	if err := w.arm(p); err != nil {
		return err
	}
	w.watched[id] = p
	if p.token == 0 && w.waiter != nil {
		w.waiter.wake() // it has to wait with a limit from now on
	}
	return nil
}

// Forget ends the watch of a process, if there is one.
func (w *ExitWatch) Forget(id monitor.Identity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.watched[id]; p != nil {
		w.disarm(p)
		delete(w.watched, id)
	}
}

// arm hands p to the waiter, or leaves it to be polled if that does not work.
// The error is ErrGone or nil.
func (w *ExitWatch) arm(p *watched) error {
	if w.waiter != nil {
		w.tokens++
		err := w.waiter.arm(p.id, w.tokens)
		if err == nil {
			p.token = w.tokens
			w.armed[p.token] = p
			return nil
		}
		if errors.Is(err, ErrGone) {
			return err
		}
	}
	if ended(p.id) {
		return gone(p.id.PID)
	}
	return nil
}

func (w *ExitWatch) disarm(p *watched) {
	if p.token != 0 {
		w.waiter.disarm(p.token)
		delete(w.armed, p.token)
		p.token = 0
	}
}

// Serve watches until ctx ends and returns its error then. Every descriptor is
// released when it returns.
func (w *ExitWatch) Serve(ctx context.Context) error {
	w.mu.Lock()
	if w.served {
		w.mu.Unlock()
		return errServed
	}
	w.served = true
	w.mu.Unlock()
	defer w.release()
	stop := context.AfterFunc(ctx, w.wake)
	defer stop()

	for {
		ids, polling := w.collect()
		for _, id := range ids {
			if !w.deliver(ctx, id) {
				return ctx.Err()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.wait(ctx, polling); err != nil {
			return err
		}
	}
}

// collect tries to arm whatever is polled, and returns what has ended and
// whether anything is left to be polled.
func (w *ExitWatch) collect() (ids []monitor.Identity, polling bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiter == nil {
		// Without one everything is polled, and this is tried again each time.
		if waiter, err := w.open(); err == nil {
			w.waiter = waiter
		}
	}
	for id, p := range w.watched {
		if p.token == 0 && !p.ended {
			p.ended = w.arm(p) != nil
		}
		if p.ended {
			ids = append(ids, id)
		}
		polling = polling || (p.token == 0 && !p.ended)
	}
	return ids, polling || w.waiter == nil
}

// wait blocks until something ended, it is time to poll, or it is woken.
func (w *ExitWatch) wait(ctx context.Context, polling bool) error {
	limit := time.Duration(-1)
	if polling {
		limit = pollEvery
	}
	w.mu.Lock()
	waiter := w.waiter
	w.mu.Unlock()
	if waiter == nil {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return nil
	}
	tokens, err := waiter.wait(limit)
	if err != nil {
		return fmt.Errorf("waiting for processes to end: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, token := range tokens {
		if p := w.armed[token]; p != nil {
			w.disarm(p)
			p.ended = true
		}
	}
	return nil
}

// deliver tells one exit. If ctx ends first it is kept for the next Serve.
func (w *ExitWatch) deliver(ctx context.Context, id monitor.Identity) bool {
	w.mu.Lock()
	_, wanted := w.watched[id]
	w.mu.Unlock()
	if !wanted {
		return true
	}
	select {
	case w.exits <- id:
	case <-ctx.Done():
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watched, id)
	return true
}

func (w *ExitWatch) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiter != nil {
		w.waiter.wake()
	}
}

// release gives all descriptors back and leaves the list for the next Serve.
func (w *ExitWatch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range slices.Collect(maps.Values(w.armed)) {
		w.disarm(p)
	}
	if w.waiter != nil {
		w.waiter.close()
		w.waiter = nil
	}
	w.served = false
}

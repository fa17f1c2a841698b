package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lamplighter/monitor"
)

// handlePollEvery is how often Wait looks at a process that the system does not
// watch for us: no pidfd (old kernels, seccomp) or no descriptors left.
const handlePollEvery = 50 * time.Millisecond

// Handle holds one process, so that what is sent through it reaches that
// process or nobody, whatever happens to its pid. It is safe for concurrent
// use and must be closed.
//
//   - Linux holds a pidfd. Where there is none (a kernel before 5.3, a filter
//     that forbids it, no descriptors left), the start time is compared right
//     before each kill(2); that leaves the microseconds between the two.
//   - Windows holds the process itself: its pid is not reused meanwhile.
//   - macOS has nothing to hold, so the start time is compared as above.
//
// A method that sends fails with ErrGone when the process has ended (also if
// nobody has reaped it yet), with fs.ErrPermission when it is not ours to
// signal, with os.ErrClosed after Close.
type Handle struct {
	id monitor.Identity

	mu     sync.RWMutex // against Close
	held   held
	closed bool
}

// Hold takes hold of a process. The error is ErrGone when it has ended or when
// its pid is another process's. On Windows it is fs.ErrPermission when the
// process may not be ended by us; elsewhere that shows with the first signal.
func Hold(id monitor.Identity) (*Handle, error) {
	h, err := hold(id)
	if err != nil {
		return nil, err
	}
	return &Handle{id: id, held: h}, nil
}

// Identity is whom the handle holds.
func (h *Handle) Identity() monitor.Identity { return h.id }

// Terminate asks the process to end: SIGTERM, which it may handle or ignore,
// and which waits while the process is suspended. Windows has no such thing for
// a process without a window; there it is the same as Kill.
func (h *Handle) Terminate() error { return h.send("terminating", held.terminate) }

// Suspend stops the process until Continue: SIGSTOP, which nothing can ignore.
// The process stands still a moment later, see Stat.State. On Windows it is
// errors.ErrUnsupported.
func (h *Handle) Suspend() error { return h.send("suspending", held.suspend) }

// Continue lets a suspended process go on: SIGCONT. On Windows, where no
// process is suspended by a signal, there is nothing to do.
func (h *Handle) Continue() error { return h.send("continuing", held.resume) }

// Kill ends the process without asking: SIGKILL, TerminateProcess on Windows.
func (h *Handle) Kill() error { return h.send("killing", held.kill) }

func (h *Handle) send(doing string, what func(held) error) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	err := os.ErrClosed
	if !h.closed {
		err = what(h.held)
	}
	if err == nil || errors.Is(err, ErrGone) {
		return err
	}
	return fmt.Errorf("%s process %d: %w", doing, h.id.PID, err)
}

// Ended tells whether the process has ended. One that nobody has reaped yet
// has. After Close it is asked by its start time.
func (h *Handle) Ended() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return ended(h.id)
	}
	return h.held.ended()
}

// Wait blocks until the process has ended, or until ctx ends and returns its
// error then.
func (h *Handle) Wait(ctx context.Context) error {
	if h.Ended() {
		return nil
	}
	w, err := newWaiter()
	if err != nil {
		return h.poll(ctx)
	}
	var mu sync.Mutex // what wakes the waiter must not meet its end
	closed := false
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !closed {
			w.wake()
		}
	})
	defer func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		closed = true
		w.close()
	}()
	const token = 1
	switch err := w.arm(h.id, token); {
	case errors.Is(err, ErrGone):
		return nil
	case err != nil:
		return h.poll(ctx)
	}
	for ctx.Err() == nil {
		tokens, err := w.wait(-1)
		if err != nil {
			return h.poll(ctx)
		}
		if len(tokens) > 0 {
			return nil
		}
	}
	return ctx.Err()
}

// poll is Wait without help from the system.
func (h *Handle) poll(ctx context.Context) error {
	tick := time.NewTicker(handlePollEvery)
	defer tick.Stop()
	for !h.Ended() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close lets the process go. It may be called more than once.
func (h *Handle) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.held.close()
	}
}

package process

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// waiter is what the system offers to learn of exits: one kqueue for all
// processes. arm, disarm, wake and close are called under a lock, wait beside
// them by one goroutine.
type waiter struct {
	queue  int
	events [64]unix.Kevent_t

	mu     sync.Mutex
	pids   map[uint64]int // by token
	tokens map[int]uint64 // by pid, until the event of the pid is taken
}

var errArmed = errors.New("an exit under this pid has not been taken note of yet")

func newWaiter() (*waiter, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("creating a kqueue: %w", err)
	}
	unix.CloseOnExec(queue)
	w := &waiter{queue: queue, pids: map[uint64]int{}, tokens: map[int]uint64{}}
	if err := w.change(0, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR, 0); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// change makes one change to the kqueue.
func (w *waiter) change(ident, filter, flags int, fflags uint32) error {
	var ev unix.Kevent_t
	unix.SetKevent(&ev, ident, filter, flags)
	ev.Fflags = fflags
	for {
		_, err := unix.Kevent(w.queue, []unix.Kevent_t{ev}, nil, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("changing the kqueue: %w", err)
		}
		return nil
	}
}

func (w *waiter) arm(id monitor.Identity, token uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[id.PID] != 0 {
		return errArmed
	}
	err := w.change(id.PID, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT, unix.NOTE_EXIT)
	if errors.Is(err, unix.ESRCH) {
		return gone(id.PID)
	}
	if err != nil {
		return err
	}
	// From now on an exit is told; only now is it worth asking who it is.
	if ended(id) {
		if err := w.change(id.PID, unix.EVFILT_PROC, unix.EV_DELETE, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		return gone(id.PID)
	}
	w.tokens[id.PID] = token
	w.pids[token] = id.PID
	return nil
}

func (w *waiter) disarm(token uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pid := w.pids[token]
	delete(w.pids, token)
	if w.tokens[pid] != token {
		return // its event was taken already
	}
	delete(w.tokens, pid)
	// It fails when the process has ended and the kernel has forgotten it first.
	_ = w.change(pid, unix.EVFILT_PROC, unix.EV_DELETE, 0)
}

// wait blocks for at most limit (forever if negative) and returns the tokens of
// processes that have ended, or none.
func (w *waiter) wait(limit time.Duration) ([]uint64, error) {
	var timeout *unix.Timespec
	if limit >= 0 {
		ts := unix.NsecToTimespec(int64(limit))
		timeout = &ts
	}
	n, err := unix.Kevent(w.queue, nil, w.events[:], timeout)
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kevent: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var ended []uint64
	for _, ev := range w.events[:n] {
		if ev.Filter != unix.EVFILT_PROC {
			continue
		}
		if token := w.tokens[int(ev.Ident)]; token != 0 {
			delete(w.tokens, int(ev.Ident))
			ended = append(ended, token)
		}
	}
	return ended, nil
}

func (w *waiter) wake() {
	// It fails only when the queue is closed, and then nobody waits.
	_ = w.change(0, unix.EVFILT_USER, 0, unix.NOTE_TRIGGER)
}

func (w *waiter) close() { unix.Close(w.queue) }

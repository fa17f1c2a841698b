package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lamplighter/monitor"
)

// handlePollEvery is how often Wait asks whether the process has ended.
const handlePollEvery = 10 * time.Millisecond

// Handle holds one process, so that what is sent through it reaches that
// process or nobody, whatever happens to its pid. It must be closed, and is
// safe for concurrent use until then.
//
//   - Linux holds a pidfd, Windows the process itself, whose pid is not reused
//     meanwhile: os.Process.
//   - macOS has nothing to hold, nor has a Linux before 5.4 or a filter that
//     forbids pidfds. There the start time is compared right before each signal;
//     that leaves the microseconds between the two.
//
// A method that sends fails with ErrGone when the process has ended (also if
// nobody has reaped it yet), and with fs.ErrPermission when it is not ours to
// signal. After Close nothing is sent.
type Handle struct {
	id      monitor.Identity
	process *os.Process // never for its Wait, which would reap
}

// Hold takes hold of a process. The error is ErrGone when it has ended or when
// its pid is another process's. On Windows it is fs.ErrPermission when the
// process may not be opened by us; elsewhere that shows with the first signal.
func Hold(id monitor.Identity) (*Handle, error) {
	if id.PID <= 0 {
		return nil, gone(id.PID)
	}
	p, failed := os.FindProcess(id.PID)
	// Only now is it worth asking who it is: what is held is not replaced.
	if _, err := StatAlive(Local(), id); err != nil {
		if failed == nil {
			_ = p.Release()
		}
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("opening process %d: %w", id.PID, failed)
	}
	return &Handle{id, p}, nil
}

// unheld is a handle that holds nothing, as where nothing can be held.
func unheld(id monitor.Identity) *Handle { return &Handle{id, &os.Process{Pid: id.PID}} }

// Terminate asks the process to end: SIGTERM, which it may handle or ignore,
// and which waits while the process is suspended. Windows has no such thing for
// a process without a window; there it is the same as Kill.
func (h *Handle) Terminate() error { return h.send("terminating", terminateSignal) }

// Suspend stops the process until Continue: SIGSTOP, which nothing can ignore.
// The process stands still a moment later, see Stat.State. On Windows it is
// errors.ErrUnsupported.
func (h *Handle) Suspend() error { return h.send("suspending", suspendSignal) }

// Continue lets a suspended process go on: SIGCONT. On Windows, where no
// process is suspended by a signal, there is nothing to do.
func (h *Handle) Continue() error {
	if continueSignal == nil {
		return nil
	}
	return h.send("continuing", continueSignal)
}

// Kill ends the process without asking: SIGKILL, TerminateProcess on Windows.
func (h *Handle) Kill() error { return h.send("killing", os.Kill) }

func (h *Handle) send(doing string, signal os.Signal) error {
	over, err := h.over()
	if errors.Is(err, os.ErrNoHandle) { // what cannot be read does not count as the same
		_, err = StatAlive(Local(), h.id)
	}
	if over { // a process that nobody has reaped takes signals without an error
		err = gone(h.id.PID)
	}
	if err == nil {
		err = h.process.Signal(signal)
		// Windows refuses for one that is ending already.
		if over, _ := h.over(); err != nil && (over || errors.Is(err, os.ErrProcessDone)) {
			err = gone(h.id.PID)
		}
	}
	if err == nil || errors.Is(err, ErrGone) {
		return err
	}
	return fmt.Errorf("%s process %d: %w", doing, h.id.PID, err)
}

// over asks what is held. The error is os.ErrNoHandle when nothing is.
func (h *Handle) over() (over bool, err error) {
	err = h.process.WithHandle(func(handle uintptr) { over = isOver(handle) })
	return over, err
}

// Ended reports whether the process has ended. One that nobody has reaped yet
// has. After Close it is asked by its start time.
func (h *Handle) Ended() bool {
	over, err := h.over()
	return over || err != nil && !MayLive(Local(), h.id)
}

// Wait blocks until the process has ended, or until ctx ends and returns its
// error then. It asks again and again, so it is for a short time: ExitWatch
// waits for long.
func (h *Handle) Wait(ctx context.Context) error {
	for !h.Ended() {
		select {
		case <-time.After(handlePollEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close lets the process go. It may be called more than once.
func (h *Handle) Close() { _ = h.process.Release() } // Windows refuses the second time

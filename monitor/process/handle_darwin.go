package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// held is a process known by its start time: macOS has nothing to hold.
type held struct{ id monitor.Identity }

func hold(id monitor.Identity) (held, error) {
	if id.PID <= 0 {
		return held{}, gone(id.PID)
	}
	return held{id}, confirm(id)
}

func (h held) terminate() error { return h.signal(unix.SIGTERM) }
func (h held) suspend() error   { return h.signal(unix.SIGSTOP) }
func (h held) resume() error    { return h.signal(unix.SIGCONT) }
func (h held) kill() error      { return h.signal(unix.SIGKILL) }

func (h held) signal(sig unix.Signal) error {
	if err := confirm(h.id); err != nil {
		return err
	}
	err := unix.Kill(h.id.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		return gone(h.id.PID)
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", unix.SignalName(sig), err)
	}
	return nil
}

func (h held) ended() bool { return ended(h.id) }

func (h held) close() {}

package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// noPidfd marks a process that is held by its start time only.
const noPidfd = -1

// held is a process held by its pidfd.
type held struct {
	id monitor.Identity
	fd int
}

func hold(id monitor.Identity) (held, error) {
	if id.PID <= 0 {
		return held{}, gone(id.PID)
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT):
		return held{}, gone(id.PID) // EINVAL, ENOENT since 6.15: the number is now that of a thread
	case err != nil:
		fd = noPidfd
	case fd >= ceiling():
		// A large tree must not take the last descriptors from everybody else.
		unix.Close(fd)
		fd = noPidfd
	}
	h := held{id, fd}
	// The pidfd holds the process; only now is it worth asking who it is.
	if err := confirm(id); err != nil {
		h.close()
		return held{}, err
	}
	return h, nil
}

func (h held) terminate() error { return h.signal(unix.SIGTERM) }
func (h held) suspend() error   { return h.signal(unix.SIGSTOP) }
func (h held) resume() error    { return h.signal(unix.SIGCONT) }
func (h held) kill() error      { return h.signal(unix.SIGKILL) }

func (h held) signal(sig unix.Signal) error {
	if h.ended() {
		return gone(h.id.PID) // a zombie takes signals without an error
	}
	if h.fd != noPidfd {
		err := unix.PidfdSendSignal(h.fd, sig, nil, 0)
		if !errors.Is(err, unix.ENOSYS) {
			return h.failed(sig, err)
		}
	}
	if err := confirm(h.id); err != nil {
		return err
	}
	return h.failed(sig, unix.Kill(h.id.PID, sig))
}

func (h held) failed(sig unix.Signal, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ESRCH) {
		return gone(h.id.PID)
	}
	return fmt.Errorf("sending %s: %w", unix.SignalName(sig), err)
}

// ended asks the pidfd, which is readable when the last thread has ended.
func (h held) ended() bool {
	if h.fd == noPidfd {
		return ended(h.id)
	}
	n, err := retry(func() (int, error) {
		return unix.Poll([]unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}, 0)
	})
	return err == nil && n > 0
}

func (h held) close() {
	if h.fd != noPidfd {
		unix.Close(h.fd)
	}
}

package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// waiter is what the system offers to learn of exits: one pidfd per process,
// all in one epoll. arm, disarm, wake and close are called under a lock, wait
// beside them by one goroutine.
type waiter struct {
	epoll, event int
	fds          map[uint64]int // by token
	ceiling      int            // descriptors from here on are left to the rest of the program
	events       [64]unix.EpollEvent
}

// wakeToken marks the eventfd among the tokens.
const wakeToken = 0

func newWaiter() (*waiter, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating an epoll: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("creating an eventfd: %w", err)
	}
	w := &waiter{epoll: epoll, event: event, fds: map[uint64]int{}, ceiling: ceiling()}
	if err := w.add(event, wakeToken); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// ceiling leaves a quarter of the descriptors we may have, 64 at most, to
// others: a program that cannot accept connections is worse than a late exit.
// Descriptors are handed out from the lowest, so the number of one tells how
// many are left.
func ceiling() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	most := min(limit.Cur, 1<<30)
	return int(most - min(most/4, 64))
}

var errTooMany = errors.New("too few descriptors are left")

func (w *waiter) arm(id monitor.Identity, token uint64) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return gone(id.PID) // EINVAL: the number is now that of a thread
	}
	if err != nil {
		return fmt.Errorf("opening a pidfd of process %d: %w", id.PID, err)
	}
	if fd >= w.ceiling {
		unix.Close(fd)
		return errTooMany
	}
	// The pidfd holds the process; only now is it worth asking who it is.
	if ended(id) {
		unix.Close(fd)
		return gone(id.PID)
	}
	if err := w.add(fd, token); err != nil {
		unix.Close(fd)
		return err
	}
	w.fds[token] = fd
	return nil
}

// add puts fd into the epoll. The event carries the token and not the
// descriptor, whose number may be another's by the time it is read.
func (w *waiter) add(fd int, token uint64) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return fmt.Errorf("adding a descriptor to the epoll: %w", err)
	}
	return nil
}

func (w *waiter) disarm(token uint64) {
	if fd, ok := w.fds[token]; ok {
		unix.Close(fd) // leaves the epoll by itself
		delete(w.fds, token)
	}
}

// wait blocks for at most limit (forever if negative) and returns the tokens of
// processes that have ended, or none.
func (w *waiter) wait(limit time.Duration) ([]uint64, error) {
	ms := -1
	if limit >= 0 {
		ms = int(limit.Milliseconds())
	}
	n, err := unix.EpollWait(w.epoll, w.events[:], ms)
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("epoll_wait: %w", err)
	}
	var tokens []uint64
	for _, ev := range w.events[:n] {
		token := uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
		if token == wakeToken {
			var count [8]byte
			unix.Read(w.event, count[:])
			continue
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

func (w *waiter) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(w.event, one[:])
}

func (w *waiter) close() {
	for token := range w.fds {
		w.disarm(token)
	}
	unix.Close(w.event)
	unix.Close(w.epoll)
}

// ended tells whether a process has ended or is another one by now. Without a
// descriptor to read with, only the certain signs count: the pid is free, or
// its process has no program any more. A reused pid shows later.
func ended(id monitor.Identity) bool {
	s, err := ReadStat(id.PID)
	switch {
	case err == nil:
		return s.Identity != id || s.State == Unreaped
	case errors.Is(err, ErrGone):
		return true
	case !scarce(err):
		return false
	}
	if errors.Is(unix.Access(system().path(id.PID, ""), unix.F_OK), unix.ENOENT) {
		return true
	}
	var link [1]byte
	_, err = unix.Readlink(system().path(id.PID, "/exe"), link[:])
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

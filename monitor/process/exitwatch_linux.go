package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// mostHeld is how many processes are held at once, by a descriptor each: the
// other three quarters of ours are for clients, for dashboards and for looking around.
func mostHeld() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt
	}
	return int(min(limit.Cur/4, math.MaxInt32))
}

// exitAlarm wakes somebody when processes end: one epoll that holds a pidfd of
// each. It is in the poller of the runtime itself, so that no thread waits for
// it. A nil alarm takes nothing.
type exitAlarm struct {
	epoll  int
	file   *os.File // the owner of epoll
	served sync.WaitGroup
}

func newExitAlarm(wake func()) (*exitAlarm, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating an epoll: %w", err)
	}
	_ = unix.SetNonblock(epoll, true) // it shows the runtime that it may poll it
	a := &exitAlarm{epoll: epoll, file: os.NewFile(uintptr(epoll), "epoll")}
	conn, err := a.file.SyscallConn()
	if err == nil {
		err = a.file.SetReadDeadline(time.Time{}) // fails where the runtime could not take it
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("polling an epoll: %w", err), a.file.Close())
	}
	a.served.Go(func() {
		var events [64]unix.EpollEvent
		rung := func(fd uintptr) bool {
			n, err := retry(func() (int, error) { return unix.EpollWait(int(fd), events[:], 0) })
			return n > 0 || err != nil
		}
		for conn.Read(rung) == nil {
			wake()
		}
	})
	return a, nil
}

// add makes the end of a process set off the alarm, once. The epoll loses it
// when its handle is closed.
func (a *exitAlarm) add(h *Handle) error {
	if a == nil {
		return errors.ErrUnsupported
	}
	var failed error
	err := h.process.WithHandle(func(pidfd uintptr) {
		failed = unix.EpollCtl(a.epoll, unix.EPOLL_CTL_ADD, int(pidfd), &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT})
	})
	return errors.Join(err, failed)
}

func (a *exitAlarm) close() {
	if a != nil {
		a.file.Close()
		a.served.Wait()
	}
}

package process

import (
	"errors"
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
// it.
type exitAlarm struct {
	epoll int
	file  *os.File // the owner of epoll
}

// newExitAlarm is nil where there is no descriptor left for one.
func newExitAlarm() *exitAlarm {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	_ = unix.SetNonblock(epoll, true) // it shows the runtime that it may poll it
	file := os.NewFile(uintptr(epoll), "epoll")
	if err := file.SetReadDeadline(time.Time{}); err != nil { // where the runtime could not take it
		_ = file.Close()
		return nil
	}
	return &exitAlarm{epoll, file}
}

// add makes the end of a process set off the alarm, once. The epoll loses it
// when its handle is closed.
func (a *exitAlarm) add(h *Handle) error {
	var failed error
	err := h.process.WithHandle(func(pidfd uintptr) {
		failed = unix.EpollCtl(a.epoll, unix.EPOLL_CTL_ADD, int(pidfd), &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT})
	})
	return errors.Join(err, failed)
}

// start calls wake when processes end, until stop is called.
func (a *exitAlarm) start(wake func()) (stop func()) {
	_ = a.file.SetReadDeadline(time.Time{})
	conn, _ := a.file.SyscallConn() // which fails for a closed file alone
	var served sync.WaitGroup
	served.Go(func() {
		var events [64]unix.EpollEvent
		rung := func(uintptr) bool {
			n, err := retry(func() (int, error) { return unix.EpollWait(a.epoll, events[:], 0) })
			return n > 0 || err != nil
		}
		for conn.Read(rung) == nil {
			wake()
		}
	})
	return func() {
		_ = a.file.SetReadDeadline(time.Now())
		served.Wait()
	}
}

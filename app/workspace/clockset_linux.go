package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// longestWait bounds how long one timer runs: all that it misses is told by
// watchClock.
const longestWait = 24 * time.Hour

// watchClock calls set whenever the wall clock is set, and when the system wakes
// from sleep, in which timers stand still. It returns when ctx ends. See
// TFD_TIMER_CANCEL_ON_SET in timerfd_create(2).
func watchClock(ctx context.Context, set func()) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil { // then clean-up may come a day late
		<-ctx.Done()
		return context.Cause(ctx)
	}
	timer := os.NewFile(uintptr(fd), "timerfd")
	defer timer.Close()
	conn, err := timer.SyscallConn()
	if err != nil {
		return fmt.Errorf("watching the clock: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { timer.Close() })
	defer stop()
	var buf [8]byte
	for {
		// A moment that never comes: only the cancelling is of interest.
		never := unix.ItimerSpec{Value: unix.NsecToTimespec(time.Unix(1<<33, 0).UnixNano())}
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil)
		})
		if err == nil && (failed == nil || errors.Is(failed, unix.ECANCELED)) {
			_, err = timer.Read(buf[:])
		} else {
			err = errors.Join(err, failed)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, unix.ECANCELED) {
			return fmt.Errorf("watching the clock: %w", err)
		}
		set()
	}
}

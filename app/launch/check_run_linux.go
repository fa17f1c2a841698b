package launch

import (
	"errors"

	"golang.org/x/sys/unix"

	"lamplighter/monitor/process"
)

func awaitUnreaped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// killPasses bounds a race with something that starts itself anew all the time.
const killPasses = 20

// killMarked ends what carries the mark, wherever it has gone.
func killMarked(mark string) {
	for range killPasses {
		found, _ := process.Marked(checkMark, mark) // what was found counts
		if len(found) == 0 {
			return
		}
		for _, id := range found {
			if handle, err := process.Hold(id); err == nil {
				_ = handle.Kill() // it has ended when this fails
				handle.Close()
			}
		}
	}
}

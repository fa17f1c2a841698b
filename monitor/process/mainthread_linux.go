package process

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// MainThreadCPU is the time that the process's first thread has run, to the
// nanosecond where Stat.CPU counts in clock ticks. An event loop that waits
// does not move it, so it shows a single small request. The error is
// errors.ErrUnsupported where the kernel keeps no such account
// (CONFIG_SCHED_INFO).
//
// Source: /proc/PID/schedstat, Documentation/scheduler/sched-stats.rst.
func MainThreadCPU(pid int) (time.Duration, error) {
	p := system()
	var buf [128]byte
	data, err := readAt(unix.AT_FDCWD, p.path(pid, "/schedstat"), buf[:])
	if err != nil {
		err = p.failed("reading the run time of", pid, err)
		if !errors.Is(err, ErrGone) {
			return 0, err
		}
		if _, statErr := ReadStat(pid); statErr == nil {
			return 0, fmt.Errorf("reading the run time of process %d: %w", pid, errors.ErrUnsupported)
		}
		return 0, err
	}
	return parseSchedstat(data)
}

// parseSchedstat reads "RUN WAIT SLICES", of which the first counts
// nanoseconds on a CPU.
func parseSchedstat(data []byte) (time.Duration, error) {
	run, _, ok := bytes.Cut(data, []byte{' '})
	ns, err := strconv.ParseInt(string(run), 10, 64)
	if !ok || err != nil || ns < 0 {
		return 0, fmt.Errorf("%.40q is not the content of a schedstat file", data)
	}
	return time.Duration(ns), nil
}

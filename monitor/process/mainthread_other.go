//go:build !linux

package process

import (
	"errors"
	"fmt"
	"time"
)

// MainThreadCPU is known on Linux only; elsewhere the error is
// errors.ErrUnsupported.
func MainThreadCPU(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("reading the run time of process %d: %w", pid, errors.ErrUnsupported)
}

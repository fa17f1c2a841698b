//go:build windows || darwin

package process

import (
	"errors"
	"fmt"

	"lamplighter/monitor"
)

// Descriptors cannot be answered here: the error is errors.ErrUnsupported.
func Descriptors(id monitor.Identity) ([]Descriptor, error) {
	return nil, fmt.Errorf("listing the descriptors of process %d: %w", id.PID, errors.ErrUnsupported)
}

// Cgroup cannot be answered here: the error is errors.ErrUnsupported.
func Cgroup(pid int) (string, error) {
	return "", fmt.Errorf("reading the control group of process %d: %w", pid, errors.ErrUnsupported)
}

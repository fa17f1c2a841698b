package process

import (
	"fmt"
	"os"
	"strconv"
)

// SameNamespace tells whether a process counts processes as we do. One that does
// not lives in a container or a sandbox.
//
// Source: pid_namespaces(7).
func SameNamespace(pid int) (bool, error) {
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	if err != nil {
		return false, fmt.Errorf("finding out the namespace of process %d: %w", pid, err)
	}
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false, fmt.Errorf("finding out our own namespace: %w", err)
	}
	return theirs == ours, nil
}

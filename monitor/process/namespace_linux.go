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
func SameNamespace(pid int) (bool, error) { return sameNamespace(pid, "pid") }

// SameNetwork tells whether a process has the network that we have. Of another
// one nobody sees here who is connected.
//
// Source: network_namespaces(7).
func SameNetwork(pid int) (bool, error) { return sameNamespace(pid, "net") }

func sameNamespace(pid int, kind string) (bool, error) {
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + kind)
	if err != nil {
		return false, fmt.Errorf("finding out the %s namespace of process %d: %w", kind, pid, err)
	}
	ours, err := os.Readlink("/proc/self/ns/" + kind)
	if err != nil {
		return false, fmt.Errorf("finding out our own %s namespace: %w", kind, err)
	}
	return theirs == ours, nil
}

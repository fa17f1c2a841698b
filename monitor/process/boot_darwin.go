package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// BootID is a text that differs from boot to boot and stays the same within
// one: pids and start times of an earlier one mean nothing. It does not change
// with the clock or over a suspend.
//
// Source: kern.bootsessionuuid, bsd/kern/kern_sysctl.c of xnu.
func BootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	return id, nil
}

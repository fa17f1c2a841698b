package process

import (
	"fmt"
	"os"
	"strings"
)

// BootID is a text that differs from boot to boot and stays the same within
// one: pids and start times of an earlier one mean nothing. It does not change
// with the clock or over a suspend.
//
// Source: /proc/sys/kernel/random/boot_id, random(4).
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	id := strings.TrimSpace(string(b))
	if id == "" {
		return "", fmt.Errorf("reading the id of this boot: /proc/sys/kernel/random/boot_id is empty")
	}
	return id, nil
}

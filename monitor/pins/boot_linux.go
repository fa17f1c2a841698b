package pins

import (
	"os"
	"strings"
)

// bootID names this boot: start times count from it.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

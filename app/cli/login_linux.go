package cli

import (
	"os"
	"strings"
)

// loginID names the boot. Where the runtime directory tells logins apart, as
// systemd has it, that is what matters; elsewhere nothing tells them apart that
// is the same for a terminal, a desktop and a service of one login.
//
// Source: random(4), /proc/sys/kernel/random/boot_id.
func loginID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

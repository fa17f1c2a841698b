package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// tcpTable asks the kernel for all TCP sockets. The table may grow between the
// question for its length and the one for itself.
func tcpTable() ([]tcpEnd, error) {
	const name = "net.inet.tcp.pcblist_n"
	for tries := 0; ; tries++ {
		raw, err := unix.SysctlRaw(name)
		if err == nil {
			return parsePCBList(raw), nil
		}
		if tries == 3 || !errors.Is(err, unix.ENOMEM) {
			return nil, fmt.Errorf("sysctl %s: %w", name, err)
		}
	}
}

// isOurs tells whether an end is open in a process of our user.
func (e tcpEnd) isOurs() (bool, error) { return e.pid != 0 && e.uid == os.Getuid(), nil }

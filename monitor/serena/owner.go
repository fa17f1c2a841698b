package serena

import (
	"errors"
	"fmt"
	"os"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// TrayPort is where Serena expects a tray manager, on 127.0.0.1.
//
// Source: SerenaPorts.TRAY_MANAGER_PORT and SerenaDashboardTrayManager in
// serena/dashboard.py, the same from 1.5.3 to 2.1.0.
const TrayPort = 24224

// PortOwner checks that a process is alive, belongs to our user, is not this
// one and listens on a TCP port of the loopback interface, and returns who it
// is. The error is process.ErrNotListening when only the last does not hold.
func PortOwner(pid, port int) (monitor.Identity, error) {
	if pid == os.Getpid() {
		return monitor.Identity{}, errors.New("that process is lamplighter itself")
	}
	stat, err := process.ReadStat(pid)
	if err != nil {
		return monitor.Identity{}, err
	}
	if mine, err := process.SameUser(pid); err != nil {
		return monitor.Identity{}, err
	} else if !mine {
		return monitor.Identity{}, fmt.Errorf("process %d is another user's", pid)
	}
	err = process.ListensOn(process.Local(), port, pid)
	switch {
	case !process.Lives(process.Local(), stat.Identity):
		return monitor.Identity{}, fmt.Errorf("process %d has ended", pid)
	case err != nil:
		return monitor.Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return stat.Identity, nil
}

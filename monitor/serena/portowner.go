package serena

import (
	"errors"
	"fmt"
	"os"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// ErrNotListening says that a process does not listen on a port, or not yet.
var ErrNotListening = errors.New("does not listen there")

// PortOwner checks that a process is alive, belongs to our user, is not this
// one and listens on a TCP port of the loopback interface, and returns who it
// is. The error is ErrNotListening when only the last does not hold.
func PortOwner(pid, port int) (monitor.Identity, error) {
	if pid == os.Getpid() {
		return monitor.Identity{}, errors.New("that process is lamplighter itself")
	}
	stat, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, process.ErrGone) || err == nil && stat.State == process.Unreaped:
		return monitor.Identity{}, fmt.Errorf("there is no process %d", pid)
	case err != nil:
		return monitor.Identity{}, err
	}
	if mine, err := process.SameUser(pid); err != nil {
		return monitor.Identity{}, err
	} else if !mine {
		return monitor.Identity{}, fmt.Errorf("process %d is another user's", pid)
	}
	listeners, err := process.Listeners([]int{pid})
	if err != nil {
		return monitor.Identity{}, err
	}
	for _, n := range listeners {
		if a := n.Addr.Addr(); int(n.Addr.Port()) != port || !a.IsLoopback() && !a.IsUnspecified() {
			continue
		}
		if again, err := process.ReadStat(pid); err != nil || again.Identity != stat.Identity {
			return monitor.Identity{}, fmt.Errorf("process %d has just ended", pid)
		}
		return stat.Identity, nil
	}
	return monitor.Identity{}, fmt.Errorf("process %d %w (port %d of 127.0.0.1)", pid, ErrNotListening, port)
}

// isAlive reports whether a process still runs.
func isAlive(id monitor.Identity) bool {
	alive, err := process.Alive(process.Local(), id)
	return err == nil && alive
}

//go:build !linux

package process

import (
	"errors"
	"fmt"
	"math"
	"time"

	"lamplighter/monitor"
)

// What only Linux tells. Elsewhere it is not known which processes share a pipe;
// what remains of a link is whether the recorded client lives: ExitWatch.

func (e localEnds) Holder(client monitor.Identity) (holder Info, link monitor.Pipe, found bool, err error) {
	return Info{}, monitor.Pipe{}, false, fmt.Errorf("looking for what %d and %d share: %w", e.server.PID, client.PID, errors.ErrUnsupported)
}

func (e localEnds) Closed(monitor.Pipe) (bool, error) {
	return false, fmt.Errorf("looking at the link of process %d: %w", e.server.PID, errors.ErrUnsupported)
}

func (localEnds) HasUnixClients(servers []monitor.Identity) (bool, error) {
	return false, fmt.Errorf("looking for the unix sockets of %d processes: %w", len(servers), errors.ErrUnsupported)
}

func (e localEnds) Abandoned() (bool, error) {
	return false, fmt.Errorf("looking at the links of process %d: %w", e.server.PID, errors.ErrUnsupported)
}

func (localEnds) SameInput(monitor.Identity) bool { return true }

// MainThreadCPU is known on Linux only; elsewhere the error is
// errors.ErrUnsupported.
func (local) MainThreadCPU(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("reading the run time of process %d: %w", pid, errors.ErrUnsupported)
}

// Marked returns the processes of our user that were started with an
// environment in which name has this value. Only Linux tells; here the error is
// errors.ErrUnsupported.
func Marked(name, _ string) ([]monitor.Identity, error) {
	return nil, fmt.Errorf("looking for processes marked with %s: %w", name, errors.ErrUnsupported)
}

// sameNamespace is always true: only Linux counts processes in several ways, and has
// several networks.
func sameNamespace(int, string) (bool, error) { return true, nil }

// SharesPath is always true: only Linux shows processes other file systems.
func SharesPath(int, string) (bool, error) { return true, nil }

// mostHeld has no bound: what is held here takes no descriptor of ours.
func mostHeld() int { return math.MaxInt }

// exitAlarm does not exist here: all processes are polled. On macOS a kqueue
// could tell; one sysctl for each process twice a second does as well.
type exitAlarm struct{}

func newExitAlarm() *exitAlarm { return nil }

func (*exitAlarm) add(*Handle) error { return errors.ErrUnsupported }

func (*exitAlarm) start(func()) (stop func()) { return func() {} }

//go:build windows || darwin

package process

import (
	"errors"
	"fmt"

	"lamplighter/monitor"
)

// Neither system tells which processes share a pipe, so nothing is known about
// links. What remains is whether the recorded client lives: ExitWatch.

// FindHolder cannot be answered here: the error is errors.ErrUnsupported.
func FindHolder(server, client monitor.Identity) (holder Info, link Link, found bool, err error) {
	return Info{}, Link{}, false, fmt.Errorf("looking for what %d and %d share: %w", server.PID, client.PID, errors.ErrUnsupported)
}

// Closed cannot be answered here: the error is errors.ErrUnsupported.
func (l Link) Closed(server monitor.Identity) (bool, error) {
	return false, fmt.Errorf("looking at the link of process %d: %w", server.PID, errors.ErrUnsupported)
}

// HasUnixClients cannot be answered here: the error is errors.ErrUnsupported.
func HasUnixClients(servers, tree []monitor.Identity) (bool, error) {
	return false, fmt.Errorf("looking for the unix sockets of %d processes: %w", len(servers), errors.ErrUnsupported)
}

// Abandoned cannot be answered here: the error is errors.ErrUnsupported.
func Abandoned(server monitor.Identity) (bool, error) {
	return false, fmt.Errorf("looking at the links of process %d: %w", server.PID, errors.ErrUnsupported)
}

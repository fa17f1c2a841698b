//go:build !windows

package loopback

import "syscall"

const (
	errTaken     = syscall.EADDRINUSE    // somebody has the port
	errNoFamily  = syscall.EAFNOSUPPORT  // the system has no IPv6
	errNoAddress = syscall.EADDRNOTAVAIL // no interface has the address
)

// exclusive has nothing to do: a port that is listened on cannot be taken.
func exclusive(_, _ string, _ syscall.RawConn) error { return nil }

//go:build unix

package loopback

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	errTaken     = unix.EADDRINUSE    // somebody has the port
	errNoFamily  = unix.EAFNOSUPPORT  // the system has no IPv6
	errNoAddress = unix.EADDRNOTAVAIL // no interface has the address
)

// exclusive has nothing to do: a port that is listened on cannot be taken.
func exclusive(_, _ string, _ syscall.RawConn) error { return nil }

// severed tells that a connection was reset: only then it has no other end any
// more. Nobody else can have connected from the same address as long as it has
// one.
func severed(conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true // it is closed
	}
	var unconnected error
	err = raw.Control(func(fd uintptr) { _, unconnected = unix.Getpeername(int(fd)) })
	return err != nil || unconnected != nil
}

package loopback

import (
	"cmp"
	"net"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	errTaken     = windows.WSAEADDRINUSE    // somebody has the port
	errNoFamily  = windows.WSAEAFNOSUPPORT  // the system has no IPv6
	errNoAddress = windows.WSAEADDRNOTAVAIL // no interface has the address
)

// exclusive keeps others from taking the port from us while we have it: on
// Windows, Serena's own tray manager asks for an address that may be shared.
//
// Source: SO_EXCLUSIVEADDRUSE, which is ~SO_REUSEADDR (winsock2.h).
func exclusive(_, _ string, conn syscall.RawConn) error {
	var err error
	failed := conn.Control(func(fd uintptr) {
		err = windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, ^windows.SO_REUSEADDR, 1)
	})
	return cmp.Or(failed, err)
}

// severed is always false: what came before a reset is not given to who reads
// after it.
func severed(net.Conn) bool { return false }

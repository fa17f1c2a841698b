package api

import (
	"errors"
	"log/slog"
	"net"

	"lamplighter/app/config"
)

var (
	// ErrInUse: a live process answers on the control socket.
	ErrInUse = errors.New("a live process already serves it")
	// ErrUnsafe: the socket's directory, or what is at its path, cannot be trusted.
	ErrUnsafe = config.ErrNotPrivate
	// ErrPathTooLong: the path does not fit into a socket address.
	ErrPathTooLong = errors.New("its path is too long for a socket")
	// ErrNotAbsolute: the path means another place in every directory, or no
	// file at all, as Linux's abstract sockets do, which everybody may serve.
	// On Windows: it is not the name of a pipe.
	ErrNotAbsolute = errors.New("its path does not begin with " + pathBegin)

	errNoPlace = errors.New("the control socket has no place without a home directory; set LAMPLIGHTER_CONTROL_SOCKET")
)

// Listener is the control socket. Its Accept gives connections of this user
// only.
type Listener interface {
	net.Listener
	// Gone tells that the socket can no longer be reached by its path, because
	// somebody removed or replaced the file.
	Gone() bool
}

// Listen makes the control socket at path: on Windows a named pipe that only
// this user can open, elsewhere a Unix socket with mode 0600 in a directory
// that only this user can write to, which is made with mode 0700 when it does
// not exist. A socket file that nobody serves any more is replaced only when
// the caller holds the single-instance lock, because only then nobody else can
// be about to serve it. Refused connections are written to log.
//
// The error is, or wraps, ErrInUse, ErrUnsafe, ErrPathTooLong, ErrNotAbsolute or the system's
// own, and says what to do.
func Listen(path string, lockHeld bool, log *slog.Logger) (Listener, error) {
	if path == "" {
		return nil, errNoPlace
	}
	return listen(path, lockHeld, log)
}

// Package socket makes the private sockets of the background process, through
// which programs of the same user, and nobody else, reach it: Unix sockets, on
// Windows named pipes.
//
// What is said through them is the business of app/api and app/share/proxy.
package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"lamplighter/app/config"
)

var (
	// ErrInUse: a live process answers on the socket.
	ErrInUse = errors.New("a live process already serves it")
	// ErrUnsafe: the socket's directory, or what is at its path, cannot be trusted.
	ErrUnsafe = config.ErrNotPrivate
	// ErrPathTooLong: the path does not fit into a socket address.
	ErrPathTooLong = errors.New("its path is too long for a socket")
	// ErrNotAbsolute: the path means another place in every directory, or no
	// file at all, as Linux's abstract sockets do, which everybody may serve.
	// On Windows: it is not the name of a pipe.
	ErrNotAbsolute = errors.New("its path does not begin with " + pathBegin)
	// ErrNoPlace: there is no path.
	ErrNoPlace = errors.New("it has no place without a home directory")
)

// Place is where a socket is, and what it is called.
type Place struct {
	Path string // on Windows the name of a pipe; "" where there is no place for it
	Name string // in words: "control socket"
	Env  string // the variable that names another path
}

// Control is the place of the control socket, which the verbs of the command
// line talk to.
func Control(path string) Place {
	return Place{Path: path, Name: "control " + kind, Env: "LAMPLIGHTER_CONTROL_SOCKET"}
}

// Share is the place of the socket through which clients reach the servers that
// they share.
func Share(path string) Place {
	return Place{Path: path, Name: "share " + kind, Env: "LAMPLIGHTER_SOCKET"}
}

// String is the name and the path.
func (p Place) String() string { return p.Name + " " + p.Path }

func (p Place) check() error {
	if p.Path == "" {
		return fmt.Errorf("%w; set %s", ErrNoPlace, p.Env)
	}
	return checkPath(p)
}

// Listener is a private socket. Its Accept gives connections of this user
// only.
type Listener interface {
	net.Listener
	// Gone tells that the socket can no longer be reached by its path, because
	// somebody removed or replaced the file.
	Gone() bool
}

// Listen makes the socket: on Windows a named pipe that only this user can
// open, elsewhere a Unix socket with mode 0600 in a directory that only this
// user can write to, which is made with mode 0700 when it does not exist. A
// socket file that nobody serves any more is replaced only when the caller
// holds the single-instance lock, because only then nobody else can be about to
// serve it. Refused connections are written to log.
//
// The error is, or wraps, one of those above or the system's own, and says what
// to do.
func Listen(p Place, lockHeld bool, log *slog.Logger) (Listener, error) {
	if p.Path == "" {
		return nil, fmt.Errorf("the %s: %w", p.Name, p.check())
	}
	l, err := listen(p, lockHeld, log)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return l, nil
}

// Dial connects to a socket that our own user serves. Its errors are those of
// Listen.
func Dial(ctx context.Context, p Place) (net.Conn, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return dial(ctx, p.Path)
}

// PeerPID is the process that opened the other end of a connection that Accept
// gave, 0 for one that is not ours to see.
func PeerPID(conn net.Conn) (int, error) { return peerPID(conn) }

// HungUp reports whether an error of a connection says that the other end has
// closed it.
func HungUp(err error) bool { return hungUp(err) }

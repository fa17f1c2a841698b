//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/app/config"
)

// maxPath is what fits into sockaddr_un with its closing NUL: 107 bytes on
// Linux, 103 on macOS.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// pathBegin is what the path of a socket begins with.
const pathBegin = "/"

// kind is what is made here.
const kind = "socket"

func hungUp(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func listen(p Place, lockHeld bool, log *slog.Logger) (Listener, error) {
	if err := checkPath(p); err != nil {
		return nil, err
	}
	if err := config.MakePrivate(filepath.Dir(p.Path), p.Env); err != nil {
		return nil, err
	}
	if err := vacate(p, lockHeld); err != nil {
		return nil, err
	}
	inner, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// Go would remove whatever is at the path when the listener closes, also a
	// socket that somebody else has put there since.
	inner.SetUnlinkOnClose(false)
	l := &socket{UnixListener: inner, place: p, ours: true, uid: os.Getuid(), log: log}
	if err := errors.Join(os.Chmod(p.Path, 0o600), l.remember()); err != nil {
		inner.Close()
		return nil, err
	}
	return l, nil
}

// checkPath refuses a path that cannot be, or should not be, a socket's.
func checkPath(p Place) error {
	switch {
	case !filepath.IsAbs(p.Path):
		return fmt.Errorf("%w; set %s to one that does", ErrNotAbsolute, p.Env)
	case len(p.Path) > maxPath:
		return fmt.Errorf("%w (%d bytes, at most %d); set %s to a shorter one", ErrPathTooLong, len(p.Path), maxPath, p.Env)
	}
	return nil
}

// vacate makes room at path, or says who is there.
func vacate(p Place, lockHeld bool) error {
	path := p.Path
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%w: something that is not a socket lies there; remove it or set %s to another path", ErrUnsafe, p.Env)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("%w; stop that process or set %s to another path", ErrInUse, p.Env)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w, but it cannot be reached (%w); stop that process or set %s to another path", ErrInUse, err, p.Env)
	}
	if !lockHeld {
		return fmt.Errorf("nobody serves the socket that lies there, but without the lock it is not ours to remove; remove it: %w", err)
	}
	return os.Remove(path)
}

// socket is a Unix listener that refuses other users and knows its own file.
type socket struct {
	*net.UnixListener
	place Place
	ours  bool // we made the file, so that we remove it
	uid   int  // whose connections are accepted
	log   *slog.Logger
	file  fs.FileInfo

	refused int // by Accept alone
}

func (l *socket) remember() error {
	info, err := os.Lstat(l.place.Path)
	l.file = info
	return err
}

// Accept waits for the next connection of our own user. A refused one is
// logged when it is the first, and then by its count at each doubling.
func (l *socket) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(conn)
		if err == nil && uid == l.uid {
			return conn, nil
		}
		conn.Close()
		l.refused++
		switch {
		case l.refused&(l.refused-1) != 0:
		case err != nil:
			l.log.Warn("refused a connection to the "+l.place.Name+" from an unknown user", "error", err, "count", l.refused)
		default:
			l.log.Warn("refused a connection to the "+l.place.Name+" from another user", "uid", uid, "count", l.refused)
		}
	}
}

// Gone looks for the very file. Its number is given to no other while we listen:
// a socket holds the file that it is bound to, also when that is removed. Times
// say nothing, since whoever cleans up or restores may touch them.
func (l *socket) Gone() bool {
	info, err := os.Lstat(l.place.Path)
	return err != nil || !os.SameFile(info, l.file)
}

// Close also removes the socket's file, unless another one is there by now, or
// it was made by whoever gave us the socket.
func (l *socket) Close() error {
	if l.ours && !l.Gone() {
		if err := os.Remove(l.place.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("the "+l.place.Name+" was not removed", "error", err)
		}
	}
	return l.UnixListener.Close()
}

// dial connects to a socket of our own user.
func dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, err := peerUID(conn.(*net.UnixConn))
	if err == nil && uid != os.Getuid() {
		err = fmt.Errorf("%w: user id %d serves it", ErrUnsafe, uid)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// again makes another listener of an inherited socket. Closing one of them leaves
// the other.
func (l *socket) again() (Listener, error) {
	if l.ours {
		return l, nil
	}
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	defer file.Close() // the listener has its own descriptor
	inner, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	second := &socket{UnixListener: inner.(*net.UnixListener), place: l.place, uid: l.uid, log: l.log, file: l.file}
	second.SetUnlinkOnClose(false)
	return second, nil
}

// peerUID is the user who connected, or who serves the other end, as the
// kernel recorded it.
func peerUID(conn *net.UnixConn) (int, error) {
	uid, err := peerFact(conn, socketUID)
	if err != nil {
		return -1, fmt.Errorf("the other end's user is not known: %w", err)
	}
	return int(uid), nil
}

func peerPID(conn net.Conn) (int, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return peerFact(socket, socketPID)
}

// peerFact asks the kernel about the other end of a connection.
func peerFact[T any](conn *net.UnixConn, ask func(fd int) (T, error)) (fact T, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fact, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { fact, failed = ask(int(fd)) })
	return fact, errors.Join(err, failed)
}

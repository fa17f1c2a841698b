//go:build unix

package socket

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"lamplighter/app/config"
)

// inheritedName is what the socket is called where whoever starts us passes it:
// FileDescriptorName= in a unit of systemd, a key of Sockets in a property list of
// launchd.
const inheritedName = "share"

func inherited(p Place, log *slog.Logger) (Listener, error) {
	passed, err := passedFiles()
	if err != nil {
		return nil, fmt.Errorf("the %s that was passed on to us: %w", p.Name, err)
	}
	var taken *socket
	var refused []error
	for _, file := range passed {
		l, err := adopt(file, p, log)
		file.Close() // the listener has its own descriptor
		switch {
		case err != nil:
			refused = append(refused, fmt.Errorf("the socket %q that was passed on to us cannot be the %s: %w", file.Name(), p.Name, err))
		case taken != nil:
			l.Close()
			refused = append(refused, fmt.Errorf("a second socket %q was passed on to us; the first counts", file.Name()))
		default:
			taken = l
		}
	}
	if taken == nil {
		return nil, errors.Join(refused...)
	}
	for _, err := range refused {
		log.Warn("not used", "error", err)
	}
	return taken, nil
}

// adopt makes a listener of a descriptor that we were started with.
func adopt(file *os.File, p Place, log *slog.Logger) (_ *socket, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var listens int
	controlled := raw.Control(func(fd uintptr) {
		listens, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	})
	if err := errors.Join(controlled, err); err != nil {
		return nil, fmt.Errorf("it is no socket: %w", err)
	}
	made, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			made.Close()
		}
	}()
	inner, ok := made.(*net.UnixListener)
	if !ok || inner.Addr().Network() != "unix" || listens == 0 {
		return nil, errors.New("it is no Unix stream socket that listens")
	}
	inner.SetUnlinkOnClose(false)
	path := inner.Addr().String()
	if file.Name() != inheritedName && path != p.Path {
		return nil, fmt.Errorf("it is neither called %q nor at %s", inheritedName, p.Path)
	}
	p.Path = path
	if err := checkPath(p); err != nil {
		return nil, err
	}
	if err := config.MakePrivate(filepath.Dir(path), p.Env); err != nil {
		return nil, err
	}
	l := &socket{UnixListener: inner, place: p, uid: os.Getuid(), log: log}
	// systemd makes it for everybody unless its unit says otherwise.
	if err := errors.Join(os.Chmod(path, 0o600), l.remember()); err != nil {
		return nil, err
	}
	return l, nil
}

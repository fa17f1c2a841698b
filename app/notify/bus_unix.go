//go:build !windows && !darwin

package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

// Names of the Desktop Notifications Specification 1.2 (freedesktop.org) and of
// the bus.
const (
	serviceName = "org.freedesktop.Notifications"
	servicePath = "/org/freedesktop/Notifications"
	busIface    = "org.freedesktop.DBus"
	ownerEvent  = busIface + ".NameOwnerChanged"
	pressed     = serviceName + ".ActionInvoked"
	closed      = serviceName + ".NotificationClosed"
)

// dialLimit is how long the bus may take to answer before it counts as absent.
const dialLimit = 3 * time.Second

// errBusLost says that the session bus went away, as it does at the end of a
// session.
var errBusLost = errors.New("the connection to the session bus was closed")

// serve connects when there is something to show, so that nothing is done on a
// bus, or about one that is missing, before that.
func (n *Notifier) serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.queue.wake:
		}
		if !n.queue.shows() {
			continue
		}
		s, err := n.open(ctx)
		if err == nil {
			err = s.run(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errBusLost):
			n.complain("the session bus is gone", err)
		default:
			n.complain("no session bus", err)
		}
	}
}

// shows reports whether something is to be shown.
func (q *queue) shows() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.entries, func(e entry) bool { return !e.withdraw })
}

// open connects to the session bus, on a connection of our own: the shared one
// is closed by the tray.
func (n *Notifier) open(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	// The plain way to connect would start a bus of its own where there is
	// none, which nobody looks at and nobody ends.
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return nil, err
	}
	// A bus that does not answer is let go by closing its connection.
	mute := context.AfterFunc(ctx, func() { conn.Close() })
	s := newSession(n, conn)
	err = s.hello(ctx)
	if err != nil || !mute() {
		conn.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("it does not answer within %s: %w", monitor.Span(dialLimit), ctx.Err())
		}
		return nil, err
	}
	return s, nil
}

// hello makes the connection known to the bus and finds out who shows
// notifications now. Nobody is started by it.
func (s *session) hello(ctx context.Context) error {
	if err := s.conn.Auth(nil); err != nil {
		return err
	}
	if err := s.conn.Hello(); err != nil {
		return err
	}
	s.conn.Signal(s.signals)
	err := s.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(busIface), dbus.WithMatchInterface(busIface),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, serviceName))
	if err != nil {
		return err
	}
	err = s.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(serviceName), dbus.WithMatchInterface(serviceName),
		dbus.WithMatchObjectPath(servicePath))
	if err != nil {
		return err
	}
	err = s.conn.BusObject().CallWithContext(ctx, busIface+".GetNameOwner", 0, serviceName).Store(&s.owner)
	if is(err, "org.freedesktop.DBus.Error.NameHasNoOwner") {
		return nil
	}
	return err
}

// is reports whether err is one of these errors of D-Bus.
func is(err error, names ...string) bool {
	var e dbus.Error
	return errors.As(err, &e) && slices.Contains(names, e.Name)
}

// nobody reports whether err says that there is nobody who could have shown a
// notification: no service, one that cannot be started, or one that ended over
// it.
func nobody(err error) bool {
	const of = "org.freedesktop.DBus.Error."
	return is(err, of+"ServiceUnknown", of+"NameHasNoOwner", of+"NoReply", of+"Disconnected",
		of+"Spawn.ExecFailed", of+"Spawn.ForkFailed", of+"Spawn.ChildExited", of+"Spawn.ChildSignaled", of+"Spawn.Failed",
		of+"Spawn.FileInvalid", of+"Spawn.ServiceNotFound", of+"Spawn.ServiceNotValid", of+"TimedOut", of+"Timeout")
}

// iconOf is an icon as the service wants it: a name, or the address of a file.
func iconOf(icon string) string {
	if filepath.IsAbs(icon) {
		return (&url.URL{Scheme: "file", Path: icon}).String()
	}
	return icon
}

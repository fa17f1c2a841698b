//go:build !windows && !darwin

package tray

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

// Names of the StatusNotifierItem specification (freedesktop.org) and of
// dbusmenu, and the object that fyne.io/systray exports.
const (
	hostName   = "org.kde.StatusNotifierWatcher"
	hostPath   = "/StatusNotifierWatcher"
	itemPath   = "/StatusNotifierItem"
	menuPath   = "/StatusNotifierItem/menu"
	menuIface  = "com.canonical.dbusmenu"
	busIface   = "org.freedesktop.DBus"
	ownerEvent = "NameOwnerChanged"
)

// dialLimit is how long a bus may take to answer before it counts as absent.
const dialLimit = 3 * time.Second

const (
	// settleStep is how long the library takes to register its item and to watch for
	// hosts, generously.
	settleStep = 60 * time.Millisecond
	// restartLimit is how long a host may be away that restarts.
	restartLimit = 5 * time.Second
)

// available reports whether a tray icon can be shown here at all: nil, or an
// error that Is ErrNoBus. Whether the desktop has a place for it is another
// matter, which may change at any time; Serve waits for one.
func available() error {
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	// The plain way to connect would start a bus of its own where there is
	// none, which nobody looks at and nobody ends.
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err == nil {
		if err = conn.Auth(nil); err == nil {
			err = conn.Hello()
		}
		if err == nil {
			return conn.Close()
		}
		conn.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("the session bus does not answer within %s: log in again, then start lamplighter again", monitor.Span(dialLimit))
		}
	}
	return fmt.Errorf("%w, so there is no tray icon; everything else works (%w)", ErrNoBus, err)
}

// bus is the session bus, seen from the tray.
type bus struct {
	conn *dbus.Conn // the one that fyne.io/systray uses too
	menu *dbusMenu
}

func openBus() (*bus, error) {
	if err := available(); err != nil {
		return nil, err
	}
	conn, err := dbus.SessionBus()
	if err != nil { // it was there a moment ago
		return nil, fmt.Errorf("show the tray: %w: %w", ErrBusLost, err)
	}
	return &bus{conn: conn}, nil
}

// lost is closed when the bus is gone, or the tray has ended.
func (b *bus) lost() <-chan struct{} { return b.conn.Context().Done() }

// newMenu makes the menu, which hands on what panels tell until ended is closed.
func (b *bus) newMenu(ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent) lines {
	b.menu = newDBusMenu(b.conn, ended, clicks, events)
	return b.menu
}

// replaceMenu puts our menu in the place of the library's, which is on the bus. A
// host that has not taken note of the item soon after is told of it once more: one
// that appears between the library's only try and its watching for hosts would
// never hear of it.
func (b *bus) replaceMenu(ctx context.Context) {
	b.menu.serve()
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(settleStep):
			b.registerIfForgotten()
		}
	}()
}

// registerIfForgotten registers the item with a host that is there and does
// not list it.
func (b *bus) registerIfForgotten() {
	host := b.conn.Object(hostName, hostPath)
	var items []string
	if host.StoreProperty(hostName+".RegisteredStatusNotifierItems", &items) != nil {
		return // no host, or one that does not tell
	}
	for _, item := range items {
		for _, name := range b.conn.Names() {
			if strings.HasPrefix(item, name) {
				return
			}
		}
	}
	// A host that refuses is asked again by the library when it restarts.
	host.Call(hostName+".RegisterStatusNotifierItem", dbus.FlagNoAutoStart, itemPath)
}

// noPlace is what the user reads when the desktop has no host for icons.
const noPlace = "this desktop has no place for tray icons now; the icon appears when it gets one (on GNOME: the AppIndicator extension)"

// watchHost tells the user, once, when the desktop has no place for tray icons.
// The library registers with a host that appears or restarts.
func (b *bus) watchHost(ctx context.Context, tell func(string)) {
	signals := make(chan *dbus.Signal, 16)
	b.conn.Signal(signals)
	defer b.conn.RemoveSignal(signals)
	match := []dbus.MatchOption{
		dbus.WithMatchSender(busIface), dbus.WithMatchInterface(busIface),
		dbus.WithMatchMember(ownerEvent), dbus.WithMatchArg(0, hostName),
	}
	if err := b.conn.AddMatchSignalContext(ctx, match...); err != nil {
		return // the bus is gone, which the owner says
	}
	var there bool
	if err := b.conn.BusObject().CallWithContext(ctx, busIface+".NameHasOwner", 0, hostName).Store(&there); err != nil {
		return
	}
	gone := time.NewTimer(0) // for so long that it is worth a word, which a restart is not
	if there {
		gone.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-gone.C:
			tell(noPlace)
			return
		case sig, ok := <-signals:
			if !ok || sig == nil {
				return
			}
			if sig.Name != busIface+"."+ownerEvent || len(sig.Body) < 3 || sig.Body[0] != hostName {
				continue // about something else
			}
			if owner, _ := sig.Body[2].(string); owner == "" {
				gone.Reset(restartLimit)
			} else {
				gone.Stop()
			}
		}
	}
}

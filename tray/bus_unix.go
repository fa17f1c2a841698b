//go:build !windows && !darwin

package tray

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

// Names of the StatusNotifierItem specification (freedesktop.org) and of
// dbusmenu, and the object that fyne.io/systray exports.
const (
	hostName  = "org.kde.StatusNotifierWatcher"
	hostPath  = "/StatusNotifierWatcher"
	itemPath  = "/StatusNotifierItem"
	menuPath  = "/StatusNotifierItem/menu"
	menuIface = "com.canonical.dbusmenu"
)

// dialLimit is how long a bus may take to answer before it counts as absent.
const dialLimit = 3 * time.Second

// settleStep is how long the library takes to register its item and to watch for
// hosts, generously.
const settleStep = 60 * time.Millisecond

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
	tell func(string) // the user
}

func openBus(tell func(string)) (*bus, error) {
	if err := available(); err != nil {
		return nil, err
	}
	conn, err := dbus.SessionBus()
	if err != nil { // it was there a moment ago
		return nil, fmt.Errorf("show the tray: %w: %w", ErrBusLost, err)
	}
	return &bus{conn: conn, tell: tell}, nil
}

// lost is closed when the bus is gone, or the tray has ended.
func (b *bus) lost() <-chan struct{} { return b.conn.Context().Done() }

// newMenu makes the menu, which hands on what panels tell until ended is closed.
func (b *bus) newMenu(ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent) lines {
	b.menu = &dbusMenu{conn: b.conn, ended: ended, clicks: clicks, events: events, revision: 1, readers: map[dbus.Sender]*time.Timer{}}
	return b.menu
}

// noPlace is what the user reads when the desktop has no host for icons.
const noPlace = "this desktop has no place for tray icons now; the icon appears when it gets one (on GNOME: the AppIndicator extension)"

// replaceMenu puts our menu in the place of the library's, which is on the bus, and looks
// for the host soon after: the user is told when there is none. The library registers with
// one that appears or restarts.
func (b *bus) replaceMenu(ctx context.Context) {
	b.menu.serve()
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(settleStep):
			b.lookForHost()
		}
	}()
}

// lookForHost tells the user when the desktop has no place for icons. A host that does not
// list the item is told of it once more: one that appears between the library's only try
// and its watching for hosts would never hear of it.
func (b *bus) lookForHost() {
	var there bool
	if b.conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, hostName).Store(&there) != nil {
		return // the bus is gone, which the owner says
	}
	if !there {
		b.tell(noPlace)
		return
	}
	host := b.conn.Object(hostName, hostPath)
	var items []string
	if host.StoreProperty(hostName+".RegisteredStatusNotifierItems", &items) != nil || lists(items, b.conn.Names()) {
		return // it does not tell, or lists the item
	}
	// A host that refuses is asked again by the library when it restarts.
	host.Call(hostName+".RegisterStatusNotifierItem", dbus.FlagNoAutoStart, itemPath)
}

// lists reports whether a host has an item of one of these names on the bus. KDE says
// NAME/PATH, GNOME NAME@PATH or NAME; each name of ours ends with a number.
func lists(items, names []string) bool {
	return slices.ContainsFunc(items, func(item string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			rest, ours := strings.CutPrefix(item, name)
			return ours && (rest == "" || rest[0] < '0' || rest[0] > '9')
		})
	})
}

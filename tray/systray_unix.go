//go:build !windows && !darwin

package tray

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/systray"
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

// desktop is the painter that draws with fyne.io/systray, and the menu on the session bus.
// The setters of the library never compare and each repaints, so it must only be given what
// changed; they are not safe beside each other, so only the owner calls it.
type desktop struct {
	menu *dbusMenu
	lost <-chan struct{} // closed when the bus is gone, or the tray has ended
	tell func(string)    // the user
}

// openDesktop returns a desktop that hands on clicks on lines, and what panels tell of the
// menu, until ended is closed.
func openDesktop(ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent, tell func(string)) (*desktop, error) {
	if err := available(); err != nil {
		return nil, err
	}
	conn, err := dbus.SessionBus() // the one that fyne.io/systray uses too
	if err != nil {                // it was there a moment ago
		return nil, fmt.Errorf("show the tray: %w: %w", ErrBusLost, err)
	}
	menu := &dbusMenu{conn: conn, ended: ended, clicks: clicks, events: events, revision: 1, readers: map[dbus.Sender]*time.Timer{}}
	return &desktop{menu, conn.Context().Done(), tell}, nil
}

// run shows the tray until show ends, whose error it returns. prepare makes the
// menu, and show may change it.
//
// The menu is made before the item is on the bus: that costs no
// signal, and the library cannot lose the first icon and title, which it does
// now and then when they are set while it exports its properties.
func (d *desktop) run(ctx context.Context, prepare func(), show func(context.Context) error) (err error) {
	// Elsewhere this is text beside the icon. Here it is its name, by which a panel
	// remembers what its user decided about it.
	systray.SetTitle("Lamplighter")
	prepare()
	start, end := systray.RunWithExternalLoop(nil, nil)
	defer func() {
		// The library has no errors to return. When the bus dies while it connects, it
		// panics at its end. Whatever else panics is for the caller.
		defer func() {
			if p := recover(); p != nil {
				err = errors.Join(err, fmt.Errorf("run the tray: %v: %w", p, ErrBusLost))
			}
		}()
		end()
	}()
	start() // which has exported all when it returns
	d.menu.serve()
	go d.lookForHost(ctx)
	return show(ctx)
}

// noPlace is what the user reads when the desktop has no host for icons.
const noPlace = "this desktop has no place for tray icons now; the icon appears when it gets one (on GNOME: the AppIndicator extension)"

// lookForHost looks for the host soon after the start, and tells the user when the desktop
// has no place for icons. The library registers with a host that appears or restarts later.
// A host that does not list the item is told of it once more: one that appears between the
// library's only try and its watching for hosts would never hear of it.
func (d *desktop) lookForHost(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(settleStep):
	}
	conn, there := d.menu.conn, false
	if conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, hostName).Store(&there) != nil {
		return // the bus is gone, which the owner says
	}
	if !there {
		d.tell(noPlace)
		return
	}
	host := conn.Object(hostName, hostPath)
	var items []string
	if host.StoreProperty(hostName+".RegisteredStatusNotifierItems", &items) != nil || lists(items, conn.Names()) {
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

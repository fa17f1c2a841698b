//go:build unix && !darwin

package doctor

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
)

// A private bus with a watcher for icons and without one, and no bus.
func TestDesktopOnBus(t *testing.T) {
	m := newMachine(t)
	apptest.Contains(t, said(m.of(t, Desktop)), "no desktop session here")
	address, kill := traytest.StartBus(t)
	bare := m.o.Environ
	m.o.Environ = append(bare, "DBUS_SESSION_BUS_ADDRESS="+address, "XDG_CURRENT_DESKTOP=GNOME", "DISPLAY=:9")
	apptest.Contains(t, said(m.of(t, Desktop)), "ok: the session bus answers", "warn: this desktop has no place for tray icons", "AppIndicator")

	host := traytest.NewHost(t, address)
	host.Appear(t)
	apptest.Contains(t, said(m.of(t, Desktop)), "ok: the desktop has a place for tray icons (doctor.test)")
	host.Vanish(t)

	// A watcher that knows of no panel.
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := prop.Export(conn, watcherPath, prop.Map{watcherName: {"IsStatusNotifierHostRegistered": {Value: false}}}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Export(notifier{}, notifierPath, notifierName); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{watcherName, notifierName} {
		if r, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
			t.Fatal(r, err)
		}
	}
	apptest.Contains(t, said(m.of(t, Desktop)), "no panel shows them (doctor.test)", "ok: notifications are shown by test 1.0")
	kill()
	apptest.Contains(t, said(m.of(t, Desktop)), "warn: there is no session bus")
}

// notifier shows no notification, but says who it is.
type notifier struct{}

func (notifier) GetServerInformation() (name, vendor, version, spec string, err *dbus.Error) {
	return "test", "us", "1.0", "1.2", nil
}

// A bus that takes connections and says nothing.
func TestMuteBus(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.home, "run", "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m.o.Environ = append(m.o.Environ, "DISPLAY=:9")
	apptest.Contains(t, said(m.of(t, Desktop)), "broken: the session bus does not answer")
}

//go:build !windows && !darwin

package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Names of the StatusNotifierItem and Notifications specifications
// (freedesktop.org) and of the bus itself.
const (
	watcherName  = "org.kde.StatusNotifierWatcher"
	watcherPath  = "/StatusNotifierWatcher"
	notifierName = "org.freedesktop.Notifications"
	notifierPath = "/org/freedesktop/Notifications"
	busIface     = "org.freedesktop.DBus"
)

// busLimit is how long a bus may take to answer before it counts as mute.
const busLimit = 3 * time.Second

func gatherDesktop(ctx context.Context, w world) desktopFacts {
	f := desktopFacts{
		hidden:  w.settings.TrayIcon == config.TrayIconHidden,
		display: variable(w.environ, "DISPLAY") != "" || variable(w.environ, "WAYLAND_DISPLAY") != "",
		name:    variable(w.environ, "XDG_CURRENT_DESKTOP"),
	}
	address := busAddress(w.environ)
	if address == "" {
		f.bus = "DBUS_SESSION_BUS_ADDRESS is not set, and there is no bus in XDG_RUNTIME_DIR"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, busLimit)
	defer cancel()
	conn, err := dialBus(ctx, address)
	if err != nil {
		f.bus = err.Error()
		f.mute = ctx.Err() != nil
		return f
	}
	defer conn.Close()
	f.ask(ctx, conn)
	f.mute = errors.Is(ctx.Err(), context.DeadlineExceeded)
	return f
}

// busAddress is where a process with this environment finds its session bus,
// "" for nowhere. An address that would start a bus is none.
//
// Source: dbus-daemon(1) and sd_bus_default(3).
func busAddress(environ []string) string {
	if v := variable(environ, "DBUS_SESSION_BUS_ADDRESS"); v != "" && !strings.HasPrefix(v, "autolaunch:") {
		return v
	}
	if dir := variable(environ, "XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		path := filepath.Join(dir, "bus")
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return "unix:path=" + path
		}
	}
	return ""
}

func dialBus(ctx context.Context, address string) (*dbus.Conn, error) {
	conn, err := dbus.Dial(address, dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	// A bus that does not answer is let go by closing its connection.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := conn.Auth(nil); err != nil {
		conn.Close()
		return nil, err
	}
	if err := conn.Hello(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// ask asks the bus who is there. Nothing is started by it.
func (f *desktopFacts) ask(ctx context.Context, conn *dbus.Conn) {
	has := func(name string) (there bool) {
		return conn.BusObject().CallWithContext(ctx, busIface+".NameHasOwner", 0, name).Store(&there) == nil && there
	}
	if f.watcher = has(watcherName); f.watcher {
		f.watcherIs = ownerOf(ctx, conn, watcherName)
		var shown dbus.Variant
		err := conn.Object(watcherName, watcherPath).CallWithContext(ctx, busIface+".Properties.Get", dbus.FlagNoAutoStart,
			watcherName, "IsStatusNotifierHostRegistered").Store(&shown)
		told, is := shown.Value().(bool)
		f.host = err != nil || !is || told // one that does not tell is believed
	}
	if f.notifier = has(notifierName); f.notifier {
		var name, vendor, version, spec string
		err := conn.Object(notifierName, notifierPath).CallWithContext(ctx, notifierName+".GetServerInformation", dbus.FlagNoAutoStart).
			Store(&name, &vendor, &version, &spec)
		if err == nil {
			f.notifierIs = strings.TrimSpace(monitor.Shorten(monitor.Clean(name), 40) + " " + monitor.Shorten(monitor.Clean(version), 20))
		}
		return
	}
	var startable []string
	if conn.BusObject().CallWithContext(ctx, busIface+".ListActivatableNames", 0).Store(&startable) == nil {
		f.notifier = slices.Contains(startable, notifierName)
	}
}

// ownerOf is the program that has a name, "" when that is not known.
func ownerOf(ctx context.Context, conn *dbus.Conn, name string) string {
	var pid uint32
	if conn.BusObject().CallWithContext(ctx, busIface+".GetConnectionUnixProcessID", 0, name).Store(&pid) != nil {
		return ""
	}
	info, err := process.Read(int(pid))
	if err != nil {
		return ""
	}
	return monitor.Shorten(monitor.Clean(info.Name), 40)
}

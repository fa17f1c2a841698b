package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

// systemdLimit is how long one manager may take to answer.
const systemdLimit = 2 * time.Second

// systemdName is the name of a manager on its bus; org.freedesktop.systemd1(5).
const systemdName = "org.freedesktop.systemd1"

// askSystemd asks the manager of a unit for its main process, 0 when it has
// none.
//
// A path that does not show whose unit it is (seen from inside a control group
// namespace) may be of either manager, so both are asked.
func askSystemd(ctx context.Context, u unit) (int, error) {
	me := os.Getuid()
	if u.user >= 0 && u.user != me {
		return 0, fmt.Errorf("it is run by the manager of user %d, who is not us", u.user)
	}
	ask := []func(context.Context) (*dbus.Conn, error){dialUserManager, dialUserBus}
	if u.user < 0 {
		ask = append([]func(context.Context) (*dbus.Conn, error){dialSystemBus}, ask...)
	}
	var failed error
	for _, dial := range ask {
		pid, err := askManager(ctx, dial, u.name)
		if err == nil {
			return pid, nil
		}
		failed = errors.Join(failed, err)
	}
	return 0, failed
}

func askManager(ctx context.Context, dial func(context.Context) (*dbus.Conn, error), name string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, systemdLimit)
	defer cancel()
	conn, err := dial(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	var path dbus.ObjectPath
	manager := conn.Object(systemdName, "/org/freedesktop/systemd1")
	err = manager.CallWithContext(ctx, systemdName+".Manager.GetUnit", dbus.FlagNoAutoStart, name).Store(&path)
	if err != nil {
		return 0, fmt.Errorf("looking for the unit: %w", err)
	}
	var pid uint32
	err = conn.Object(systemdName, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get",
		dbus.FlagNoAutoStart, systemdName+".Service", "MainPID").Store(&pid)
	if err != nil {
		return 0, fmt.Errorf("reading MainPID: %w", err)
	}
	return int(pid), nil
}

// dialUserManager reaches the manager of our user directly, without a bus.
func dialUserManager(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.Dial("unix:path="+runtimeDir()+"/systemd/private", dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("connecting to the service manager of our user: %w", err)
	}
	if err := conn.Auth(nil); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connecting to the service manager of our user: %w", err)
	}
	return conn, nil
}

func dialUserBus(ctx context.Context) (*dbus.Conn, error) {
	address := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if address == "" {
		address = "unix:path=" + runtimeDir() + "/bus"
	}
	return dialBus(ctx, "session", address)
}

func dialSystemBus(ctx context.Context) (*dbus.Conn, error) {
	address := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	if address == "" {
		address = "unix:path=/run/dbus/system_bus_socket"
	}
	return dialBus(ctx, "system", address)
}

func dialBus(ctx context.Context, name, address string) (*dbus.Conn, error) {
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("connecting to the %s bus: %w", name, err)
	}
	return conn, nil
}

// runtimeDir is where the sockets of our user are, escaped as D-Bus wants it in
// an address.
func runtimeDir() string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = "/run/user/" + strconv.Itoa(os.Getuid())
	}
	return dbus.EscapeBusAddressValue(dir)
}

package process

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
	"lamplighter/tray/traytest"
)

func TestServiceOfAControlGroup(t *testing.T) {
	const user = "/user.slice/user-1000.slice/user@1000.service"
	for _, c := range []struct {
		name, in string
		want     service
	}{
		{"system service", "0::/system.slice/nginx.service\n", service{"nginx.service", false}},
		{"an instance of a template", "0::/system.slice/system-x.slice/x@a\\x2db.service\n", service{"x@a\\x2db.service", false}},
		{"user service", "0::" + user + "/app.slice/mcp.service\n", service{"mcp.service", true}},
		{"desktop program", "0::" + user + "/app.slice/app-org.kde.konsole@0123.service\n", service{"app-org.kde.konsole@0123.service", true}},
		{"terminal of GNOME", "0::" + user + "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope\n", service{}},
		{"login session", "0::/user.slice/user-1000.slice/session-2.scope\n", service{}},
		{"below a service", "0::" + user + "/app.slice/a.service/payload/b.scope\n", service{"a.service", true}},
		{"a service within a service", "0::/system.slice/outer.service/inner.service\n", service{"inner.service", false}},
		{"the manager of a user within a service", "0::/system.slice/outer.service/user@1000.service/init.scope\n", service{}},
		{"escaped", "0::/system.slice/_cgroup.service\n", service{"cgroup.service", false}},
		{"version 1", "12:cpuset:/\n3:cpu,cpuacct:/system.slice/wrong.service\n1:name=systemd:/system.slice/x.service\n", service{"x.service", false}},
		{"both versions", "1:name=systemd:/system.slice/x.service\n0::/system.slice/x.service\n", service{"x.service", false}},
		{"root", "0::/\n", service{}},
		{"colons", "0::/a:b/c:d.service\n", service{"c:d.service", false}},
		{"not a name", "0::/.service/_.service\n", service{}},
		{"docker", "0::/system.slice/docker-0123.scope\n", service{}},
		{"nothing", "", service{}},
		{"nonsense", "x\n:\n::\n0:\n", service{}},
	} {
		if got := readService(c.in); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// fakeService is a process of a fake /proc with its control group.
type fakeService struct {
	pid, parent int
	comm        string
	cgroup      string
}

func fakeServices(t *testing.T, list ...fakeService) procfs {
	t.Helper()
	f := newFakeProc(t, t.TempDir())
	for _, p := range list {
		f.put(p.pid, fakeProcess{start: uint64(p.pid * 10), name: p.comm, parent: p.parent})
		f.write(p.pid, "cgroup", p.cgroup)
	}
	return procfs{f.root}
}

func TestServiceOf(t *testing.T) {
	const below = "0::/user.slice/user-1000.slice/user@1000.service/"
	const scope, app = below + "app.slice/term.scope\n", below + "app.slice/app.service\n"
	manager := fakeService{pid: 90, parent: 1, comm: "systemd", cgroup: below + "init.scope\n"}
	for _, c := range []struct {
		name string
		tree []fakeService
		main map[string]int // MainPID by unit; what is missing cannot be asked
		want string
		err  bool
	}{
		{"a terminal", []fakeService{{10, 5, "uvx", scope}, {11, 10, "python", scope}}, nil, "", false},
		{"left behind in a terminal", []fakeService{{10, 90, "python", scope}}, nil, "", false},
		{"the main process", []fakeService{{10, 90, "python", app}}, map[string]int{"app.service": 10}, "app.service", false},
		{"the main process below a wrapper", []fakeService{{10, 90, "sh", app}, {11, 10, "python", app}}, map[string]int{"app.service": 11}, "app.service", false},
		{"below a program of the desktop", []fakeService{{10, 5, "python", app}}, map[string]int{"app.service": 5}, "", false},
		{"left behind in it", []fakeService{{10, 90, "python", app}}, map[string]int{"app.service": 5}, "", false},
		{"without a main process", []fakeService{{10, 5, "python", app}}, map[string]int{"app.service": 0}, "", false},
		{"systemd cannot be asked, a child of the desktop's program", []fakeService{{10, 5, "python", app}}, nil, "", false},
		{"systemd cannot be asked, a child of systemd", []fakeService{{10, 90, "python", app}}, nil, "", true},
		{"systemd cannot be asked, a child of the first process", []fakeService{{10, 1, "python", "0::/system.slice/x.service\n"}}, nil, "", true},
		{"a child that is a service", []fakeService{{10, 5, "python", scope}, {11, 90, "x", app}}, map[string]int{"app.service": 11}, "app.service", false},
	} {
		fs := fakeServices(t, append(c.tree, manager, fakeService{5, 90, "konsole", app})...)
		ask := func(_ context.Context, pid int, ofUser bool) (int, error) {
			main, ok := c.main["app.service"]
			if !ok || !ofUser || !slices.ContainsFunc(c.tree, func(p fakeService) bool { return p.pid == pid && p.cgroup == app }) {
				return 0, errors.New("no bus")
			}
			return main, nil
		}
		var tree []monitor.Identity
		for _, p := range c.tree {
			tree = append(tree, monitor.Identity{PID: p.pid, Start: uint64(p.pid * 10)})
		}
		gone := monitor.Identity{PID: 5, Start: 1}
		got, err := fs.serviceOf(t.Context(), append(tree, gone, monitor.Identity{PID: 999}), ask)
		if got != c.want || (err != nil) != c.err || errors.Is(err, ErrGone) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if _, err := fs.serviceOf(t.Context(), []monitor.Identity{gone}, ask); !errors.Is(err, ErrGone) {
			t.Errorf("a tree that is gone: %v", err)
		}
	}
}

const systemdName = "org.freedesktop.systemd1"

// fakeManager is systemd on a bus, which has pids in one unit.
type fakeManager struct {
	pids []uint32
	main uint32
}

const fakeUnit dbus.ObjectPath = "/org/freedesktop/systemd1/unit/x_2eservice"

func (m fakeManager) GetUnitByPID(pid uint32) (dbus.ObjectPath, *dbus.Error) {
	if !slices.Contains(m.pids, pid) {
		return "", dbus.NewError(systemdName+".NoUnitForPID", []any{"PID does not belong to any loaded unit."})
	}
	return fakeUnit, nil
}

func (m fakeManager) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	if iface != systemdName+".Service" || name != "MainPID" {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
	}
	return dbus.MakeVariant(m.main), nil
}

func (m fakeManager) run(t *testing.T, address string) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	err = errors.Join(
		conn.Export(m, "/org/freedesktop/systemd1", systemdName+".Manager"),
		conn.Export(m, fakeUnit, "org.freedesktop.DBus.Properties"))
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(systemdName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

func TestAskSystemd(t *testing.T) {
	session, _ := traytest.StartBus(t)
	system, _ := traytest.StartBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", system)
	for _, ofUser := range []bool{false, true} {
		if main, err := askSystemd(t.Context(), 10, ofUser); main != 0 || err == nil {
			t.Errorf("without a manager: %d, %v", main, err)
		}
	}
	fakeManager{[]uint32{10, 11}, 10}.run(t, session)
	fakeManager{[]uint32{20}, 0}.run(t, system)
	for pid, want := range map[int]int{10: 10, 11: 10, 20: 0} {
		ofUser := pid != 20
		eventually(t, "its manager answers", func() bool { // an answer that takes longer than two seconds is none
			main, err := askSystemd(t.Context(), pid, ofUser)
			return main == want && err == nil
		})
		if main, err := askSystemd(t.Context(), pid, !ofUser); main != 0 || err == nil {
			t.Errorf("the other manager of %d: %d, %v", pid, main, err)
		}
	}
}

func TestAskSystemdOverASilentBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path) // nobody ever accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+path)
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	for _, ofUser := range []bool{false, true} {
		if main, err := askSystemd(ctx, 1, ofUser); main != 0 || err == nil {
			t.Errorf("%d, %v", main, err)
		}
	}
}

func TestServiceOfThisMachine(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	if got, err := serviceOf(t.Context(), []monitor.Identity{sleeper(t)}); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := serviceOf(t.Context(), []monitor.Identity{{PID: unused(t)}}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if got, err := serviceOf(t.Context(), nil); got != "" || err != nil {
		t.Errorf("an empty tree: %q, %v", got, err)
	}
}

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

const containerID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseCgroups(t *testing.T) {
	const user = "/user.slice/user-1000.slice/user@1000.service"
	for _, c := range []struct {
		name, in  string
		service   string // unit, user
		container string
	}{
		{"system service", "0::/system.slice/nginx.service\n", "nginx.service -1", ""},
		{"an instance of a template", "0::/system.slice/system-x.slice/x@a\\x2db.service\n", "x@a\\x2db.service -1", ""},
		{"user service", "0::" + user + "/app.slice/mcp.service\n", "mcp.service 1000", ""},
		{"desktop program", "0::" + user + "/app.slice/app-org.kde.konsole@0123.service\n", "app-org.kde.konsole@0123.service 1000", ""},
		{"terminal of GNOME", "0::" + user + "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope\n", "user@1000.service -1", ""},
		{"login session", "0::/user.slice/user-1000.slice/session-2.scope\n", "", ""},
		{"below a service", "0::" + user + "/app.slice/a.service/payload/b.scope\n", "a.service 1000", ""},
		{"a service within a service", "0::/system.slice/outer.service/inner.service\n", "inner.service -1", ""},
		{"escaped", "0::/system.slice/_cgroup.service\n", "cgroup.service -1", ""},
		{"version 1", "12:cpuset:/\n3:cpu,cpuacct:/system.slice/wrong.service\n1:name=systemd:/system.slice/x.service\n", "x.service -1", ""},
		{"both versions", "1:name=systemd:/system.slice/x.service\n0::/system.slice/x.service\n", "x.service -1", ""},
		{"root", "0::/\n", "", ""},
		{"colons", "0::/a:b/c:d.service\n", "c:d.service -1", ""},
		{"not a name", "0::/.service/_.service\n", "", ""},
		{"docker with systemd", "0::/system.slice/docker-" + containerID + ".scope\n", "", "docker-" + containerID + ".scope"},
		{"docker with version 1", "4:memory:/docker/" + containerID + "\n1:name=systemd:/docker/" + containerID + "\n", "", containerID},
		{"podman", "0::" + user + "/user.slice/libpod-" + containerID + ".scope/container\n", "user@1000.service -1", "libpod-" + containerID + ".scope"},
		{"podman's monitor", "0::" + user + "/user.slice/libpod-conmon-" + containerID + ".scope\n", "user@1000.service -1", ""},
		{"kubernetes", "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + containerID + ".scope\n", "", "cri-containerd-" + containerID + ".scope"},
		{"lxc", "0::/lxc.payload.box/init.scope\n", "", "lxc.payload.box"},
		{"nspawn", "0::/machine.slice/machine-box.scope/payload/system.slice/x.service\n", "x.service -1", "machine-box.scope"},
		{"nothing", "", "", ""},
		{"nonsense", "x\n:\n::\n0:\n", "", ""},
	} {
		g := parseCgroups([]byte(c.in))
		service := ""
		if g.service != (unit{}) {
			service = fmt.Sprint(g.service.name, " ", g.service.user)
		}
		if service != c.service || g.container != c.container {
			t.Errorf("%s: %q, %q", c.name, service, g.container)
		}
	}
}

func FuzzParseCgroups(f *testing.F) {
	f.Add([]byte("0::/user.slice/user-1000.slice/user@1000.service/app.slice/mcp.service\n"))
	f.Add([]byte("4:memory:/docker/" + containerID + "\n1:name=systemd:/docker/" + containerID + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := parseCgroups(b)
		if g.service != (unit{}) && (!strings.HasSuffix(g.service.name, ".service") || strings.Contains(g.service.name, "/")) {
			t.Errorf("%q: %+v", b, g)
		}
	})
}

// fakeService is a process of a fake /proc with its control group.
type fakeService struct {
	pid, parent int
	comm        string
	cgroup      string
}

func fakeServices(t *testing.T, own string, list ...fakeService) procfs {
	t.Helper()
	f := newFakeProc(t, t.TempDir())
	f.must(os.WriteFile(filepath.Join(f.root, "self", "cgroup"), []byte(own), 0o644))
	for _, p := range list {
		dir := filepath.Join(f.root, strconv.Itoa(p.pid))
		f.must(os.MkdirAll(dir, 0o755))
		stat := fmt.Sprintf("%d (%s) S %d 7 7 0 -1 0 0 0 0 0 250 50 0 0 20 0 1 0 %d 4096000 321 1 2 3 4 0 0\n", p.pid, p.comm, p.parent, p.pid*10)
		f.must(os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644))
		f.must(os.WriteFile(filepath.Join(dir, "cgroup"), []byte(p.cgroup), 0o644))
	}
	return procfs{f.root}
}

func TestServiceOf(t *testing.T) {
	const below = "0::/user.slice/user-1000.slice/user@1000.service/"
	const scope, app = below + "app.slice/term.scope\n", below + "app.slice/app.service\n"
	docker := "0::/system.slice/docker-" + containerID + ".scope\n"
	manager := fakeService{pid: 90, parent: 1, comm: "systemd", cgroup: below + "init.scope\n"}
	for _, c := range []struct {
		name string
		own  string
		tree []fakeService
		main map[string]int // MainPID by unit; what is missing cannot be asked
		want string
		err  bool
	}{
		{"a terminal", scope, []fakeService{{10, 5, "uvx", scope}, {11, 10, "python", scope}}, nil, "", false},
		{"left behind in a terminal", scope, []fakeService{{10, 90, "python", scope}}, nil, "", false},
		{"the main process", scope, []fakeService{{10, 90, "python", app}}, map[string]int{"app.service": 10}, "app.service", false},
		{"the main process below a wrapper", scope, []fakeService{{10, 90, "sh", app}, {11, 10, "python", app}}, map[string]int{"app.service": 11}, "app.service", false},
		{"below a program of the desktop", scope, []fakeService{{10, 5, "python", app}}, map[string]int{"app.service": 5}, "", false},
		{"left behind in it", scope, []fakeService{{10, 90, "python", app}}, map[string]int{"app.service": 5}, "", false},
		{"without a main process", scope, []fakeService{{10, 5, "python", app}}, map[string]int{"app.service": 0}, "", false},
		{"systemd cannot be asked, a child of the desktop's program", scope, []fakeService{{10, 5, "python", app}}, nil, "", false},
		{"systemd cannot be asked, a child of systemd", scope, []fakeService{{10, 90, "python", app}}, nil, "", true},
		{"systemd cannot be asked, a child of the first process", scope, []fakeService{{10, 1, "python", "0::/system.slice/x.service\n"}}, nil, "", true},
		{"a child that is a service", scope, []fakeService{{10, 5, "python", scope}, {11, 90, "x", app}}, map[string]int{"app.service": 11}, "app.service", false},
		{"in a container", scope, []fakeService{{10, 5, "python", docker}}, nil, "docker-" + containerID + ".scope", false},
		{"in our own container", docker, []fakeService{{10, 5, "python", docker}}, nil, "", false},
	} {
		fs := fakeServices(t, c.own, append(c.tree, manager, fakeService{5, 90, "konsole", app})...)
		s := services{fs: fs, mainPID: func(_ context.Context, u unit) (int, error) {
			if pid, ok := c.main[u.name]; ok {
				return pid, nil
			}
			return 0, errors.New("no bus")
		}}
		var tree []monitor.Identity
		for _, p := range c.tree {
			tree = append(tree, monitor.Identity{PID: p.pid, Start: uint64(p.pid * 10)})
		}
		gone := monitor.Identity{PID: 5, Start: 1}
		got, err := s.of(t.Context(), append(tree, gone, monitor.Identity{PID: 999}))
		if got != c.want || (err != nil) != c.err || errors.Is(err, ErrGone) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if _, err := s.of(t.Context(), []monitor.Identity{gone}); !errors.Is(err, ErrGone) {
			t.Errorf("a tree that is gone: %v", err)
		}
	}
}

// fakeManager is systemd on a bus, with one unit.
type fakeManager struct{ unit string }

func (m fakeManager) GetUnit(name string) (dbus.ObjectPath, *dbus.Error) {
	if name != m.unit {
		return "", dbus.NewError(systemdName+".NoSuchUnit", []any{"Unit " + name + " not loaded."})
	}
	return "/org/freedesktop/systemd1/unit/x", nil
}

type fakeProperties struct{ pid int }

func (p fakeProperties) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	if iface != systemdName+".Service" || name != "MainPID" {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
	}
	return dbus.MakeVariant(uint32(p.pid)), nil
}

// bus starts a bus that lasts as long as the test.
func bus(t *testing.T) (address string) {
	t.Helper()
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1",
		"--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func runManager(t *testing.T, address, unit string, pid int) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	err = errors.Join(
		conn.Export(fakeManager{unit}, "/org/freedesktop/systemd1", systemdName+".Manager"),
		conn.Export(fakeProperties{pid}, "/org/freedesktop/systemd1/unit/x", "org.freedesktop.DBus.Properties"))
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(systemdName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

func TestAskSystemd(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // no manager to reach directly
	session, system := bus(t), bus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", system)
	me := os.Getuid()
	for _, u := range []unit{{"x.service", -1}, {"x.service", me}} {
		if pid, err := askSystemd(t.Context(), u); err == nil {
			t.Errorf("without a manager: %d", pid)
		}
	}
	runManager(t, session, "of-user.service", 71)
	runManager(t, system, "of-system.service", 72)
	for _, c := range []struct {
		unit unit
		pid  int // 0: an error
	}{
		{unit{"of-user.service", me}, 71},
		{unit{"of-system.service", -1}, 72},
		{unit{"of-user.service", -1}, 71}, // the path did not show whose it is
		{unit{"of-system.service", me}, 0},
		{unit{"of-user.service", me + 1}, 0},
		{unit{"neither.service", -1}, 0},
	} {
		if c.pid > 0 { // an answer that takes longer than two seconds is none
			eventually(t, fmt.Sprintf("%+v is %d", c.unit, c.pid), func() bool {
				pid, err := askSystemd(t.Context(), c.unit)
				return pid == c.pid && err == nil
			})
		} else if pid, err := askSystemd(t.Context(), c.unit); pid != 0 || err == nil {
			t.Errorf("%+v: %d, %v", c.unit, pid, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := askSystemd(ended, unit{"of-user.service", me}); err == nil {
		t.Error("answered to nobody")
	}
}

func TestServiceOfThisMachine(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if got, err := ServiceOf(t.Context(), []monitor.Identity{sleeper(t)}); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ServiceOf(t.Context(), []monitor.Identity{{PID: unused(t)}}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if got, err := ServiceOf(t.Context(), nil); got != "" || err != nil {
		t.Errorf("an empty tree: %q, %v", got, err)
	}
}

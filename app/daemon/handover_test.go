package daemon

import (
	"slices"
	"testing"

	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
)

const (
	askService  = "systemctl --user show --property=LoadState --property=ExecStart lamplighter.service"
	askActive   = "systemctl --user show --property=ActiveState --value lamplighter.service"
	askSocket   = "systemctl --user show --property=LoadState --value lamplighter.socket"
	startUnit   = "systemctl --user start lamplighter.service"
	stopSocket  = "systemctl --user stop lamplighter.socket"
	importSome  = "systemctl --user import-environment DISPLAY XDG_SESSION_TYPE"
	ownCgroup   = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/lamplighter.service\n"
	deskCgroup  = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-lamplighter-4711.scope\n"
	childCgroup = "12:pids:/user.slice\n1:name=systemd:/user.slice/user@1000.service/lamplighter.service\n"
)

func TestStartedAsService(t *testing.T) {
	for name, test := range map[string]struct {
		as   startedAs
		want bool
	}{
		"by a desktop":            {startedAs{4711, "", deskCgroup}, false},
		"by systemd":              {startedAs{4711, "4711", ownCgroup}, true},
		"by an old systemd":       {startedAs{4711, "", ownCgroup}, true},
		"cgroups of version 1":    {startedAs{4711, "", childCgroup}, true},
		"below a unit":            {startedAs{4711, "4710", deskCgroup}, false},
		"another unit's":          {startedAs{4711, "", "0::/a/notlamplighter.service\n"}, false},
		"within ours":             {startedAs{4711, "", "0::/a/lamplighter.service/b\n"}, false},
		"nothing can be read":     {startedAs{4711, "", ""}, false},
		"only the variable can":   {startedAs{4711, "4711", ""}, true},
		"no cgroup at all":        {startedAs{4711, "x", ":\n::\nlamplighter.service"}, false},
		"a path with a colon":     {startedAs{4711, "", "0::/a:b/lamplighter.service\n"}, true},
		"without pid or any":      {startedAs{0, "", ""}, false},
		"the last has no newline": {startedAs{4711, "", "0::/lamplighter.service"}, true},
	} {
		if got := test.as.asService(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// unitOf is what systemd tells of a unit that starts this program.
func unitOf(program string) string {
	return "ExecStart={ path=" + program + " ; argv[]=" + program + " run --at-login ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\nLoadState=loaded"
}

func TestHandOver(t *testing.T) {
	const program = "/home/alice/.local/bin/lamplighter"
	ours := unitOf(program)
	desktopOf := map[string]string{"DISPLAY": ":0", "XDG_SESSION_TYPE": "x11"}
	for name, test := range map[string]struct {
		as      startedAs
		env     map[string]string
		answers map[string]string
		want    bool
		changed []string
	}{
		"handed over":           {env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: "", askActive: "active"}, want: true, changed: []string{importSome, startUnit}},
		"without a desktop":     {answers: map[string]string{askService: ours, startUnit: "", askActive: "active"}, want: true, changed: []string{startUnit}},
		"by systemd itself":     {as: startedAs{cgroups: ownCgroup}, env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: ""}},
		"no unit":               {env: desktopOf, answers: map[string]string{askService: "LoadState=not-found", importSome: "", startUnit: ""}},
		"a unit that is masked": {env: desktopOf, answers: map[string]string{askService: "LoadState=masked", importSome: "", startUnit: ""}},
		"no manager":            {env: desktopOf, answers: map[string]string{askService: "!Failed to connect to bus: No medium found", startUnit: ""}},
		"no systemd":            {env: desktopOf},
		"it does not start":     {env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: "!Job for lamplighter.service failed."}, changed: []string{importSome, startUnit}},
		"nothing is imported":   {env: desktopOf, answers: map[string]string{askService: ours, importSome: "!refused", startUnit: ""}, changed: []string{importSome}},
		"somebody else's unit":  {env: desktopOf, answers: map[string]string{askService: unitOf("/bin/true"), importSome: "", startUnit: "", askActive: "inactive"}},
		"it ends at once":       {env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: "", askActive: "inactive"}, changed: []string{importSome, startUnit}},
		"it fails at once":      {env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: "", askActive: "failed"}, changed: []string{importSome, startUnit}},
		"it waits for others":   {env: desktopOf, answers: map[string]string{askService: ours, importSome: "", startUnit: "", askActive: "activating"}, want: true, changed: []string{importSome, startUnit}},
		"a bus of its own":      {env: map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/dbus-x"}, answers: map[string]string{askService: ours, startUnit: ""}},
	} {
		d := newDesktop(t)
		system := &daemontest.System{Answers: test.answers}
		d.Command = system.Run
		d.Getenv = func(name string) string { return test.env[name] }
		d.Base.RuntimeDir = t.TempDir()
		if got := d.handOver(t.Context(), test.as, program); got != test.want || !slices.Equal(system.Changed(), test.changed) {
			t.Errorf("%s: %v, ran %q", name, got, system.Ran)
		}
	}
}

// What already runs is left in peace, whoever has started it.
func TestHandOverToNobody(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{}})
	system := &daemontest.System{Answers: map[string]string{askService: unitOf("/lamplighter"), startUnit: "", askActive: "active"}}
	d.Command = system.Run
	if !d.handOver(t.Context(), startedAs{}, "/lamplighter") || len(system.Ran) != 0 {
		t.Errorf("ran %q", system.Ran)
	}
}

func TestOwnBus(t *testing.T) {
	for address, want := range map[string]bool{
		"": false, "unix:path=/run/user/1000/bus": false, "unix:path=/run/user/1000/bus,guid=ab": false,
		"unix:abstract=/tmp/dbus-x": true, "unix:path=/tmp/dbus-x,guid=1": true, "unix:path=/run/user/1000/bus2": true,
		"unix:path=/tmp/x;unix:path=/run/user/1000/bus": false,
	} {
		if got := ownBus(address, "/run/user/1000"); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if ownBus("unix:path=/tmp/x", "") {
		t.Error("where no bus is known, it is another one")
	}
}

// At login a second start says nothing and opens nothing.
func TestRunAtLoginWhereItRuns(t *testing.T) {
	d := newDesktop(t)
	d.address = "http://127.0.0.1:1/global-dashboard/#token=x"
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{}})
	d.AtLogin = true
	if err := d.Run(t.Context()); err != nil || d.err.String() != "" || d.out.String() != "" || len(d.opened) > 0 {
		t.Errorf("%v, said %q %q, opened %q", err, d.out.String(), d.err.String(), d.opened)
	}
}

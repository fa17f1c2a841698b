//go:build !windows

package installer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// commands are what a plan runs.
func commands(p Plan) string {
	var list []string
	for _, c := range p.Changes {
		if c.Op == OpRun {
			list = append(list, strings.Join(c.Command, " "))
		}
	}
	return strings.Join(list, "; ")
}

var allOfIt = []string{
	"home/.config/autostart/lamplighter.desktop",
	"home/.config/systemd/user/graphical-session.target.wants/lamplighter.service",
	"home/.config/systemd/user/lamplighter.service", "home/.config/systemd/user/lamplighter.socket",
	"home/.config/systemd/user/sockets.target.wants/lamplighter.socket",
}

func TestOnAndOff(t *testing.T) {
	m := newMachine(t)
	on := must(t)(m.d.on(Programs{Main: program}, InstallOptions{}))
	m.carryOut(on)
	if got := m.files(); !slices.Equal(got, allOfIt) {
		t.Errorf("%q", got)
	}
	if got := commands(on); got != "systemctl --user daemon-reload; systemctl --user start lamplighter.socket" {
		t.Error(got)
	}
	list, socket := m.d.entries()
	if len(list) != 2 || socket == nil || !socket.Ours || !socket.On || socket.How != howSocket {
		t.Fatalf("%+v, %+v", list, socket)
	}
	for _, e := range list {
		if !e.On || !e.Ours || e.Package || e.Program != program || e.Err != nil || len(e.Instead) > 0 {
			t.Errorf("%+v", e)
		}
	}
	if again := must(t)(m.d.on(Programs{Main: program}, InstallOptions{})); len(again.Changes) > 0 {
		t.Errorf("again: %v", again.Changes)
	}
	// A program elsewhere, and a link that has moved.
	link := m.at(allOfIt[1])
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	m.link(allOfIt[1], "/home/before/lamplighter.service")
	m.carryOut(must(t)(m.d.on(Programs{Main: "/other/lamplighter"}, InstallOptions{})))
	if to, err := os.Readlink(link); err != nil || to != m.at(allOfIt[2]) || !slices.Equal(m.files(), allOfIt) {
		t.Errorf("%s, %v, %q", to, err, m.files())
	}
	if list, _ = m.d.entries(); list[0].Program != "/other/lamplighter" || list[1].Program != "/other/lamplighter" {
		t.Errorf("%+v", list)
	}
	off := must(t)(m.d.off())
	m.carryOut(off)
	if got := m.files(); len(got) > 0 || len(off.Notes) > 0 {
		t.Errorf("left: %q, %q", got, off.Notes)
	}
	if got := commands(off); got != "systemctl --user stop lamplighter.socket; systemctl --user daemon-reload" {
		t.Error(got)
	}
	if again := must(t)(m.d.off()); len(again.Changes) > 0 {
		t.Errorf("off again: %v", again.Changes)
	}
}

func TestWhatIsRun(t *testing.T) {
	m := newMachine(t)
	m.d.listening = true // whoever does must not lose the path of its socket
	if got := commands(must(t)(m.d.on(Programs{Main: program}, InstallOptions{}))); got != "systemctl --user daemon-reload" {
		t.Error(got)
	}
	m.d.manager = false
	if got := commands(must(t)(m.d.on(Programs{Main: program}, InstallOptions{}))); got != "" {
		t.Error(got)
	}
}

func TestWithoutSystemd(t *testing.T) {
	m := newMachine(t)
	m.d.systemd = false
	m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
	if got := m.files(); !slices.Equal(got, allOfIt[:1]) {
		t.Errorf("%q", got)
	}
	if text, err := os.ReadFile(m.at(allOfIt[0])); err != nil || strings.Contains(string(text), "systemd") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := m.d.on(Programs{Main: program}, InstallOptions{Headless: true}); err == nil || !strings.Contains(err.Error(), "systemd does not run") {
		t.Error(err)
	}
}

func TestHeadless(t *testing.T) {
	m := newMachine(t)
	m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
	p := must(t)(m.d.on(Programs{Main: program}, InstallOptions{Headless: true}))
	m.carryOut(p)
	want := []string{"home/.config/systemd/user/default.target.wants/lamplighter.service", allOfIt[2], allOfIt[3], allOfIt[4]}
	if got := m.files(); !slices.Equal(got, want) || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "loginctl enable-linger") {
		t.Errorf("%q, %q", got, p.Notes)
	}
	m.d.lingers = true
	if p = must(t)(m.d.on(Programs{Main: program}, InstallOptions{Headless: true})); len(p.Changes)+len(p.Notes) > 0 {
		t.Errorf("%v, %q", p.Changes, p.Notes)
	}
	m.carryOut(must(t)(m.d.off()))
	if got := m.files(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Units of a package are used where they start the same program, and ours of an
// installation by hand go.
func TestUnitsOfAPackage(t *testing.T) {
	m := newMachine(t)
	m.carryOut(must(t)(m.d.on(Programs{Main: "/home/me/.local/bin/lamplighter"}, InstallOptions{})))
	m.write("usr/lib/systemd/user/lamplighter.service", mustUnit(t, "/usr/bin/lamplighter", false))
	m.write("usr/lib/systemd/user/lamplighter.socket", SocketUnit())
	if list, _ := m.d.entries(); len(list[0].Instead) != 1 || list[0].Instead[0] != m.at("usr/lib/systemd/user/lamplighter.service") {
		t.Errorf("%+v", list)
	}
	m.carryOut(must(t)(m.d.on(Programs{Main: "/usr/bin/lamplighter"}, InstallOptions{})))
	want := []string{allOfIt[0], allOfIt[1], allOfIt[4], "usr/lib/systemd/user/lamplighter.service", "usr/lib/systemd/user/lamplighter.socket"}
	if got := m.files(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if to, err := os.Readlink(m.at(allOfIt[1])); err != nil || to != m.at(want[3]) {
		t.Errorf("%s, %v", to, err)
	}
	if list, _ := m.d.entries(); !list[0].On || list[0].Ours || list[0].Program != "/usr/bin/lamplighter" {
		t.Errorf("%+v", list)
	}
	if again := must(t)(m.d.on(Programs{Main: "/usr/bin/lamplighter"}, InstallOptions{})); len(again.Changes) > 0 {
		t.Errorf("again: %v", again.Changes)
	}
	// Enabled again by somebody else's way, it is switched off all the same.
	m.link("home/.config/systemd/user/default.target.wants/lamplighter.service", "/anywhere")
	off := must(t)(m.d.off())
	if err := m.d.silence(&off); err != nil {
		t.Fatal(err)
	}
	m.carryOut(off)
	if got := m.files(); !slices.Equal(got, want[3:]) {
		t.Errorf("%q", got)
	}
	// An administrator's unit takes the place of the package's: not that one is
	// enabled, but ours written.
	m.write("etc/systemd/user/lamplighter.service", mustUnit(t, "/opt/lamplighter", false))
	m.carryOut(must(t)(m.d.on(Programs{Main: "/usr/bin/lamplighter"}, InstallOptions{})))
	if list, _ := m.d.entries(); !list[0].Ours || list[0].Program != "/usr/bin/lamplighter" {
		t.Errorf("%+v", list)
	}
}

// What is not ours is neither replaced nor removed, and it is said what to do.
func TestForeignFiles(t *testing.T) {
	unit, entry := "home/.config/systemd/user/lamplighter.service", "home/.config/autostart/lamplighter.desktop"
	for name, test := range map[string]struct {
		make func(m machine)
		want string // of switching it on
		put  bool   // it can be put aside
	}{
		"a unit":   {func(m machine) { m.write(unit, "[Service]\nExecStart=/mine/lamplighter\n") }, "in the way", true},
		"an entry": {func(m machine) { m.write(entry, "[Desktop Entry]\nExec=/mine\n") }, "in the way", true},
		"masked":   {func(m machine) { m.link(unit, "/dev/null") }, "Unmask it: systemctl --user unmask lamplighter.service", true},
		"a link to ours": {func(m machine) {
			m.write("elsewhere", string(marked(mustUnit(t, program, false))))
			m.link(unit, m.at("elsewhere"))
		}, "in the way", true},
		"a link to nothing": {func(m machine) { m.link(entry, "/no/such") }, "in the way", true},
		"empty":             {func(m machine) { m.write(unit, "") }, "in the way", true},
		"huge":              {func(m machine) { m.write(unit, "# "+marker+"\n"+strings.Repeat("#\n", mostBytes)) }, "in the way", true},
		"a directory":       {func(m machine) { m.write(unit+"/x", "") }, "is a directory", false},
		"a pipe": {func(m machine) {
			m.write(filepath.Dir(entry)+"/x", "")
			if err := syscall.Mkfifo(m.at(entry), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "in the way", true},
		"a wanted file": {func(m machine) { m.write(allOfIt[1], "x") }, "is no link", false},
		"a file above":  {func(m machine) { m.write("home/.config/autostart", "x") }, "cannot look at", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			test.make(m)
			before := m.files()
			_, err := m.d.on(Programs{Main: program}, InstallOptions{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("on: %v", err)
			}
			if test.put != errors.Is(err, ErrForeign) && !strings.Contains(test.want, "directory") && !strings.Contains(test.want, "link") {
				t.Errorf("it is not said that it is not ours: %v", err)
			}
			m.carryOut(must(t)(m.d.off()))
			if got := m.files(); !slices.Equal(got, before) {
				t.Errorf("after off: %q, not %q", got, before)
			}
			list, _ := m.d.entries()
			for _, e := range list {
				if e.Ours {
					t.Errorf("ours: %+v", e)
				}
			}
			p, err := m.d.on(Programs{Main: program}, InstallOptions{Replace: true})
			if (err == nil) != test.put {
				t.Errorf("with --replace: %v", err)
			}
			if test.put && !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Backup }) {
				t.Errorf("nothing is put aside: %v", p.Changes)
			}
		})
	}
}

func TestUnitFiles(t *testing.T) {
	const own, etc, lib = "home/.config/systemd/user/", "etc/systemd/user/", "usr/lib/systemd/user/"
	service := func(program string) string { return "[Service]\nExecStart=" + program + " run\n" }
	for name, test := range map[string]struct {
		files   map[string]string // "→ " before where a link leads
		path    string
		on      bool
		program string
		err     error
	}{
		"off":      {map[string]string{own + serviceName: service("/a")}, own, false, "/a", nil},
		"wanted":   {map[string]string{own + serviceName: service("/a"), own + "default.target.wants/" + serviceName: "→ ../" + serviceName}, own, true, "/a", nil},
		"required": {map[string]string{own + serviceName: service("/a"), etc + "x.target.requires/" + serviceName: "→ /x"}, own, true, "/a", nil},
		"no link":  {map[string]string{own + serviceName: service("/a"), own + "default.target.wants/" + serviceName: "x"}, own, false, "/a", nil},
		"link to nowhere": {map[string]string{
			lib + serviceName: service("/a"), etc + "default.target.wants/" + serviceName: "→ /x", own + "default.target.wants/" + serviceName: "→ /dev/null",
		}, lib, false, "/a", nil},
		"for all":          {map[string]string{lib + serviceName: service("/a"), etc + "graphical-session.target.wants/" + serviceName: "→ /x"}, lib, true, "/a", nil},
		"first":            {map[string]string{lib + serviceName: service("/a"), etc + serviceName: service("/b")}, etc, false, "/b", nil},
		"masked":           {map[string]string{lib + serviceName: service("/a"), own + serviceName: "→ /dev/null", own + "default.target.wants/" + serviceName: "→ /x"}, own, false, "", nil},
		"masked, empty":    {map[string]string{lib + serviceName: service("/a"), etc + serviceName: "", own + "default.target.wants/" + serviceName: "→ /x"}, etc, false, "", nil},
		"a link":           {map[string]string{own + serviceName: "→ ../../../x.service", "home/x.service": service("/a")}, own, false, "/a", nil},
		"to nothing":       {map[string]string{own + serviceName: "→ /no/such", lib + serviceName: service("/a")}, own, false, "", syscall.ENOENT},
		"to a directory":   {map[string]string{own + serviceName: "→ .."}, own, false, "", errNoFile},
		"huge":             {map[string]string{own + serviceName: strings.Repeat("#\n", mostBytes), own + "default.target.wants/" + serviceName: "→ /x"}, own, false, "", errHuge},
		"two":              {map[string]string{own + serviceName: service("/a") + service("/b"), own + "default.target.wants/" + serviceName: "→ /x"}, own, false, "/a", errManyCommands},
		"nothing":          {map[string]string{own + serviceName: "[Service]\n"}, own, false, "", errNoCommand},
		"drop-in":          {map[string]string{lib + serviceName: service("/a"), own + serviceName + ".d/x.conf": "[Service]\nExecStart=\nExecStart=/b\n"}, lib, false, "/b", nil},
		"drop-in adds":     {map[string]string{lib + serviceName: service("/a"), own + serviceName + ".d/x.conf": "[Service]\nExecStart=/b\n"}, lib, false, "/a", errManyCommands},
		"drop-in of names": {map[string]string{lib + serviceName: service("/a"), own + serviceName + ".d/x.conf": "", etc + serviceName + ".d/x.conf": "[Service]\nExecStart=/b\n"}, lib, false, "/a", nil},
		"drop-ins in order": {map[string]string{
			lib + serviceName: service("/a"), own + serviceName + ".d/1.conf": "[Service]\nExecStart=\n", etc + serviceName + ".d/2.conf": "[Service]\nExecStart=\nExecStart=/c\n",
			lib + serviceName + ".d/0.conf": "[Service]\nExecStart=/z\n", lib + serviceName + ".d/note.txt": "[Service]\nExecStart=/z\n",
		}, lib, false, "/c", nil},
		"drop-in that cannot be read": {map[string]string{lib + serviceName: service("/a"), own + serviceName + ".d/x.conf": "→ /no/such"}, lib, false, "/a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			for path, text := range test.files {
				if to, is := strings.CutPrefix(text, "→ "); is {
					m.link(path, to)
				} else {
					m.write(path, text)
				}
			}
			list, _ := m.d.entries()
			if len(list) != 1 {
				t.Fatalf("%+v", list)
			}
			e := list[0]
			if e.Path != m.at(test.path+serviceName) || e.On != test.on || e.Program != test.program || !errors.Is(e.Err, test.err) || e.Ours {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Folders may be called anything.
func TestFoldersThatLookLikePatterns(t *testing.T) {
	m := machineIn(t, filepath.Join(t.TempDir(), `a[b]*? \ {c}`))
	m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
	if list, _ := m.d.entries(); len(list) != 2 || !list[0].On {
		t.Errorf("%+v", list)
	}
	m.carryOut(must(t)(m.d.off()))
	if got := m.files(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Switching it off where others start it, too.
func TestSilence(t *testing.T) {
	entry := "[Desktop Entry]\nExec=/usr/bin/lamplighter run\n"
	unit := "[Service]\nExecStart=/usr/bin/lamplighter run\n"
	for name, test := range map[string]struct {
		make func(m machine)
		want string // why not, "" when it can be
		left []string
	}{
		"an entry of the system": {func(m machine) { m.write("etc/xdg/autostart/lamplighter.desktop", entry) }, "", []string{"etc/xdg/autostart/lamplighter.desktop", allOfIt[0]}},
		"ours and one of the system": {func(m machine) {
			m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
			m.write("etc/xdg/autostart/lamplighter.desktop", entry)
		}, "", []string{"etc/xdg/autostart/lamplighter.desktop", allOfIt[0]}},
		"a hidden one of the system": {func(m machine) { m.write("etc/xdg/autostart/lamplighter.desktop", entry+"Hidden=true\n") }, "", []string{"etc/xdg/autostart/lamplighter.desktop"}},
		"an entry of the user's":     {func(m machine) { m.write(allOfIt[0], entry) }, "autostart settings of your desktop", nil},
		"a unit of the user's": {func(m machine) {
			m.write(allOfIt[2], unit)
			m.link(allOfIt[1], "../lamplighter.service")
		}, "systemctl --user disable lamplighter.service", nil},
		"a unit for all": {func(m machine) {
			m.write("usr/lib/systemd/user/lamplighter.service", unit)
			m.link("etc/systemd/user/graphical-session.target.wants/lamplighter.service", "/x")
		}, "systemctl --global disable lamplighter.service", nil},
		"ours, and one for all that is not there": {func(m machine) {
			m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
			m.link("etc/systemd/user/graphical-session.target.wants/lamplighter.service", "/x")
		}, "", []string{"etc/systemd/user/graphical-session.target.wants/lamplighter.service"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			test.make(m)
			p := must(t)(m.d.off())
			err := m.d.silence(&p)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v", err)
				}
				if p := must(t)(m.d.off()); len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "It stays, and starts /usr/bin/lamplighter.") {
					t.Errorf("notes %q", p.Notes)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m.carryOut(p)
			if got := m.files(); !slices.Equal(got, test.left) {
				t.Errorf("%q", got)
			}
			if list, _ := m.d.entries(); slices.ContainsFunc(list, func(e LoginEntry) bool { return e.On }) {
				t.Errorf("%+v", list)
			}
			// The same again has nothing to do.
			p = must(t)(m.d.off())
			if err := m.d.silence(&p); err != nil {
				t.Fatal(err)
			}
			m.carryOut(p)
			if got := m.files(); !slices.Equal(got, test.left) {
				t.Errorf("again: %q", got)
			}
			// And it can be switched on from there.
			m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
			if list, _ := m.d.entries(); !list[0].On || !list[1].On || !list[1].Ours {
				t.Errorf("%+v", list)
			}
		})
	}
}

// An entry of ours that starts it stands beside a unit that does not: that of a
// package where systemd does not run the machine, which is as it should be, or one
// that somebody has switched off.
func TestAUnitThatIsOff(t *testing.T) {
	for _, systemd := range []bool{false, true} {
		m := newMachine(t)
		m.d.systemd, m.d.manager = systemd, false
		m.write("usr/lib/systemd/user/lamplighter.service", "[Service]\nExecStart="+program+"\n")
		m.write("usr/lib/systemd/user/lamplighter.socket", "[Socket]\n")
		m.carryOut(must(t)(m.d.on(Programs{Main: program}, InstallOptions{})))
		stands := func() (l Login) { l.Entries, l.Socket = m.d.entries(); return l }
		if got := m.d.odd(stands()); got != "" {
			t.Errorf("systemd %v: installed, %q", systemd, got)
		}
		if !systemd {
			continue
		}
		if err := os.Remove(m.at("home/.config/systemd/user/graphical-session.target.wants/lamplighter.service")); err != nil {
			t.Fatal(err)
		}
		if got := m.d.odd(stands()); !strings.HasPrefix(got, "The unit ") || !strings.Contains(got, "/lamplighter.service is switched off: desktops that systemd starts") {
			t.Errorf("switched off: %q", got)
		}
	}
}

//go:build !windows

package installer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// aUser is an installer on Linux in a temporary directory, whose program lies
// at self.
func aUser(t *testing.T) (i *Installer, self string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := machineIn(t, dir)
	m.write("built/lamplighter", "")
	env := map[string]string{"XDG_CONFIG_DIRS": m.at("etc/xdg"), "XDG_DATA_DIRS": m.at("usr/share")}
	self = m.at("built/lamplighter")
	return New(Options{
		OS: "linux", Home: m.at("home"), ConfigHome: m.at("home/.config"), DataHome: m.at("home/.local/share"), StateDir: m.at("home/.local/state/lamplighter"),
		Self: self, Getenv: func(name string) string { return env[name] },
		Command: func(_ context.Context, name string, args ...string) ([]byte, error) {
			t.Errorf("%s %q was run without a manager", name, args)
			return nil, nil
		},
	}), self
}

func switchLogin(t *testing.T, i *Installer, on bool) Plan {
	t.Helper()
	p, err := i.PlanLogin(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Do(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLoginIsSwitched(t *testing.T) {
	i, self := aUser(t)
	if l := i.Login(); l.On || !l.Can || l.Why != "" || len(l.Entries) > 0 || l.How != "" {
		t.Errorf("%+v", l)
	}
	switchLogin(t, i, true)
	l := i.Login()
	if !l.On || !l.Can || l.Why != "" || l.How != l.Entries[0].How {
		t.Errorf("%+v", l)
	}
	for _, e := range l.Entries {
		if e.Program != self || !e.Ours {
			t.Errorf("%+v", e)
		}
	}
	if p, err := i.PlanLogin(t.Context(), true); err != nil || len(p.Changes) > 0 {
		t.Errorf("%v, %v", p.Changes, err)
	}
	if _, err := os.Lstat(i.receiptPath()); err == nil {
		t.Error("a switch alone makes a receipt")
	}
	switchLogin(t, i, false)
	if l := i.Login(); l.On || len(l.Entries) > 0 || l.Socket != nil {
		t.Errorf("%+v", l)
	}
}

// The receipt of an installation stays, and goes by what is switched.
func TestLoginIsRemembered(t *testing.T) {
	i, _ := aUser(t)
	m := machineIn(t, filepath.Dir(i.o.Home))
	m.write("home/.local/bin/lamplighter", "")
	installed := m.at("home/.local/bin/lamplighter")
	r := Receipt{Version: "1", Program: installed, Home: i.o.Home, Files: []InstalledFile{{Path: installed, SHA256: hashOf(nil)}}}
	text, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	m.write("home/.local/state/lamplighter/install.json", string(text))
	entry := filepath.Join(i.o.ConfigHome, "autostart", entryName)
	remembered := func() []InstalledFile {
		t.Helper()
		r, err := i.readReceipt()
		if err != nil || r == nil || r.Program != installed || r.file(installed) == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Files
	}
	switchLogin(t, i, true)
	if !slices.ContainsFunc(remembered(), func(f InstalledFile) bool { return f.Path == entry && f.SHA256 != "" }) {
		t.Errorf("%+v", remembered())
	}
	// What is installed is started, and not what is built beside it.
	if l := i.Login(); l.Entries[0].Program != installed {
		t.Errorf("%+v", l.Entries)
	}
	switchLogin(t, i, false)
	if got := remembered(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestLoginSaysWhyNot(t *testing.T) {
	i, _ := aUser(t)
	m := machineIn(t, filepath.Dir(i.o.Home))
	m.write("home/.config/autostart/lamplighter.desktop", "[Desktop Entry]\nExec=/mine run\n")
	if l := i.Login(); !l.On || l.Can || !strings.Contains(l.Why, "autostart settings of your desktop") || !strings.HasSuffix(l.Why, ".") {
		t.Errorf("%+v", l)
	}
	if _, err := i.PlanLogin(t.Context(), false); err == nil {
		t.Error("it is switched off all the same")
	}
	m.write("home/.config/autostart/lamplighter.desktop", strings.Repeat("#", mostBytes+1))
	if l := i.Login(); l.On || l.Can || !strings.Contains(l.Why, "in the way") || len(l.Entries) != 1 || l.Entries[0].Err == nil {
		t.Errorf("%+v", l)
	}
	i, _ = aUser(t)
	i.o.Home, i.o.ConfigHome = "", ""
	if l := i.Login(); l.On || l.Can || !strings.Contains(l.Why, "Set HOME") {
		t.Errorf("%+v", l)
	}
	i, _ = aUser(t)
	i.o.Self += "\n"
	if l := i.Login(); l.Can || !strings.Contains(l.Why, "line break") {
		t.Errorf("%+v", l)
	}
}

// A unit that was switched off by hand, beside an entry that systemd skips.
func TestLoginSaysWhatIsOdd(t *testing.T) {
	i, _ := aUser(t)
	m := machineIn(t, filepath.Dir(i.o.Home))
	m.write("home/.config/systemd/user/lamplighter.service", string(marked(mustUnit(t, program, false))))
	entry, err := autostartEntry(program, true)
	if err != nil {
		t.Fatal(err)
	}
	m.write("home/.config/autostart/lamplighter.desktop", string(marked(entry)))
	if l := i.Login(); !l.On || !l.Can || !strings.Contains(l.Why, "is switched off") || l.How != howEntry {
		t.Errorf("%+v", l)
	}
	if err := os.Remove(filepath.Join(i.o.ConfigHome, "autostart", entryName)); err != nil {
		t.Fatal(err)
	}
	m.write("home/.config/systemd/user/lamplighter.service", "[Service]\n")
	if l := i.Login(); l.On || l.Why == "" {
		t.Errorf("%+v", l)
	}
}

func TestDesktopPlaces(t *testing.T) {
	env := map[string]string{"XDG_CURRENT_DESKTOP": "ubuntu:GNOME", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_CONFIG_DIRS": "/x:relative:/etc/xdg:/x"}
	i := New(Options{OS: "linux", Home: "/h", ConfigHome: "/h/.config", DataHome: "/h/.local/share", Getenv: func(name string) string { return env[name] }})
	d := i.desktop()
	want := []string{
		"/h/.config/systemd/user.control", "/h/.config/systemd/user", "/x/systemd/user", "/etc/xdg/systemd/user", "/etc/systemd/user", "/run/user/1/systemd/user", "/run/systemd/user",
		"/h/.local/share/systemd/user", "/usr/local/share/systemd/user", "/usr/share/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
	}
	if !slices.Equal(d.units, want) {
		t.Errorf("%q", d.units)
	}
	if want := []string{"/h/.config/autostart", "/x/autostart", "/etc/xdg/autostart"}; !slices.Equal(d.autostart, want) || !slices.Equal(d.current, []string{"ubuntu", "GNOME"}) {
		t.Errorf("%q, %q", d.autostart, d.current)
	}
	d = New(Options{OS: "linux"}).desktop()
	if d.ownUnits != "" || slices.ContainsFunc(append(d.units, d.autostart...), func(dir string) bool { return !filepath.IsAbs(dir) }) {
		t.Errorf("%+v", d)
	}
}

// What was interrupted is taken back before start at login is switched: by then
// the program that it would start may be gone.
func TestPlanLoginAfterAnInterruptedInstallation(t *testing.T) {
	for _, at := range []string{"journal committed", "put "} {
		l := newLab(t)
		l.o.OS = "linux"
		l.unpack("1")
		s := scene{plan: func(_ *lab, i *Installer) (Plan, error) { return i.PlanInstall(t.Context(), InstallOptions{}) }}
		entry := l.home(".config", "autostart", entryName)
		if killed, err := s.run(l, func(point string) error {
			if point == at || at == "put " && point == at+entry {
				panic(crash{point})
			}
			return nil
		}); killed == "" {
			t.Fatalf("it was not killed at %s: %v", at, err)
		}
		l.o.Self = l.bin(mainName)
		i := l.installer()
		p, err := i.PlanLogin(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Do(t.Context(), p, nil); !errors.Is(err, ErrNoPrograms) {
			t.Errorf("at %s: %v", at, err)
		}
		if i.Login().On {
			t.Errorf("at %s: it starts a program that is gone", at)
		}
	}
}

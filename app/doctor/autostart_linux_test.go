package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/installer"
)

// lamplighterOf is a program with the stamp of a version, which leaves a mark
// beside itself when it is run.
func lamplighterOf(version string) string {
	return "#!/bin/sh\n# lamplighter-version=" + version + ";\n: >\"$0.ran\"\n"
}

// install makes the installer of a machine the real one, with this program.
func (m *machine) install(self string) {
	m.o.Self = self
	m.o.Installer = installer.New(installer.Options{
		OS: "linux", Home: m.home, ConfigHome: filepath.Join(m.home, ".config"), DataHome: filepath.Join(m.home, ".local/share"),
		StateDir: m.o.Places.StateDir, ConfigDir: filepath.Dir(m.o.Places.Config), Self: self, Version: m.o.Version,
		Getenv: func(name string) string { return variable(m.o.Environ, name) },
	})
}

// What somebody has written by hand, and what became of its program.
func TestForeignEntries(t *testing.T) {
	m := newMachine(t)
	program := filepath.Join(m.home, "bin", "lamplighter")
	has := func(want ...string) { t.Helper(); apptest.Contains(t, said(m.of(t, Login)), want...) }
	has("does not start at login", "To have it: "+program+" install")

	unit := m.write(t, "[Unit]\nDescription=x\n[Service]\n# ExecStart=/other\nExecStart=-\""+program+"\" run\n", ".config/systemd/user/lamplighter.service")
	has("switched off", "install --replace")
	link := filepath.Join(m.home, ".config/systemd/user/graphical-session.target.wants/lamplighter.service")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(unit, link)); err != nil {
		t.Fatal(err)
	}
	has("broken: the systemd user unit " + unit + " starts " + program + ", which is not there")
	m.write(t, lamplighterOf("1.2.3"), "bin", "lamplighter")
	has("ok: the systemd user unit " + unit + " starts it | Lamplighter did not write it:")

	entry := m.write(t, "[Desktop Entry]\nType=Application\nExec=lamplighter run\n", ".config/autostart/lamplighter.desktop")
	has("ok: the autostart entry " + entry + " starts it")
	m.write(t, "[Desktop Entry]\nType=Application\nExec=nosuch\n", ".config/autostart/lamplighter.desktop")
	has("starts nosuch, which is not there")

	// Another place for the user's files is another user's installation.
	m.o.Environ = append(m.o.Environ, "XDG_CONFIG_HOME="+filepath.Join(m.home, "other"))
	m.o.Installer = installer.New(installer.Options{OS: "linux", Home: m.home, ConfigHome: filepath.Join(m.home, "other"), StateDir: m.o.Places.StateDir, Self: program, Getenv: func(string) string { return "" }})
	has("does not start at login")
}

// An installation made by the real thing is well, until something befalls it.
func TestInstalledForReal(t *testing.T) {
	m := newMachine(t)
	built := m.write(t, lamplighterOf("1.2.3"), "build", "lamplighter")
	m.write(t, "#!/bin/sh\n", "build", "lamplighter-connect")
	installed := filepath.Join(m.home, ".local", "bin", "lamplighter")
	m.o.Environ = append(m.o.Environ, "PATH="+filepath.Dir(installed)+":/usr/bin:/bin")
	install := func() {
		t.Helper()
		m.install(built)
		plan, err := m.o.Installer.(*installer.Installer).PlanInstall(t.Context(), installer.InstallOptions{})
		if err == nil {
			err = m.o.Installer.(*installer.Installer).Do(t.Context(), plan, func(installer.Change, error) {})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install()
	m.install(installed)
	before := listing(t, m.home)
	if text := said(m.of(t, Login)); strings.Contains(text, "warn") || strings.Contains(text, "broken") || !strings.Contains(text, "starts it") {
		t.Error(text)
	}
	apptest.Contains(t, said(m.of(t, Program)), "ok: it was installed by lamplighter install")
	if after := listing(t, m.home); after != before {
		t.Errorf("something was changed:\n%s\n%s", before, after)
	}

	// Looked at from where it was built.
	m.install(built)
	if text := said(m.of(t, Login)) + said(m.of(t, Program)); strings.Contains(text, built+" (") || strings.Contains(text, "lamplighters") {
		t.Error(text)
	}
	// That is newer by now.
	m.write(t, lamplighterOf("2.0.0"), "build", "lamplighter")
	m.o.Version = "2.0.0"
	m.install(built)
	apptest.Contains(t, said(m.of(t, Program)), "there are 2 lamplighters: "+built+" (2.0.0): this command; "+installed+" (1.2.3): what a shell runs, what starts at login",
		"of different versions", "To bring "+installed+" up to this one: "+built+" install")
	apptest.Contains(t, said(m.of(t, Login)), "starts "+installed+" (1.2.3), and this is "+built+" (2.0.0)")
	m.o.Version = "1.2.3"
	m.install(installed)

	// Its entry, as an older version might have written it.
	entry := filepath.Join(m.home, ".config/autostart/lamplighter.desktop")
	text, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, strings.ReplaceAll(string(text), " --at-login", ""), ".config/autostart/lamplighter.desktop")
	apptest.Contains(t, said(m.of(t, Login)), entry+" starts it, but is not what this version writes", "Have it written anew: lamplighter install")
	if err := os.Remove(entry); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, said(m.of(t, Program)), "something that was installed is not there any more: "+entry)
	install()
	m.install(installed)

	// The home has moved.
	moved := m.home + "-new"
	if err := os.Rename(m.home, moved); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(moved) })
	old := m.home
	m.home = moved
	for i, v := range m.o.Environ {
		m.o.Environ[i] = strings.ReplaceAll(v, old, moved)
	}
	m.o.Home, m.o.Directory = moved, filepath.Join(moved, "project")
	m.places()
	now := filepath.Join(moved, ".local", "bin", "lamplighter")
	m.install(now)
	apptest.Contains(t, said(m.of(t, Login)), "starts "+installed+", which is not there; it is "+now+" now", "Have it written anew: "+now+" install")
}

// A socket whose service somebody has removed.
func TestSocketAlone(t *testing.T) {
	m := newMachine(t)
	socket := m.write(t, "# Written by lamplighter install.\n"+installer.SocketUnit(), ".config/systemd/user/lamplighter.socket")
	apptest.Contains(t, said(m.of(t, Login)), "warn: the systemd user socket "+socket+" is there, but not its service")
	link := filepath.Join(m.home, ".config/systemd/user/sockets.target.wants/lamplighter.socket")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(socket, link)); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, said(m.of(t, Login)), "broken: the systemd user socket "+socket+" is there, but not its service", "Have both: "+m.o.Self+" install")
}

// An installation that was interrupted.
func TestInterrupted(t *testing.T) {
	m := newMachine(t)
	m.write(t, `{"form": 1, "phase": "staging", "words": ["write /x"], "folders": [], "steps": []}`, ".local/state/lamplighter/install.journal")
	apptest.Contains(t, said(m.of(t, Program)), "broken: an installation was interrupted", "Install again, which completes it: "+m.o.Self+" install")
	m.write(t, `{"version": `, ".local/state/lamplighter/install.json")
	apptest.Contains(t, said(m.of(t, Program)), "broken: the receipt of the installation, ", "What is installed is not known", "Install again: "+m.o.Self+" install")
}

// A package's program that another one hides.
func TestShadowedPackage(t *testing.T) {
	m := newMachine(t)
	packaged := m.write(t, lamplighterOf("1.0"), "usr", "bin", "lamplighter")
	m.write(t, "deb\n", "usr", "share", "lamplighter", "package")
	hidden := m.write(t, lamplighterOf("1.2.3"), "bin", "lamplighter")
	m.o.Environ = append(m.o.Environ, "PATH="+filepath.Dir(hidden)+":"+filepath.Dir(packaged)+":/usr/bin:/bin")
	apptest.Contains(t, said(m.of(t, Program)), "there are 2 lamplighters: "+hidden+" (1.2.3): this command, what a shell runs; "+packaged+" (1.0): of a package",
		"which hides "+packaged+" of the package", "sudo apt remove lamplighter")
	// A link of that name may lead to any program: none is run.
	other := m.write(t, "#!/bin/sh\n: >\"$0.ran\"\n", "other", "rm")
	if err := errors.Join(os.Remove(packaged), os.Symlink(other, packaged)); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, said(m.of(t, Program)), packaged+" (version not known)")
	for _, program := range []string{packaged, hidden, other} {
		if _, err := os.Lstat(program + ".ran"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was run (%v)", program, err)
		}
	}
	// What never ends holds nobody up.
	makePipe(t, filepath.Join(m.home, "pipe"))
	if err := errors.Join(os.Chmod(filepath.Join(m.home, "pipe"), 0o700), os.Remove(packaged), os.Symlink(filepath.Join(m.home, "pipe"), packaged)); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, said(m.of(t, Program)), packaged+" (version not known)")
	// A link to one is no other one.
	if err := errors.Join(os.Remove(packaged), os.Symlink(hidden, packaged)); err != nil {
		t.Fatal(err)
	}
	if text := said(m.of(t, Program)); strings.Contains(text, "lamplighters") {
		t.Error(text)
	}
}

package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestInstallAndUninstall(t *testing.T) {
	m := newMachine(t)
	out, _ := m.says(t, statusFine, "install")
	apptest.Contains(t, out, "Installed Lamplighter 1.2.3 in ~/.local/bin.\n", "It starts at login (", "It runs now (pid 4712).\n",
		"add this line to ~/.profile, and log in again:\n  export PATH=\"$HOME/.local/bin\":\"$PATH\"\n", "lamplighter setup\n")
	if want := []string{m.installed() + " run --at-login"}; !slices.Equal(m.launched, want) {
		t.Errorf("launched %q", m.launched)
	}
	before := m.files(t)
	if !slices.Contains(before, ".local/bin/lamplighter") || !slices.Contains(before, ".config/autostart/lamplighter.desktop") {
		t.Errorf("files %q", before)
	}

	// Again, there is nothing to do, and what runs goes on.
	out, _ = m.says(t, statusFine, "install")
	apptest.Contains(t, out, "Lamplighter 1.2.3 is installed already, in ~/.local/bin.\n", "It runs (pid 4712).\n")
	if strings.Contains(out, "lamplighter setup") || strings.Contains(out, "export PATH") || len(m.launched) != 1 || len(m.next.quits) != 0 {
		t.Errorf("launched %q, quits %v, said %s", m.launched, m.next.quits, out)
	}

	out, _ = m.says(t, statusFine, "uninstall", "--dry-run")
	apptest.Contains(t, out, "Would end the Lamplighter that runs (pid 4712).\n", "  remove ~/.local/bin/lamplighter\n", "Nothing was changed.\n")
	if !slices.Equal(m.files(t), before) || len(m.next.quits) != 0 {
		t.Error("a dry run changes something")
	}
	out, _ = m.says(t, statusFine, "uninstall")
	apptest.Contains(t, out, "Lamplighter is uninstalled.\n")
	if left := m.files(t); len(left) != 0 || !slices.Equal(m.next.quits, []bool{false}) {
		t.Errorf("left %q, quits %v", left, m.next.quits)
	}
	out, _ = m.says(t, statusFine, "uninstall")
	apptest.Contains(t, out, "Lamplighter is not installed here, and nothing of it is left.\n")
}

func TestInstallDryRun(t *testing.T) {
	m := newMachine(t)
	out, _ := m.says(t, statusFine, "install", "--dry-run")
	apptest.Contains(t, out, "Would:\n", "to ~/.local/bin/lamplighter\n", "write ~/.config/autostart/lamplighter.desktop", "Would then start it.\n", "install.json and install.lock are kept in ~/.local/state/lamplighter.\n", "Nothing was changed.\n")
	if strings.Contains(out, "[Desktop Entry]") {
		t.Errorf("shows contents:\n%s", out)
	}
	out, _ = m.says(t, statusFine, "install", "--dry-run", "-v")
	apptest.Contains(t, out, "      [Desktop Entry]\n", "run --at-login\n")
	if files := m.files(t); len(files) != 0 || len(m.launched) != 0 {
		t.Errorf("files %q, launched %q", files, m.launched)
	}
	var told installJSON
	out, _ = m.says(t, statusFine, "install", "--dry-run", "--json")
	if err := json.Unmarshal([]byte(out), &told); err != nil || !told.DryRun || told.Next != "start" || told.PID != nil || told.Error != nil || told.Login.On {
		t.Errorf("%v %+v", err, told)
	}
	entry := slices.IndexFunc(told.Changes, func(c changeJSON) bool { return strings.HasSuffix(*c.Path, "autostart/lamplighter.desktop") })
	if entry < 0 || told.Changes[entry].Op != "write" || !strings.Contains(*told.Changes[entry].Content, "[Desktop Entry]") || *told.Changes[entry].Mode != "0644" {
		t.Errorf("%s", out)
	}
}

func TestInstallJSON(t *testing.T) {
	m := newMachine(t)
	out, _ := m.says(t, statusFine, "install", "--json")
	var told installJSON
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.DryRun || len(told.Changes) < 4 || !told.Login.On || told.PID == nil || *told.PID != 4712 {
		t.Errorf("%v %s", err, out)
	}
	m = newMachine(t)
	m.next = nil
	out, _ = m.says(t, statusFailed, "install", "--json")
	told = installJSON{}
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.Error == nil || told.PID != nil || len(told.Changes) < 4 {
		t.Errorf("%v %s", err, out)
	}
}

// What is replaced ends first, and is followed by what was installed.
func TestInstallUpgrades(t *testing.T) {
	for name, test := range map[string]struct {
		old     *fakeBackground
		changed bool // the program, not its version
		exe     string
		quits   []bool
		ended   []int
	}{
		"another version":         {old: &fakeBackground{pid: 4711, version: "1.2.2"}, quits: []bool{true}},
		"another build":           {old: &fakeBackground{pid: 4711, version: "1.2.3"}, changed: true, quits: []bool{true}},
		"from another directory":  {old: &fakeBackground{pid: 4711, version: "1.2.3"}, exe: "/opt/lamplighter/lamplighter", quits: []bool{true}},
		"one too old to be told":  {old: &fakeBackground{pid: 4711, version: "0.9.0", older: true}, exe: "/opt/lamplighter", ended: []int{4711}},
		"what was not recognised": {old: &fakeBackground{pid: 4711, version: "1.2.3"}},
	} {
		m := newMachine(t)
		m.says(t, statusFine, "install", "--no-start")
		if len(m.launched) != 0 {
			t.Errorf("%s: started: %q", name, m.launched)
		}
		if test.changed {
			if err := os.WriteFile(m.Self, []byte("program, built anew"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		m.Process = func(pid int) (process.Info, error) {
			return process.Info{Identity: monitor.Identity{PID: pid, Start: 7}, Exe: test.exe}, nil
		}
		terminate := m.terminate
		m.terminate = func(ctx context.Context, id monitor.Identity) error {
			test.old.stop()
			return terminate(ctx, id)
		}
		test.old.serve(t, m.desktop)
		out, _ := m.says(t, statusFine, "install")
		if !slices.Equal(test.old.quits, test.quits) || !slices.Equal(m.ended, test.ended) {
			t.Errorf("%s: quits %v, ended %v", name, test.old.quits, m.ended)
		}
		if restarted := len(m.launched) == 1; restarted != (len(test.quits)+len(test.ended) > 0) {
			t.Errorf("%s: launched %q", name, m.launched)
		} else if restarted {
			apptest.Contains(t, out, "It runs now (pid 4712).\n")
		}
	}
}

// What runs is another file than the one that is installed, although its path and its
// version are the same: another build took its place before.
func TestInstallAfterAnotherBuild(t *testing.T) {
	m := newMachine(t)
	other := exec.CommandContext(t.Context(), "/bin/sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	m.says(t, statusFine, "install", "--no-start")
	m.Process = func(pid int) (process.Info, error) {
		return process.Info{Identity: monitor.Identity{PID: pid, Start: 7}, Exe: m.installed() + " (deleted)"}, nil
	}
	old := &fakeBackground{pid: other.Process.Pid, version: "1.2.3"}
	old.serve(t, m.desktop)
	out, _ := m.says(t, statusFine, "install")
	apptest.Contains(t, out, "is installed already", "It runs now (pid 4712).\n")
	if !slices.Equal(old.quits, []bool{true}) {
		t.Errorf("quits %v", old.quits)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if other, known := runsOther(os.Getpid(), self); other || !known {
		t.Errorf("we run another file: %v, %v", other, known)
	}
}

// One that cannot be ended is named, and what is installed stays.
func TestInstallBesideWhatStays(t *testing.T) {
	for name, test := range map[string]struct {
		old  *fakeBackground
		said string
	}{
		"too old, and somebody else":   {&fakeBackground{pid: 4711, version: "0.9.0\x1b[2J", older: true}, "(pid 4711) is too old to be ended from here; quit it in its menu\n"},
		"does not want to be replaced": {&fakeBackground{pid: 4711, version: "0.9.0", refuses: true}, "lamplighter (pid 4711) does not end: it cannot be ended from here; quit it in its menu\n"},
	} {
		m := newMachine(t)
		test.old.serve(t, m.desktop)
		out, failed := m.says(t, statusFailed, "install")
		apptest.Contains(t, out, "Installed Lamplighter 1.2.3")
		apptest.Contains(t, failed, "lamplighter: install: it is installed; ", test.said)
		if strings.Contains(failed, "\x1b") || len(m.launched) != 0 {
			t.Errorf("%s: launched %q, said %q", name, m.launched, failed)
		}
		if out, failed = m.says(t, statusFailed, "uninstall"); !strings.Contains(failed, "; nothing was removed\n") || !slices.Contains(m.files(t), ".local/bin/lamplighter") {
			t.Errorf("%s: %s%s", name, out, failed)
		}
	}
}

// Somebody holds the lock and says nothing: what is installed is not started, and
// nothing is removed.
func TestInstallBesideASilentOne(t *testing.T) {
	m := newMachine(t)
	lock, err := daemon.TakeLock(m.Places(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	_, failed := m.says(t, statusFailed, "install")
	apptest.Contains(t, failed, "it is installed; ", "does not answer")
	if len(m.launched) != 0 {
		t.Errorf("launched %q", m.launched)
	}
	before := m.files(t)
	_, failed = m.says(t, statusFailed, "uninstall", "--yes")
	apptest.Contains(t, failed, "does not answer")
	if !slices.Equal(m.files(t), before) {
		t.Error("something was removed")
	}

	// A dry run shows what it can.
	out, failed := m.says(t, statusFailed, "uninstall", "--dry-run")
	apptest.Contains(t, out, "  remove ~/.local/bin/lamplighter\n", "Nothing was changed.\n")
	apptest.Contains(t, failed, "uninstall: this would be refused now: a program that does not answer holds the lock ")
	out, _ = m.says(t, statusFine, "install", "--dry-run")
	apptest.Contains(t, out, "Would not start it: a program that does not answer holds the lock ", "do this again.\n")
}

func TestInstallDoesNotStart(t *testing.T) {
	m := newMachine(t)
	delete(m.env, "DISPLAY")
	out, _ := m.says(t, statusFine, "install")
	apptest.Contains(t, out, "There is no desktop here to start it on now. It starts when you log in to one.\n")
	if len(m.launched) != 0 {
		t.Errorf("launched %q", m.launched)
	}

	m = newMachine(t)
	m.next = nil
	_, failed := m.says(t, statusFailed, "install")
	apptest.Contains(t, failed, "install: it is installed; lamplighter did not start (exit status 1); lamplighter run says why\n")

	m = newMachine(t)
	delete(m.env, "DISPLAY")
	out, _ = m.says(t, statusFine, "install", "--no-login")
	apptest.Contains(t, out, "To start it: \"$HOME/.local/bin/lamplighter\" run\n")
	if strings.Contains(out, "when you log in") {
		t.Errorf("%s", out)
	}

	m = newMachine(t)
	out, _ = m.says(t, statusFine, "install", "--no-login", "--no-start")
	apptest.Contains(t, out, "It does not start at login.\n", "To start it: \"$HOME/.local/bin/lamplighter\" run\n")
	if slices.ContainsFunc(m.files(t), func(path string) bool { return strings.HasPrefix(path, ".config") }) {
		t.Errorf("files %q", m.files(t))
	}

	m = newMachine(t)
	m.next.version = "1.0.0"
	out, _ = m.says(t, statusFine, "install")
	apptest.Contains(t, out, "What runs now (pid 4712) is Lamplighter 1.0.0, and not 1.2.3; lamplighter doctor says more.\n")
}

// Nothing is installed for somebody else, or where nothing can be.
func TestInstallRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*machine)
		said   string
	}{
		"sudo": {func(m *machine) {
			m.env["SUDO_USER"], m.account = "alice", func(string) account { return account{uid: 0, owner: 1000} }
		}, "do this as alice, without sudo\n"},
		"another home":   {func(m *machine) { m.account = func(string) account { return account{uid: 1000, owner: 1001} } }, "is not yours; set HOME to your own\n"},
		"no home":        {func(m *machine) { m.Base.Home, m.Base.ConfigHome, m.Base.StateHome = "", "", "" }, "there is no home directory"},
		"half a program": {func(m *machine) { os.Remove(filepath.Join(filepath.Dir(m.Self), "lamplighter-connect")) }, "a program is missing"},
		"a file for a directory": {func(m *machine) {
			os.MkdirAll(m.home(".local"), 0o700)
			os.WriteFile(m.home(".local", "bin"), nil, 0o600)
		}, "/.local/bin/lamplighter: not a directory; "},
		"a foreign file": {func(m *machine) {
			os.MkdirAll(m.home(".config", "autostart"), 0o700)
			os.WriteFile(m.home(".config", "autostart", "lamplighter.desktop"), []byte("[Desktop Entry]\nExec=mine\n"), 0o600)
		}, "it was not written by lamplighter"},
	} {
		m := newMachine(t)
		test.change(m)
		_, failed := m.says(t, statusFailed, "install")
		apptest.Contains(t, failed, "lamplighter: install: ", test.said)
		if len(m.launched) != 0 || m.Base.Home != "" && slices.Contains(m.files(t), ".local/bin/lamplighter") {
			t.Errorf("%s: launched %q", name, m.launched)
		}
	}
}

// When what was done cannot be told, that it was done is.
func TestInstallOnAFullOutput(t *testing.T) {
	m := newMachine(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	m.Stdout = full
	_, failed := m.says(t, statusFailed, "install", "--no-start")
	apptest.Contains(t, failed, "install: it is installed; ", "no space left on device")
}

// A receipt that cannot be used is told of once.
func TestInstallOverARuinedReceipt(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	if err := os.WriteFile(m.home(".local", "state", "lamplighter", "install.json"), []byte(`{"version":"1.2.3","files":[{"path":"x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.out, m.err = apptest.Buffer{}, apptest.Buffer{}
	m.runs(t, "install", "--no-start")
	if said := m.out.String() + m.err.String(); strings.Count(said, "the receipt of the installation")+strings.Count(said, "The receipt of the installation") > 1 {
		t.Errorf("said %s", said)
	}
}

//go:build real && linux

package installer

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folders are names that make paths which have to be quoted one way or another.
var dirs = []string{
	"plain", "with space, per%cent %h %% %, dollar $HOME ${PATH} $$ $", `o'brien quo"te back\slash \n \`,
	"semi;colon&<>|*?#()`~ eq=ual $X", "-dash", ":at@ 日本語 ünï", "trailing ", " leading",
}

// argument is the script of a program that writes its path and its arguments
// beside itself.
const argument = "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" >\"$0.part\"\nmv \"$0.part\" \"$0.said\"\n"

// inDirs calls f with a program in each of the folders.
func inDirs(t *testing.T, f func(t *testing.T, program string)) {
	for _, name := range dirs {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), name, "lamplighter")
			if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o700), os.WriteFile(program, []byte(argument), 0o700)); err != nil {
				t.Fatal(err)
			}
			f(t, program)
		})
	}
}

// tool runs a program of the system, and fails the test when it does.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// said waits for what the program was started with.
func said(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if text, err := os.ReadFile(program + ".said"); err == nil {
			return string(text)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s was not started", program)
		}
	}
}

// systemd finds the program of each unit, and has nothing to say about it. What
// is run through the shell it does not look for, so that the shell is run, too.
func TestRealSystemdTakesTheUnits(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	inDirs(t, func(t *testing.T, program string) {
		for _, headless := range []bool{false, true} {
			dir := t.TempDir()
			text, err := ServiceUnit(program, headless)
			if err != nil {
				t.Fatal(err)
			}
			service, socket := filepath.Join(dir, serviceName), filepath.Join(dir, socketName)
			if err := errors.Join(os.WriteFile(service, marked(text), 0o600), os.WriteFile(socket, marked(SocketUnit()), 0o600)); err != nil {
				t.Fatal(err)
			}
			if out := tool(t, "systemd-analyze", "verify", "--user", "--man=no", service, socket); strings.Contains(out, "lamplighter") {
				t.Errorf("%s\n%s", out, text)
			}
		}
	})
	// It does complain of a program that is not there.
	text, err := ServiceUnit("/no such/lamplighter", false)
	service := filepath.Join(t.TempDir(), serviceName)
	if err := errors.Join(err, os.WriteFile(service, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--user", "--man=no", service).CombinedOutput(); err == nil {
		t.Errorf("nothing is wrong with a program that there is not:\n%s", out)
	}
}

// The library of the GNOME and Xfce desktops starts what the entries name.
func TestRealDesktopsStartTheEntries(t *testing.T) {
	inDirs(t, func(t *testing.T, program string) {
		menu, err := MenuEntry(program)
		if err != nil {
			t.Fatal(err)
		}
		start, err := autostartEntry(program, true)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, test := range map[string]struct{ text, want string }{
			"menu.desktop":  {menu, program + "\nrun\n"},
			"start.desktop": {start, program + "\nrun\n--at-login\n"},
		} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, marked(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := tool(t, "desktop-file-validate", path); strings.TrimSpace(out) != "" {
				t.Errorf("%s\n%s", out, test.text)
			}
			tool(t, "gio", "launch", path)
			if got := said(t, program); got != test.want {
				t.Errorf("%s started %q\n%s", name, got, test.text)
			}
			if err := os.Remove(program + ".said"); err != nil {
				t.Fatal(err)
			}
		}
	})
	path := filepath.Join(t.TempDir(), "hidden.desktop")
	if err := os.WriteFile(path, marked(hiddenEntry()), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "desktop-file-validate", path)
}

// What systemd makes of autostart entries leaves ours to our unit.
func TestRealSystemdLeavesTheEntryToTheUnit(t *testing.T) {
	const generator = "/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator"
	config, out := t.TempDir(), t.TempDir()
	program := filepath.Join(config, "bin", "lamplighter")
	path := filepath.Join(config, "autostart", entryName)
	if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o700), os.WriteFile(program, []byte(argument), 0o700), os.Mkdir(filepath.Dir(path), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, unit := range []bool{true, false} {
		text, err := autostartEntry(program, unit)
		if err := errors.Join(err, os.WriteFile(path, marked(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), generator, out, out, out)
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "XDG_CONFIG_DIRS="+t.TempDir())
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		made, err := filepath.Glob(filepath.Join(out, "app-lamplighter@*.service"))
		if err != nil || (len(made) == 0) != unit {
			t.Errorf("with our unit %t, it made %v, %v", unit, made, err)
		}
	}
}

// Python reads the property list as it is meant.
func TestRealPythonReadsTheAgent(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		python = filepath.Join(os.Getenv("LAMPLIGHTER_TEST_TOOLS"), "venv", "bin", "python")
	}
	const script = `import plistlib, sys
for path, program, socket in zip(*[iter(sys.argv[1:])] * 3):
  with open(path, "rb") as f: p = plistlib.load(f)
  want = {"Label": "lamplighter", "ProgramArguments": [program, "run", "--at-login"], "RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False},
    "LimitLoadToSessionType": "Aqua", "ProcessType": "Interactive", "AbandonProcessGroup": True, "Sockets": {"share": {"SockPathName": socket, "SockPathMode": 0o600}}}
  if p != want: sys.exit(repr(p))`
	args := []string{"-c", script}
	for _, name := range append(dirs, "<a>&b;]]>") {
		program, socket := "/Users/"+name+"/lamplighter", "/Users/"+name+"/run/share.sock"
		text, err := launchAgent(program, socket)
		path := filepath.Join(t.TempDir(), agentName)
		if err := errors.Join(err, os.WriteFile(path, markedList(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		args = append(args, path, program, socket)
	}
	tool(t, python, args...)
}

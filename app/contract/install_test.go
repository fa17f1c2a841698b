//go:build contract && linux

package contract

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// startsAtLogin are the files in a home by which a desktop or systemd starts a
// program, with the line that says which.
func (w *world) startsAtLogin() map[string]string {
	found := map[string]string{}
	for _, files := range []string{".config/autostart/*", ".config/systemd/user/*"} {
		paths, _ := filepath.Glob(w.path(files)) // the pattern is right
		for _, path := range paths {
			text, _ := os.ReadFile(path) // it may be a directory
			for line := range strings.Lines(string(text)) {
				if key, command, _ := strings.Cut(line, "="); key == "Exec" || key == "ExecStart" {
					found[filepath.Base(path)] = strings.TrimSpace(command)
				}
			}
		}
	}
	return found
}

// What install writes starts the program that it has installed, and what
// uninstall and the switch on the page do is take exactly that away.
func TestLogin(t *testing.T) {
	w := another(t, "")
	program := w.path(".local", "bin", "lamplighter")
	on := func(want bool, when string) {
		t.Helper()
		starts := w.startsAtLogin()
		if len(starts) > 0 != want {
			t.Errorf("%s it starts at login by %v", when, starts)
		}
		for name, command := range starts {
			if words := strings.Fields(command); strings.Trim(words[0], `"`) != program || !slices.Contains(words, "run") {
				t.Errorf("%s %s starts %s", when, name, command)
			}
		}
	}
	does := func(args ...string) {
		t.Helper()
		w.does(t, fine, args...)
	}
	theirs := w.path(".config", "autostart", "theirs.desktop")
	does("install", "--dry-run")
	on(false, "after a dry run")
	exists(t, false, program)
	does("install", "--no-login", "--no-start")
	on(false, "with --no-login")
	exists(t, true, program, program+"-connect", w.path(".local", "share", "applications", "lamplighter.desktop"))
	does("install", "--no-start")
	on(true, "after install")
	write(t, theirs, "[Desktop Entry]\nType=Application\n")
	does("uninstall", "--dry-run")
	on(true, "after a dry run")
	does("uninstall", "--yes")
	on(false, "after uninstall")
	exists(t, false, program, program+"-connect", w.state("events.jsonl"))
	exists(t, true, w.settings(), theirs)
	does("install", "--no-start")
	does("uninstall", "--yes", "--purge")
	on(false, "after a purge")
	exists(t, false, w.settings(), w.state(), program)
	exists(t, true, theirs)

	// The page switches the same.
	does("install", "--no-start", "--no-login")
	w.start(nil, []string{program, "run"})
	eventually(t, "it serves", func() bool { return w.answers(socket) })
	for _, want := range []bool{true, false} {
		body := fmt.Sprintf(`{"on": %v}`, want)
		if a := w.ask(t, socket, "PUT", p+"login", body, nil); a.status != 200 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
		on(want, "after "+body)
	}
}

// What the user asked the program to be written on is linked into it.
func TestLibraries(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "lamplighter/app")
	list.Env = append(list.Environ(), "GOOS=linux")
	out, err := list.Output()
	must(t, err)
	for library, linked := range map[string]bool{
		"fyne.io/systray":               true,
		"github.com/pkg/browser":        true,
		"github.com/shirou/gopsutil/v3": true,
		"github.com/kardianos/service":  false, // a known gap
	} {
		if strings.Contains("\n"+string(out), "\n"+library) != linked {
			t.Errorf("%s is linked into the program for Linux: %v", library, !linked)
		}
	}
}

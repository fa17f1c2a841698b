//go:build contract && linux

package contract

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// startsAtLogin are the files in a home by which a desktop or systemd starts a
// program, with the line that says which.
func (w *world) startsAtLogin() map[string]string {
	found := map[string]string{}
	for _, files := range []string{".config/autostart/*", ".config/systemd/user/*"} {
		paths, _ := filepath.Glob(w.path(files)) // the pattern is right
		for _, path := range paths {
			for line := range strings.Lines(read(path)) { // of a directory there are none
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
	theirs := w.path(".config", "autostart", "theirs.desktop")
	on := func(want bool, when string) {
		t.Helper()
		starts := w.startsAtLogin()
		check(t, len(starts) > 0 == want, "after %s it starts at login by %v", when, starts)
		for name, command := range starts {
			words := strings.Fields(strings.ReplaceAll(command, `"`, ""))
			check(t, words[0] == program && strings.Contains(command, " run"), "after %s %s starts %s", when, name, command)
		}
	}
	for _, row := range []struct {
		line      string
		on        bool
		installed bool
		kept      bool // settings and state
	}{
		{"install --dry-run", false, false, true},
		{"install --no-login --no-start", false, true, true},
		{"install --no-start", true, true, true},
		{"uninstall --dry-run", true, true, true},
		{"uninstall --yes", false, false, true},
		{"install --no-start", true, true, true},
		{"uninstall --yes --purge", false, false, false},
		{"install --no-start --no-login", false, true, false},
	} {
		w.does(t, fine, strings.Fields(row.line)...)
		on(row.on, row.line)
		exists(t, row.installed, program, program+"-connect", w.path(".local", "share", "applications", "lamplighter.desktop"))
		exists(t, row.kept, w.settings())
		if row.on {
			write(t, theirs, "[Desktop Entry]\nType=Application\n")
		}
		if strings.HasPrefix(row.line, "uninstall --yes") {
			exists(t, true, theirs)
			exists(t, false, w.state("events.jsonl"))
		}
		if strings.HasSuffix(row.line, "--purge") {
			exists(t, false, w.state())
		}
	}

	// The page switches the same.
	w.start(t, nil, program, "run")
	apptest.Eventually(t, "it serves", func() bool { return w.ready(control) })
	for _, want := range []bool{true, false} {
		body := fmt.Sprintf(`{"on": %v}`, want)
		same(t, body, w.ask(control, "PUT", p+"login", body, nil).status, 200)
		on(want, body)
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
		same(t, library+" is linked into the program for Linux", strings.Contains("\n"+string(out), "\n"+library), linked)
	}
}

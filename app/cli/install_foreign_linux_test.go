package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/daemon"
	"lamplighter/installer"
)

func TestInstallReplacesForeignFiles(t *testing.T) {
	m := newMachine(t)
	entry := m.home(".config", "autostart", "lamplighter.desktop")
	if err := errors.Join(os.MkdirAll(filepath.Dir(entry), 0o700), os.WriteFile(entry, []byte("[Desktop Entry]\nExec=mine\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	m.says(t, statusFine, "install", "--replace")
	if kept, err := os.ReadFile(entry + installer.BackupSuffix); err != nil || !strings.Contains(string(kept), "Exec=mine") {
		t.Errorf("%q, %v", kept, err)
	}
}

// systemd would take the foreign service for started.
func TestInstallStopsForeignUnits(t *testing.T) {
	const ask = "systemctl --user show --property=ActiveState --value lamplighter."
	backup := []installer.Change{
		{Op: installer.OpWrite, Path: "/h/.config/systemd/user/lamplighter.service", Backup: true},
		{Op: installer.OpWrite, Path: "/h/.config/systemd/user/lamplighter.socket", Backup: true},
	}
	ours := []installer.Change{
		{Op: installer.OpWrite, Path: backup[0].Path}, {Op: installer.OpWrite, Path: "/h/.config/autostart/lamplighter.desktop", Backup: true},
		{Op: installer.OpRemove, Path: backup[1].Path, Backup: true},
	}
	for name, test := range map[string]struct {
		changes []installer.Change
		answers map[string]string
		noStart bool
		would   string
		stopped []string
		fails   bool
	}{
		"both run":         {changes: backup, answers: map[string]string{ask + "service": "active", ask + "socket": "active", "systemctl --user stop lamplighter.service lamplighter.socket": ""}, would: "Would first stop what runs as lamplighter.service and lamplighter.socket, which is not Lamplighter's.\nWould then start it.", stopped: []string{"systemctl --user stop lamplighter.service lamplighter.socket"}},
		"one is starting":  {changes: backup, answers: map[string]string{ask + "service": "activating", ask + "socket": "inactive", "systemctl --user stop lamplighter.service": ""}, would: "Would first stop what runs as lamplighter.service, which is not Lamplighter's.\nWould then start it.", stopped: []string{"systemctl --user stop lamplighter.service"}},
		"it does not stop": {changes: backup[:1], answers: map[string]string{ask + "service": "active", "systemctl --user stop lamplighter.service": "!refused"}, would: "Would first stop what runs as lamplighter.service, which is not Lamplighter's.\nWould then start it.", stopped: []string{"systemctl --user stop lamplighter.service"}, fails: true},
		"nothing runs":     {changes: backup, answers: map[string]string{ask + "service": "failed", ask + "socket": "inactive"}, would: "Would then start it."},
		"nothing starts":   {changes: backup, answers: map[string]string{ask + "service": "active", ask + "socket": "active"}, noStart: true},
		"no systemd":       {changes: backup, would: "Would then start it."},
		"ours":             {changes: ours, answers: map[string]string{ask + "service": "active", ask + "socket": "active"}, would: "Would then start it."},
	} {
		m := newMachine(t)
		m.system.Answers = test.answers
		r := &installRun{program: m.program, options: installOptions{noStart: test.noStart}, plan: installer.Plan{Changes: test.changes}}
		r.foreign = m.activeUnits(t.Context(), replacedUnits(r.plan.Changes))
		if next := r.next(); next != test.would {
			t.Errorf("%s: %s", name, next)
		}
		err := r.stopForeign(t.Context())
		stopped := slices.DeleteFunc(m.system.Changed(), func(line string) bool { return !strings.Contains(line, " stop ") })
		if (err != nil) != test.fails || !slices.Equal(stopped, test.stopped) {
			t.Errorf("%s: %v, ran %q", name, err, m.system.Ran)
		}
	}
}

// It is stopped before anything is changed, and runs again when all is taken back.
func TestInstallStartsForeignUnitsAgain(t *testing.T) {
	const ask = "systemctl --user show --property=ActiveState --value lamplighter.service"
	const stop, start = "systemctl --user stop lamplighter.service", "systemctl --user start lamplighter.service"
	for name, test := range map[string]struct {
		full    bool // it fails
		changed []string
	}{"done": {changed: []string{stop}}, "taken back": {full: true, changed: []string{stop, start}}} {
		m := newMachine(t)
		m.system.Answers = map[string]string{ask: "active", stop: "", start: ""}
		r := &installRun{program: m.program, installer: m.Installer(), foreign: []string{daemon.ServiceUnit}}
		if test.full {
			r.plan.Changes = []installer.Change{{Op: installer.OpCopy, From: m.home("nothing"), Path: m.home("to")}}
		}
		if err := r.carryOut(t.Context()); (err != nil) != test.full {
			t.Errorf("%s: %v", name, err)
		}
		if changed := m.system.Changed(); len(changed) < len(test.changed) || !slices.Equal(changed[:len(test.changed)], test.changed) {
			t.Errorf("%s: ran %q", name, changed)
		}
	}
}

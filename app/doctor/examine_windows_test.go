package doctor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/installer"
	"lamplighter/monitor/view"
)

// The first failure that was never explained: [WinError 2], because what the
// settings name is not on the PATH of the process that starts it. And nothing is
// made while it is explained.
func TestWinError2(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, "state")
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte("session_command: [serena-mcp-server, --log-level, INFO]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := slices.Concat(os.Environ(), []string{"USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home, `PATH=C:\windows\system32`})
	o := Options{
		Version: "1.2.3", Self: filepath.Join(home, "lamplighter.exe"), Home: home, Environ: environ,
		Places: config.Places{Config: file, StateDir: state, ControlSocket: `\\.\pipe\lamplighter-doctor-test`, SerenaHome: filepath.Join(home, ".serena")},
		Finder: func(environ []string) Finder {
			return launch.NewFinder(launch.FinderOptions{Environ: environ, Home: home})
		},
		Installer: installer.New(installer.Options{OS: "windows", Home: home, StateDir: state, LocalApps: filepath.Join(home, "Programs"), Self: filepath.Join(home, "lamplighter.exe"), Getenv: func(string) string { return "" }}),
		Scan:      func(context.Context) ([]*view.Server, error) { return nil, nil },
	}
	report := Examine(t.Context(), o)
	text := said(report.Lines)
	apptest.Contains(t, text, "broken: serena-mcp-server --log-level INFO (the settings): ", "on the PATH of this command", "[WinError 2]", "no program of that name since 1.0",
		"the system has a place for the icon", "lamplighter does not start at login", "control pipe", "the disk has", "can be made", "Serena cannot be started")
	if strings.Contains(text, "failed inside") || !report.Broken() {
		t.Error(text)
	}
	list, err := os.ReadDir(home)
	if err != nil || len(list) != 1 {
		t.Errorf("something was made: %v, %v", list, err)
	}
}

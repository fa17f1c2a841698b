package daemon

import (
	"bytes"
	"path/filepath"
	"testing"

	"lamplighter/app/config"
)

func TestInstallation(t *testing.T) {
	home := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{home}, names...)...) }
	base := config.Base{Home: home, ConfigHome: at("config"), StateHome: at("state"), RuntimeDir: at("run")}
	for name, test := range map[string]struct {
		system string
		env    map[string]string
		base   config.Base

		data, config, runtime, local string
	}{
		"plain":                {"linux", nil, base, at(".local", "share"), at("config", "lamplighter"), at("run", "lamplighter"), ""},
		"data elsewhere":       {"linux", map[string]string{"XDG_DATA_HOME": at("data")}, base, at("data"), at("config", "lamplighter"), at("run", "lamplighter"), ""},
		"data nowhere":         {"linux", map[string]string{"XDG_DATA_HOME": "data"}, base, at(".local", "share"), at("config", "lamplighter"), at("run", "lamplighter"), ""},
		"settings elsewhere":   {"linux", map[string]string{"LAMPLIGHTER_CONFIG": at("dotfiles", "lamplighter.yaml")}, base, at(".local", "share"), at("config", "lamplighter"), at("run", "lamplighter"), ""},
		"no home":              {"linux", nil, config.Base{}, "", "", "", ""},
		"a Mac":                {"darwin", nil, base, at("Library", "Application Support"), at("config", "lamplighter"), at("run", "lamplighter"), ""},
		"Windows":              {"windows", map[string]string{"LOCALAPPDATA": at("local")}, config.Base{Home: home, PipeName: `\\.\pipe\x`, RuntimeDir: at("run")}, at("AppData", "Local"), "", "", at("local", "Programs")},
		"Windows, a bare one":  {"windows", nil, config.Base{Home: home, PipeName: `\\.\pipe\x`}, at("AppData", "Local"), "", "", at("AppData", "Local", "Programs")},
		"Windows without home": {"windows", nil, config.Base{PipeName: `\\.\pipe\x`}, "", "", "", ""},
	} {
		d := newDesktop(t)
		d.Base, d.Self = test.base, at("bin", "lamplighter")
		d.Getenv = func(name string) string { return test.env[name] }
		o := d.Installation(test.system)
		if o.DataHome != test.data || o.ConfigDir != test.config || o.RuntimeDir != test.runtime || o.LocalApps != test.local {
			t.Errorf("%s: %q, %q, %q, %q", name, o.DataHome, o.ConfigDir, o.RuntimeDir, o.LocalApps)
		}
		if o.Settings != test.env["LAMPLIGHTER_CONFIG"] || !bytes.Contains(o.Icon, []byte("<svg")) {
			t.Errorf("%s: settings %q, an icon of %d bytes", name, o.Settings, len(o.Icon))
		}
		if o.OS != test.system || o.Home != test.base.Home || o.ConfigHome != test.base.ConfigHome || o.StateDir != d.Places().StateDir || o.Self != d.Self || o.Version != "1.2.3" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

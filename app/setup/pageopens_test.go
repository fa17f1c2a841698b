package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPageOpens(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                        true,
		"web_dashboard: true\n":                   true,
		"web_dashboard: false\n":                  false,
		"web_dashboard_open_on_launch: false":     false,
		"\ufeffweb_dashboard_open_on_launch: no":  true, // not a boolean of YAML 1.2, nor of our parser
		"web_dashboard_interface: tray_manager":   false,
		"web_dashboard_interface: null":           true,
		"web_dashboard: [":                        true,
		"a: [1\n" + string(make([]byte, 300<<10)): true,
		"web_dashboard: 7\nweb_dashboard_open_on_launch: false\n": false,
	} {
		if got := pageOpens([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
	home := t.TempDir()
	none := func(string) string { return "" }
	if !serenaOpensPage(home, none) || !serenaOpensPage("", none) {
		t.Error("without settings")
	}
	path := filepath.Join(home, ".serena", "serena_config.yml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("web_dashboard_open_on_launch: false\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if serenaOpensPage(home, none) {
		t.Error("settings are not read")
	}
	if !serenaOpensPage(home, func(name string) string { return map[string]string{"SERENA_HOME": t.TempDir()}[name] }) {
		t.Error("SERENA_HOME is not taken")
	}
}

func FuzzPageOpens(f *testing.F) {
	f.Add([]byte("web_dashboard: false\n"))
	f.Fuzz(func(_ *testing.T, text []byte) { pageOpens(text) })
}

package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSerenaOpensPage(t *testing.T) {
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

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/setup"
)

// The settings of clients are looked for in the user's home and with the
// environment of this command, as the verb setup does.
func TestDoctorLooksAtTheUsersClients(t *testing.T) {
	d := newDesktop(t)
	d.Base.Home = t.TempDir()
	connect := d.withConnect(t)
	d.Getenv = func(name string) string { return "value of " + name }
	var asked setup.Options
	d.Setup = func(o setup.Options) api.Setup {
		asked = o
		return setup.New(setup.Options{Home: o.Home, Getenv: func(string) string { return "" }, State: o.State})
	}
	if err := os.WriteFile(filepath.Join(d.Base.Home, ".claude.json"), []byte(`{"mcpServers": {"a": {"url": "http://127.0.0.1:1"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.runs(t, "doctor")
	if asked.Home != d.Base.Home || asked.Getenv("CODEX_HOME") != "value of CODEX_HOME" || asked.Connect != connect || asked.State != d.Places().StateDir || !filepath.IsAbs(asked.Dir) {
		t.Errorf("%+v", asked)
	}
	apptest.Contains(t, d.out.String(), "Claude Code: 1 MCP server\n", ".claude.json: at an address: a\n")
}

package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/setup"
	"lamplighter/monitor/process"
)

const codexSettings = "# mine\n[mcp_servers.serena]\ncommand = \"serena\" # the one of uv\nargs = [\"start-mcp-server\", \"--context\", \"ide\", \"--project-from-cwd\"]\nenv = { TOKEN = \"hunter2\" }\n"

// withHome has the program change real files, on a home where Codex has settings,
// and puts a lamplighter-connect beside it.
func (d *desktop) withHome(t *testing.T) (codex string) {
	t.Helper()
	name, dir := ConnectName, t.TempDir()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	d.Self = filepath.Join(dir, "lamplighter")
	d.Base.Home = t.TempDir()
	codex = filepath.Join(d.Base.Home, ".codex", "config.toml")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, name), nil, 0o700), os.Mkdir(filepath.Dir(codex), 0o700), os.WriteFile(codex, []byte(codexSettings), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Setup = func(o setup.Options) api.Setup {
		o.Socket = "" // lamplighter is where it usually is
		o.Programs = func() ([]process.Info, error) { return nil, nil }
		o.PageOpens = func() bool { return true }
		o.LookPath = func(command string) (string, error) {
			if command == "serena" || filepath.IsAbs(command) {
				return command, nil
			}
			return "", errors.New("not found")
		}
		return setup.New(o)
	}
	return codex
}

func settingsAt(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the page asks for is that of the verb, without a project, and finds a
// lamplighter-connect that was installed since.
func TestSetupPart(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	b := &background{Program: d.Program, places: d.Places()}
	part := b.setupPart()
	connect, err := d.BesideUs(ConnectName)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(connect, connect+".away"); err != nil {
		t.Fatal(err)
	}
	w := setup.Wanted{Client: "codex"}
	if _, err := part.Do(t.Context(), w); !errors.Is(err, setup.ErrNoConnect) {
		t.Errorf("without %s: %v", connect, err)
	}
	list, err := part.List(t.Context(), setup.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		for _, f := range c.Files {
			if f.Scope != setup.User {
				t.Errorf("%s is of a project", f.Path)
			}
		}
	}
	if err := os.Rename(connect+".away", connect); err != nil {
		t.Fatal(err)
	}
	if result, err := part.Do(t.Context(), w); err != nil || result.Failed() || len(result.Changes) != 1 || !strings.Contains(settingsAt(t, codex), ConnectName) {
		t.Errorf("%+v, %v: %s", result, err, settingsAt(t, codex))
	}
	w.Undo = true
	if result, err := part.Do(t.Context(), w); err != nil || result.Failed() || settingsAt(t, codex) != codexSettings {
		t.Errorf("%+v, %v: %s", result, err, settingsAt(t, codex))
	}
	b.places.StateDir = ""
	if b.setupPart() != nil {
		t.Error("what could not be undone can be asked for")
	}
}

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/setup"
	"lamplighter/monitor/process"
)

const codexSettings = "# mine\n[mcp_servers.serena]\ncommand = \"serena\" # the one of uv\nargs = [\"start-mcp-server\", \"--context\", \"ide\", \"--project-from-cwd\"]\nenv = { TOKEN = \"hunter2\" }\n"

// withHome has the program change real files, on a home where Codex has settings.
func (d *desktop) withHome(t *testing.T) (codex string) {
	t.Helper()
	d.withConnect(t)
	d.Base.Home = t.TempDir()
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
	codex = d.home(".codex", "config.toml")
	writeSettings(t, codex, codexSettings)
	return codex
}

func writeSettings(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func settingsAt(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says runs a verb, and returns both of what it says.
func (d *desktop) says(t *testing.T, want int, args ...string) string {
	t.Helper()
	d.out, d.err = apptest.Buffer{}, apptest.Buffer{}
	if status := d.runs(t, args...); status != want {
		t.Errorf("%q: status %d, want %d", args, status, want)
	}
	return slashed(d.out.String() + d.err.String())
}

func TestSetupHome(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	apptest.Contains(t, d.says(t, statusFine, "setup", "--list"), "Codex, ~/.codex/config.toml\n  direct  serena  serena start-mcp-server --context ide --project-from-cwd\n", "lamplighter setup would change 1 entry", "Not found: Claude Code, ")
	looked := d.says(t, statusFine, "setup", "--dry-run")
	apptest.Contains(t, looked, "\n-command = \"serena\" # the one of uv\n", "\n+args = [\"connect\", \"--or-direct\", \"--\", \"serena\", ", "Would change ~/.codex/config.toml: serena.")
	if strings.Contains(looked, "hunter2") || settingsAt(t, codex) != codexSettings {
		t.Errorf("a look at it: %s\n%s", looked, settingsAt(t, codex))
	}
	if files, err := os.ReadDir(filepath.Dir(codex)); err != nil || len(files) != 1 {
		t.Errorf("a look left %v, %v", files, err)
	}

	apptest.Contains(t, d.says(t, statusFine, "setup", "codex", "--yes"), codexChanged)
	apptest.Contains(t, settingsAt(t, codex), "lamplighter-connect", "# the one of uv", "hunter2", `["connect", "--or-direct", "--", "serena", "start-mcp-server"`)
	apptest.Contains(t, d.says(t, statusFine, "setup", "--list"), "  shared  serena  serena start-mcp-server", "Before: config.toml.lamplighter-backup")
	apptest.Contains(t, d.says(t, statusFine, "setup", "codex", "--yes"), "Nothing to change: every Serena that was found runs through lamplighter-connect.")

	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--dry-run"), "Would put back ~/.codex/config.toml as it was, byte for byte: serena.", "+command = \"serena\"")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--yes"), "Put back ~/.codex/config.toml as it was, byte for byte: serena.")
	if got := settingsAt(t, codex); got != codexSettings {
		t.Errorf("it is not as it was: %s", got)
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--yes"), "Nothing to take out")
}

func TestSetupHomeEdited(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	d.says(t, statusFine, "setup", "--yes")
	writeSettings(t, codex, settingsAt(t, codex)+"[tui]\ntheme = \"dark\"\n")
	// It can be taken out without lamplighter-connect.
	d.Self = filepath.Join(t.TempDir(), "lamplighter")
	apptest.Contains(t, d.says(t, statusFine, "setup", "codex", "--undo", "--yes"), "Took lamplighter-connect out of ~/.codex/config.toml: serena. Nothing else in it was changed.")
	if got := settingsAt(t, codex); got != codexSettings+"[tui]\ntheme = \"dark\"\n" {
		t.Errorf("it is not as it was: %s", got)
	}
}

// A file that is broken is told of and left; the others are done.
func TestSetupHomeBroken(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	const broken = `{"mcpServers": {"serena": {"command": "serena" "args": []}}}`
	writeSettings(t, d.home(".claude.json"), broken)
	said := d.says(t, statusFailed, "setup", "--yes")
	apptest.Contains(t, said, codexChanged, "lamplighter: ~/.claude.json ", "line 1, column ")
	if settingsAt(t, d.home(".claude.json")) != broken || settingsAt(t, codex) == codexSettings {
		t.Errorf("said %s", said)
	}
	apptest.Contains(t, d.says(t, statusFailed, "setup", "claude-code", "--yes"), "Nothing was changed.", "line 1, column ")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--list"), "Claude Code, ~/.claude.json\n", "line 1, column ")
}

// The settings of a project are changed when they are named.
func TestSetupHomeProject(t *testing.T) {
	d := newDesktop(t)
	d.withHome(t)
	dir := t.TempDir()
	t.Chdir(dir)
	const shared = `{"mcpServers": {"serena": {"command": "serena", "args": ["start-mcp-server", "--context", "ide", "--project-from-cwd"]}}}`
	writeSettings(t, filepath.Join(dir, ".mcp.json"), shared)
	apptest.Contains(t, d.says(t, statusFine, "setup", "--list"), ".mcp.json (of the project here)")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--yes"), "Left alone: serena in ", "Others may use this file")
	if settingsAt(t, ".mcp.json") != shared {
		t.Error("it is changed")
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "--file", ".mcp.json", "--yes"), "Changed ", ".mcp.json: serena. Before: .mcp.json.lamplighter-backup")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--file", ".mcp.json", "--yes"), "as it was, byte for byte: serena")
	if settingsAt(t, ".mcp.json") != shared {
		t.Error("it is not as it was")
	}
}

// What changes under the question is not what was shown.
func TestSetupHomeChanges(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	const later = "# later\n" + codexSettings
	d.keyboard = &typist{types: func() string { writeSettings(t, codex, later); return "y\n" }}
	apptest.Contains(t, d.says(t, statusFailed, "setup"), "Would change ~/.codex/config.toml", "changed since it was shown; look again")
	if settingsAt(t, codex) != later {
		t.Error("it is changed")
	}
}

// typist is who types when asked.
type typist struct {
	types func() string
	text  io.Reader
}

func (r *typist) Read(p []byte) (int, error) {
	if r.text == nil {
		r.text = strings.NewReader(r.types())
	}
	return r.text.Read(p)
}

// A list without members is [] for programs; null would mean that it is not known.
func TestSetupHomeJSON(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	d.says(t, statusFine, "setup", "codex", "--yes")
	for _, args := range []string{"setup --list --json", "setup --dry-run --json", "setup --undo --yes --json"} {
		if text := strings.ReplaceAll(d.says(t, statusFine, strings.Fields(args)...), `"changed":null`, ""); strings.Contains(text, "null") {
			t.Errorf("%s: %s", args, text)
		}
	}
	if err := os.RemoveAll(codex); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "--list", "--json"), `"running":[]`, `"entries":[]`)
	d.says(t, statusFine, "setup", "--dry-run", "--json")
	apptest.Contains(t, d.out.String(), `{"changes":[],"running":[],"page":false,"notes":[]}`)
}

// What somebody else has written into a project's file is taken out when the
// project is named, and of several entries those that are.
func TestSetupHomeUndoNames(t *testing.T) {
	d := newDesktop(t)
	codex := d.withHome(t)
	dir := t.TempDir()
	t.Chdir(dir)
	const theirs = `{"mcpServers": {"serena": {"command": "/x/lamplighter-connect", "args": ["connect", "--", "serena", "start-mcp-server"]}}}`
	writeSettings(t, filepath.Join(dir, ".mcp.json"), theirs)
	d.says(t, statusFine, "setup", "codex", "--yes")
	apptest.Contains(t, d.says(t, statusFine, "setup", "claude-code", "--undo", "--yes"), "Left alone: serena in ", "--project")
	if settingsAt(t, ".mcp.json") != theirs {
		t.Error("it is taken out")
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "claude-code", "--undo", "--project", "--yes"), "Took lamplighter-connect out of ", ".mcp.json: serena.")
	if text := settingsAt(t, ".mcp.json"); strings.Contains(text, "lamplighter") {
		t.Errorf("it is not taken out: %s", text)
	}

	const notes = "[mcp_servers.notes]\ncommand = \"serena\"\nargs = [\"x\"]\n"
	writeSettings(t, codex, codexSettings+notes)
	d.says(t, statusFine, "setup", "codex", "--server", "notes", "--server", "serena", "--yes")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--server", "notes", "--yes"), "Took lamplighter-connect out of ~/.codex/config.toml: notes.")
	if text := settingsAt(t, codex); !strings.HasSuffix(text, notes) || !strings.Contains(text, "lamplighter-connect") {
		t.Errorf("not this entry alone is taken out: %s", text)
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--server", "notes", "--yes"), "Nothing to take out: these entries do not run lamplighter-connect.")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--undo", "--yes"), "serena")
	if text := settingsAt(t, codex); text != codexSettings+notes {
		t.Errorf("it is not as it was: %s", text)
	}
}

func TestSetupHomeRefuses(t *testing.T) {
	d := newDesktop(t)
	d.withHome(t)
	apptest.Contains(t, d.says(t, statusFailed, "setup", "--server", "nosuch", "--yes"), "nosuch", "lamplighter setup --list shows them")
	apptest.Contains(t, d.says(t, statusFailed, "setup", "--file", "nosuch.json", "--yes"), "nosuch.json")
	apptest.Contains(t, d.says(t, statusUsage, "setup", "claude", "--yes"), "did you mean claude-code or claude-desktop?")
	if err := os.RemoveAll(d.home(".codex")); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, d.says(t, statusFine, "setup", "--yes"), "No settings of MCP clients were found. Looked for those of Claude Code, ", "lamplighter setup --file FILE")
	apptest.Contains(t, d.says(t, statusFine, "setup", "codex", "--yes"), "Codex has no settings yet: there is no ~/.codex/config.toml.")
}

// Who names an entry that is then left alone learns it from the exit status, and
// an empty file has no servers.
func TestSetupHomeNamed(t *testing.T) {
	d := newDesktop(t)
	d.withHome(t)
	dir := t.TempDir()
	remote, empty := filepath.Join(dir, "remote.json"), filepath.Join(dir, "empty.json")
	for path, text := range map[string]string{remote: `{"mcpServers": {"far": {"url": "https://example.org/mcp"}}}`, empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Contains(t, d.says(t, statusFailed, "setup", "--file", remote, "--server", "far", "--yes"), "Left alone: far")
	apptest.Contains(t, d.says(t, statusFine, "setup", "--file", empty, "--yes"), "has no MCP servers")
}

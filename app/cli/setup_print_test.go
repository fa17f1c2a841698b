package cli

import (
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/setup"
)

const setupHome = "/home/me"

// sixClients are all clients that are known, on a home with a bit of everything.
func sixClients() []setup.Client {
	at := changedAt
	file := func(path string, scope setup.Scope, entries ...setup.Entry) setup.File {
		return setup.File{Path: setupHome + "/" + path, Scope: scope, Exists: true, Entries: entries}
	}
	codex := file(".codex/config.toml", setup.User,
		setup.Entry{Name: "serena", Path: []string{"mcp_servers", "serena"}, State: setup.Shared, Serena: true, Runs: "serena start-mcp-server --context ide", Alone: "its context codex can change the project"},
		setup.Entry{Name: "plain", Path: []string{"mcp_servers", "plain"}, State: setup.Shared, Serena: true, Runs: "serena start-mcp-server"},
		setup.Entry{Name: "old", Path: []string{"mcp_servers", "old"}, State: setup.Gone, Serena: true, Runs: "serena start-mcp-server", Becomes: "x", Off: true},
	)
	codex.Changed, codex.Backup = &at, codex.Path+".lamplighter-backup"
	broken := file(".gemini/settings.json", setup.User)
	broken.Problem = "Line 3, column 7: a comma is missing."
	return []setup.Client{
		{ID: "claude-code", Name: "Claude Code", Running: []int{4711}, Files: []setup.File{
			file(".claude.json", setup.User,
				setup.Entry{Name: "serena", Path: []string{"mcpServers", "serena"}, State: setup.Direct, Serena: true, Runs: "serena start-mcp-server --context claude-code", Becomes: "x", OpensPage: true, PageStops: true, Alone: "its context can change the project"},
				setup.Entry{Name: "serena", Path: []string{"projects", setupHome + "/alpha", "mcpServers", "serena"}, State: setup.Direct, Serena: true, Missing: "serenna", Why: "Its program serenna is not found.", Runs: "serenna start-mcp-server"},
				setup.Entry{Name: "\x1b[31mnotes", Path: []string{"mcpServers", "notes"}, State: setup.Remote, Runs: "https://…@example.org/mcp"},
			),
			file("alpha/.mcp.json", setup.Project, setup.Entry{Name: "odd", State: setup.Odd, Why: "Its args are no list of strings.", OpensPage: true}),
		}},
		{ID: "codex", Name: "Codex", Files: []setup.File{codex}},
		{ID: "cursor", Name: "Cursor", Files: []setup.File{{Path: setupHome + "/.cursor/mcp.json"}}},
		{ID: "vscode", Name: "VS Code", Files: []setup.File{file(".config/Code/User/mcp.json", setup.User)}},
		{ID: "gemini", Name: "Gemini CLI", Files: []setup.File{broken}},
		{ID: "claude-desktop", Name: "Claude Desktop"},
	}
}

func TestSetupList(t *testing.T) {
	const want = `Claude Code, ~/.claude.json (it runs)
  direct  serena              serena start-mcp-server --context claude-code
    It cannot be shared, so its server is its own: its context can change the project.
    It opens Serena's own page for every server; --no-page stops that.
  direct  serena for ~/alpha  serenna start-mcp-server
    Its program serenna is not found.
  remote  [31mnotes           https://…@example.org/mcp
Claude Code, ~/alpha/.mcp.json (of the project here; it runs)
  odd     odd                 -
    Its args are no list of strings.
    It opens Serena's own page for every server.
Codex, ~/.codex/config.toml
  Changed by setup on 20 Nov 2026 12:03. Before: config.toml.lamplighter-backup
  alone   serena              serena start-mcp-server --context ide
    It cannot be shared, so its server is its own: its context codex can change the project.
  shared  plain               serena start-mcp-server
  gone    old                 serena start-mcp-server
    Switched off in Codex.
    Its lamplighter-connect is not there.
VS Code, ~/.config/Code/User/mcp.json
  No MCP servers.
Gemini CLI, ~/.gemini/settings.json
  Line 3, column 7: a comma is missing.
lamplighter setup would change 2 entries; with --dry-run it shows how.
Not found: Cursor, Claude Desktop
`
	if got := (setupWords{home: setupHome}).list(sixClients()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSetupListFits(t *testing.T) {
	for _, width := range []int{40, 80} {
		got := setupWords{home: setupHome, screen: screen{terminal: true, width: width}}.list(sixClients())
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, " ") && len([]rune(line)) > width+1 {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		apptest.Contains(t, strings.Join(strings.Fields(got), " "), "its server is its own: its context codex can change the project")
	}
	coloured := setupWords{home: setupHome, screen: screen{terminal: true, colour: true, width: 100}}.list(sixClients())
	apptest.Contains(t, coloured, "  \x1b[90malone \x1b[0m  serena", "  \x1b[32mshared\x1b[0m  plain", "  \x1b[31mgone  \x1b[0m  old")
}

func TestSetupListOfNothing(t *testing.T) {
	none := []setup.Client{{ID: "codex", Name: "Codex", Files: []setup.File{{Path: setupHome + "/.codex/config.toml"}}}, {ID: "cursor", Name: "Cursor"}}
	for name, test := range map[string]struct {
		got, want string
	}{
		"no client": {setupWords{home: setupHome}.list(none), "No settings of MCP clients were found. Looked for those of Codex, Cursor.\nAdd Serena in your client, then run this again; or name its file: lamplighter setup --file FILE\n"},
		"not this client": {
			setupWords{home: setupHome, options: setupOptions{client: "codex"}}.list(none[:1]),
			"Codex has no settings yet: there is no ~/.codex/config.toml. Start it once, or add a server with it, then run this again.\n",
		},
		"nothing to do": {setupWords{home: setupHome}.nothing(none), "No settings of MCP clients were found. Looked for those of Codex, Cursor.\nAdd Serena"},
		"no Serena": {
			setupWords{home: setupHome}.nothing([]setup.Client{{Files: []setup.File{{Exists: true}}}}),
			"Nothing to change: no Serena was found. lamplighter setup --list shows what is there",
		},
		"all shared": {setupWords{home: setupHome}.nothing(sixClients()), "Nothing to change: every Serena that was found runs through lamplighter-connect.\n"},
		"undo of a name": {
			setupWords{options: setupOptions{undo: true, servers: []string{"notes"}}}.nothing(none),
			"Nothing to take out: these entries do not run lamplighter-connect. lamplighter setup --list shows them.\n",
		},
		"undo": {setupWords{options: setupOptions{undo: true}}.nothing(none), "Nothing to take out: no entry runs lamplighter-connect.\n"},
	} {
		if !strings.HasPrefix(test.got, test.want) {
			t.Errorf("%s: %q", name, test.got)
		}
	}
}

func TestSetupChange(t *testing.T) {
	path := setupHome + "/.codex/config.toml"
	serena := setup.Entry{Name: "serena", Path: []string{"mcp_servers", "serena"}, Serena: true}
	alone := serena
	alone.Alone, alone.Missing = "its context codex can change the project", "serena"
	left := serena
	left.Why = "Others may use this file."
	for name, test := range map[string]struct {
		options setupOptions
		change  setup.Change
		dry     bool
		want    string
		problem string
	}{
		"changed": {setupOptions{}, setup.Change{Path: path, Entries: []setup.Entry{serena}, Backup: path + ".lamplighter-backup-2"}, false, "Changed ~/.codex/config.toml: serena. Before: config.toml.lamplighter-backup-2", ""},
		"written all the same": {setupOptions{}, setup.Change{Path: path, Backup: path + ".lamplighter-backup", Problem: path + " was written by another program.", Written: true}, false,
			"What ~/.codex/config.toml was before is in config.toml.lamplighter-backup.", "~/.codex/config.toml was written by another program."},
		"an older backup":   {setupOptions{}, setup.Change{Path: path, Kept: []string{path + ".lamplighter-backup-2"}}, false, "An older text of ~/.codex/config.toml stays in config.toml.lamplighter-backup-2.", ""},
		"a link":            {setupOptions{}, setup.Change{Path: path, Entries: []setup.Entry{serena}, Backup: setupHome + "/dots/codex.toml.lamplighter-backup"}, false, "Changed ~/.codex/config.toml: serena. Before: ~/dots/codex.toml.lamplighter-backup", ""},
		"alone and missing": {setupOptions{}, setup.Change{Path: path, Entries: []setup.Entry{alone}}, false, "Changed ~/.codex/config.toml: serena.\n  serena cannot be shared, so its server is its own: its context codex can change the project.\n  serena will not start: its program serena is not found.", ""},
		"left":              {setupOptions{}, setup.Change{Path: path, Left: []setup.Entry{left}}, false, "Left alone: serena in ~/.codex/config.toml. Others may use this file.", ""},
		"whole":             {setupOptions{undo: true}, setup.Change{Path: path, Entries: []setup.Entry{alone}, Whole: true}, false, "Put back ~/.codex/config.toml as it was, byte for byte: serena.\n  serena will not start: its program serena is not found.", ""},
		"whole, dry":        {setupOptions{undo: true}, setup.Change{Path: path, Entries: []setup.Entry{serena}, Whole: true}, true, "Would put back ~/.codex/config.toml as it was, byte for byte: serena.", ""},
		"reversed":          {setupOptions{undo: true}, setup.Change{Path: path, Entries: []setup.Entry{serena}, Backup: path + ".lamplighter-backup"}, false, "Took lamplighter-connect out of ~/.codex/config.toml: serena. Nothing else in it was changed. Backup: config.toml.lamplighter-backup", ""},
		"reversed, dry":     {setupOptions{undo: true}, setup.Change{Path: path, Entries: []setup.Entry{serena}}, true, "Would take lamplighter-connect out of ~/.codex/config.toml: serena. Nothing else in it would change.", ""},
		"problem":           {setupOptions{}, setup.Change{Path: path, Problem: "The disk is full."}, false, "", "~/.codex/config.toml is not changed: The disk is full."},
		"named already":     {setupOptions{}, setup.Change{Path: path, Problem: path + " is read-only."}, false, "", "~/.codex/config.toml is read-only."},
	} {
		lines, problem := setupWords{home: setupHome, options: test.options}.change(test.change, test.dry)
		if got := strings.Join(lines, "\n"); got != test.want || problem != test.problem {
			t.Errorf("%s:\n%s\n%s", name, got, problem)
		}
	}
}

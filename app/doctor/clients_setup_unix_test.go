//go:build unix && !darwin

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/setup"
)

// The settings of clients of a home, as the real setup finds them.
func TestClientsOfAHome(t *testing.T) {
	m := newMachine(t)
	program := func(name string) string { return m.write(t, "#!/bin/sh\n", "bin", name) }
	serena, connect := program("serena"), program("lamplighter-connect")
	m.write(t, `{
  "numStartups": 3,
  "mcpServers": {
    "mine": {"command": "`+serena+`", "args": ["start-mcp-server", "--context", "ide", "--project-from-cwd", "--open-web-dashboard", "false"], "env": {"A_TOKEN": "hunter2"}},
    "notes": {"command": "no-such-program", "args": ["--api-key", "hunter2"]},
    "spread": {"command": "API_KEY=hunter2 serena start-mcp-server"},
    "far": {"type": "http", "url": "https://me:hunter2@example.com/mcp", "headers": {"Authorization": "Bearer hunter2"}},
    "odd": {"command": "x", "args": "hunter2"}
  }
}
`, ".claude.json")
	codex := m.write(t, `[mcp_servers.serena]
command = "/nowhere/lamplighter-connect"
args = ["connect", "--", "`+serena+`", "start-mcp-server", "--context", "ide", "--project-from-cwd"]

[mcp_servers.opens]
command = "`+serena+`"
args = ["start-mcp-server", "--open-web-dashboard", "true"]
`, ".codex", "config.toml")
	m.write(t, `{"mcpServers": {"a": {"command": "`+connect+`", "args": ["connect", "--", "`+serena+`", "start-mcp-server", "--context", "ide", "--project-from-cwd"]}}}`, ".cursor", "mcp.json")
	gemini := m.write(t, "{\n  \"mcpServers\": {,}\n}\n", ".gemini", "settings.json")
	project := m.write(t, `{"servers": {"serena": {"command": "`+serena+`", "args": ["start-mcp-server", "--context", "ide", "--project", "${workspaceFolder}"]}}}`, "project", ".vscode", "mcp.json")

	before := listing(t, m.home)
	report := Report{Lines: m.of(t, Clients)}
	if after := listing(t, m.home); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	text := said(report.Lines)
	apptest.Contains(t, text,
		"ok: Claude Code: 5 MCP servers |",
		"ok: Claude Code starts Serena directly: mine ("+filepath.Join(m.home, ".claude.json")+":4) | Each of its windows has a server of its own. | To share one: lamplighter setup claude-code\n",
		"warn: Claude Code starts a program that is not found: notes ("+filepath.Join(m.home, ".claude.json")+":5) starts no-such-program",
		"warn: Claude Code has an entry that is not understood: odd (",
		"broken: Codex runs a lamplighter-connect that is not there: serena ("+codex+":1) |",
		"; or take it out: lamplighter setup codex --undo --server NAME\n",
		"warn: each server of these entries opens a page of Serena's own in the browser: Codex's opens ("+codex+":5)",
		"ok: Cursor: 1 MCP server, 1 through lamplighter-connect |",
		"warn: Gemini CLI: "+gemini+" ",
		"line 2, column ",
		"ok: VS Code starts a server that lamplighter setup leaves alone: serena ("+project+":1) | Others may use this file",
	)
	if strings.Count(text, gemini) != 1 || strings.Contains(text, "Claude Desktop") {
		t.Error(text)
	}
	encoded, err := report.MarshalJSON()
	if err != nil || strings.Contains(string(encoded)+report.Text(Style{}), "hunter2") {
		t.Errorf("%v: a secret is shown:\n%s\n%s", err, report.Text(Style{}), encoded)
	}
	apptest.Contains(t, string(encoded), `{"path":"`+codex+`","project":false,"entries":[{"name":"serena","line":1,"state":"gone","serena":true,"off":false},`)
}

// What doctor says to do about a program that is gone does it: to point to the
// one that is there, and to take it out.
func TestGoneAndWhatToDo(t *testing.T) {
	for name, wanted := range map[string]setup.Wanted{"setup codex": {Client: "codex"}, "setup codex --undo --server serena": {Client: "codex", Undo: true, Servers: []string{"serena"}}} {
		m := newMachine(t)
		serena := m.write(t, "#!/bin/sh\n", "bin", "serena")
		m.write(t, "#!/bin/sh\n", "bin", "lamplighter-connect")
		m.write(t, "[mcp_servers.serena]\ncommand = \"/nowhere/lamplighter-connect\"\nargs = [\"connect\", \"--\", \""+serena+"\", \"start-mcp-server\", \"--context\", \"ide\", \"--project-from-cwd\"]\n", ".codex", "config.toml")
		apptest.Contains(t, said(m.of(t, Clients)), "broken: Codex runs a lamplighter-connect that is not there")
		if result, err := m.o.Clients.(*setup.Setup).Do(t.Context(), wanted); err != nil || result.Failed() || len(result.Changes) != 1 {
			t.Fatal(name, result, err)
		}
		if lines := m.of(t, Clients); worst(lines) == Broken {
			t.Errorf("%s:\n%s", name, said(lines))
		}
	}
}

// Settings that are pipes, which to open could wait for ever, are not opened, and
// what cannot be read is told.
func TestSettingsThatCannotBeRead(t *testing.T) {
	m := newMachine(t)
	makePipe(t, filepath.Join(m.home, "pipe"))
	for _, name := range []string{".claude.json", ".codex/config.toml"} {
		path := filepath.Join(m.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(m.home, "pipe"), path); err != nil {
			t.Fatal(err)
		}
	}
	large := m.write(t, "", ".cursor", "mcp.json")
	if err := os.Truncate(large, 33<<20); err != nil {
		t.Fatal(err)
	}
	lines := m.of(t, Clients)
	if len(lines) != 3 || worst(lines) != Warn {
		t.Errorf("%s", said(lines))
	}
	apptest.Contains(t, said(lines), "warn: Cursor: "+large+": it is larger than 32 MiB, which no settings are. | lamplighter setup leaves this file as it is. A server that is started from it may be shown without its name.", "warn: Claude Code: "+filepath.Join(m.home, ".claude.json"), "warn: Codex: "+filepath.Join(m.home, ".codex/config.toml"))
}

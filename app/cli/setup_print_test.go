package cli

import (
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

package setup

import (
	"lamplighter/app/setup/document"
)

// The names of tables, and who uses them. The sources are beside the places.
func tableMCPServers() [][]string { return [][]string{{"mcpServers"}} }
func tableServers() [][]string    { return [][]string{{"servers"}} }
func tableCodex() [][]string      { return [][]string{{"mcp_servers"}} }

// tablesOfClaudeCode are those of .claude.json: for all projects, and for one of
// them, by its path.
func tablesOfClaudeCode() [][]string {
	return [][]string{{"mcpServers"}, {"projects", "*", "mcpServers"}}
}

// tablesOfVSCodeSettings are those of settings.json, whose names may be written in
// one with dots.
func tablesOfVSCodeSettings() [][]string {
	return [][]string{{"mcp", "servers"}, {"mcp.servers"}}
}

// tablesFor is where servers may stand in a file that is no known place, by its
// format; nil for a format that is not known. A table that several clients share
// comes first, the bare "servers", which may be anything, last.
//
// Sources: those of places, and for context_servers the page "Model Context
// Protocol in Zed" (zed.dev/docs/ai/mcp). mcp_servers in JSON and mcpServers and
// servers in TOML are what people carry over from one client to another.
func tablesFor(path string) [][]string {
	switch document.FormatOf(path) {
	case document.JSON:
		return [][]string{
			{"mcpServers"},
			{"projects", "*", "mcpServers"},
			{"mcp", "servers"},
			{"mcp.servers"},
			{"mcp_servers"},
			{"context_servers"},
			{"servers"},
		}
	case document.TOML:
		return [][]string{{"mcp_servers"}, {"mcpServers"}, {"servers"}}
	}
	return nil
}

// onDisk is what is asked of the disk to find places. Each may be asked of a path
// that is not there.
type onDisk struct {
	exists func(path string) bool
	list   func(dir string) []string // the names of the directories in it
}

// placesWith is where clients keep MCP servers on a system: in the order in
// which clients are shown, the user's files before the project's. It is a pure
// function of what it is given.
func placesWith(goos, home, dir string, getenv func(string) string, l onDisk) []place {
	s := system{goos: goos, home: home, getenv: getenv}
	if !s.absolute(home) {
		return nil
	}
	projects := s.projects(dir, l.exists)
	var all []place
	seen := map[string]bool{}
	add := func(p place) {
		// The home may be a project as well, and then a file is the user's.
		if key := s.key(p.path); !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	for _, c := range knownClients() {
		for _, p := range c.user(s, l) {
			p.client, p.name, p.scope, p.format = c.id, c.name, User, document.FormatOf(p.path)
			add(p)
		}
		for _, project := range projects {
			path := s.join(project, c.project...)
			if len(c.project) > 0 {
				add(place{client: c.id, name: c.name, path: path, scope: Project, tables: c.projectTables, format: document.FormatOf(path)})
			}
		}
	}
	return all
}

// knownClient is a program whose settings are known.
type knownClient struct {
	id, name string
	user     func(system, onDisk) []place // path and tables alone
	// project is its file within a project, as names; none when it has none.
	project       []string
	projectTables [][]string
}

// knownClients are all that are known, in the order in which they are shown.
func knownClients() []knownClient {
	return []knownClient{
		{
			// Source: the page "Connect Claude Code to tools via MCP", its part "MCP
			// installation scopes" (code.claude.com/docs/en/mcp): the scopes user and
			// local are in ~/.claude.json, the scope project in .mcp.json.
			id: "claude-code", name: "Claude Code",
			user: placesOfClaudeCode, project: []string{".mcp.json"}, projectTables: tableMCPServers(),
		},
		{id: "claude-desktop", name: "Claude Desktop", user: placesOfClaudeDesktop},
		{
			// Source: the pages "Model Context Protocol" and "Config basics"
			// (developers.openai.com/codex/mcp, /codex/config-basic). The file of a
			// project counts only when the user has said to trust the project.
			id: "codex", name: "Codex",
			user: placesOfCodex, project: []string{".codex", "config.toml"}, projectTables: tableCodex(),
		},
		{
			// Source: the page "Model Context Protocol", its part "Configuration
			// locations" (cursor.com/docs/mcp).
			id: "cursor", name: "Cursor",
			user: placesOfCursor, project: []string{".cursor", "mcp.json"}, projectTables: tableMCPServers(),
		},
		{
			// Source: docs/copilot/reference/mcp-configuration.md of
			// microsoft/vscode-docs.
			id: "vscode", name: "VS Code",
			user: placesOfVSCode, project: []string{".vscode", "mcp.json"}, projectTables: tableServers(),
		},
		{
			// Source: docs/tools/mcp-server.md and docs/reference/configuration.md of
			// google-gemini/gemini-cli.
			id: "gemini-cli", name: "Gemini CLI",
			user: placesOfGemini, project: []string{".gemini", "settings.json"}, projectTables: tableMCPServers(),
		},
	}
}

// placesOfClaudeCode: CLAUDE_CONFIG_DIR moves ~/.claude, and .claude.json, which
// otherwise is beside it, into itself.
//
// Source: the page "Environment variables" (code.claude.com/docs/en/env-vars) for
// the directory, the issue 48448 of anthropics/claude-code for the file: "claude mcp
// add-json --scope user" writes .claude.json in it.
func placesOfClaudeCode(s system, _ onDisk) []place {
	dir := s.directory("CLAUDE_CONFIG_DIR", s.home)
	return []place{{path: s.join(dir, ".claude.json"), tables: tablesOfClaudeCode()}}
}

// placesOfClaudeDesktop: the directory that Electron gives a program named Claude. What is
// installed from a package of Windows (the Store's, and by now also the one of
// the download page) sees a directory of that package in its place; both may be
// there, after a change from one to the other.
//
// Sources: docs/docs/develop/connect-local-servers.mdx of
// modelcontextprotocol/modelcontextprotocol (macOS and Windows); the issues 25579
// and 26073 of anthropics/claude-code (the package); the page "app" of Electron's
// documentation, appData (Linux).
func placesOfClaudeDesktop(s system, l onDisk) []place {
	const file = "claude_desktop_config.json"
	found := []place{{path: s.join(s.programs(), "Claude", file), tables: tableMCPServers()}}
	if s.goos != "windows" {
		return found
	}
	packages := s.join(s.directory("LOCALAPPDATA", s.join(s.home, "AppData", "Local")), "Packages")
	for _, name := range l.list(packages) {
		if hasPrefixFold(name, "Claude_") {
			path := s.join(packages, name, "LocalCache", "Roaming", "Claude", file)
			found = append(found, place{path: path, tables: tableMCPServers()})
		}
	}
	return found
}

// placesOfCodex: Source: docs/config.md of openai/codex, "The $CODEX_HOME/config.toml
// configuration file". Codex takes a relative CODEX_HOME from where it is
// started, which is not known here.
func placesOfCodex(s system, _ onDisk) []place {
	dir := s.directory("CODEX_HOME", s.join(s.home, ".codex"))
	return []place{{path: s.join(dir, "config.toml"), tables: tableCodex()}}
}

func placesOfCursor(s system, _ onDisk) []place {
	return []place{{path: s.join(s.home, ".cursor", "mcp.json"), tables: tableMCPServers()}}
}

// placesOfVSCode: mcp.json of each profile, and what has not been moved out of
// settings.json, where servers were until version 1.102.
//
// Sources, in microsoft/vscode: src/vs/platform/environment/node/userDataPath.ts
// (the directory), src/vs/platform/userDataProfile/common/userDataProfile.ts
// (mcpResource, profilesHome), nameShort of product.json (Code); the names of
// Insiders and of VSCodium are those of their directories in the page "User and
// workspace settings" and in docs/migration.md of VSCodium/vscodium.
func placesOfVSCode(s system, l onDisk) []place {
	var found []place
	for _, product := range []string{"Code", "Code - Insiders", "VSCodium"} {
		user := s.join(s.programs(), product, "User")
		found = append(found, place{path: s.join(user, "mcp.json"), tables: tableServers()})
		for _, profile := range l.list(s.join(user, "profiles")) {
			found = append(found, place{path: s.join(user, "profiles", profile, "mcp.json"), tables: tableServers()})
		}
		found = append(found, place{path: s.join(user, "settings.json"), tables: tablesOfVSCodeSettings()})
	}
	return found
}

// placesOfGemini: GEMINI_CLI_HOME stands for the home, not for the directory in it.
func placesOfGemini(s system, _ onDisk) []place {
	home := s.directory("GEMINI_CLI_HOME", s.home)
	return []place{{path: s.join(home, ".gemini", "settings.json"), tables: tableMCPServers()}}
}

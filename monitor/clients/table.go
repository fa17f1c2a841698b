package clients

// client is a program that starts MCP servers. What it is called as a process is in
// lists of names, as monitor.ProgramName gives them.
type client struct {
	id, name string
	programs string   // without the spaces in a name
	electron []string // parts of the path of a program that is called electron
	pkg      string   // of npm, whose script node runs
	scripts  string   // as npm installs them, and titles
	says     string   // what it calls itself in MCP, where that is none of the programs

	user func(system, onDisk) []Place // path and tables alone
	// project is its file within a project, as names; none when it has none.
	project       []string
	projectTables [][]string
}

// known are all clients that are known, in the order in which they are shown.
var known = []client{
	{
		// Source: the page "Connect Claude Code to tools via MCP", its part "MCP
		// installation scopes" (code.claude.com/docs/en/mcp): the scopes user and
		// local are in ~/.claude.json, the scope project in .mcp.json.
		id: "claude-code", name: "Claude Code",
		programs: "claude", pkg: "@anthropic-ai/claude-code", scripts: "claude", says: "claude-code",
		user: placesOfClaudeCode, project: []string{".mcp.json"}, projectTables: tableMCPServers(),
	},
	{
		id: "claude-desktop", name: "Claude Desktop",
		programs: "claude-desktop", electron: []string{"/claude-desktop/"}, says: "claude-ai",
		user: placesOfClaudeDesktop,
	},
	{
		// Source: the pages "Model Context Protocol" and "Config basics"
		// (developers.openai.com/codex/mcp, /codex/config-basic). The file of a
		// project counts only when the user has said to trust the project.
		id: "codex", name: "Codex",
		programs: "codex", pkg: "@openai/codex", scripts: "codex", says: "codex-mcp-client",
		user: placesOfCodex, project: []string{".codex", "config.toml"}, projectTables: tableCodex(),
	},
	{
		// Source: the page "Model Context Protocol", its part "Configuration
		// locations" (cursor.com/docs/mcp).
		id: "cursor", name: "Cursor",
		programs: "cursor cursor-agent", says: "cursor-vscode",
		user: placesOfCursor, project: []string{".cursor", "mcp.json"}, projectTables: tableMCPServers(),
	},
	{
		// Source: docs/copilot/reference/mcp-configuration.md of
		// microsoft/vscode-docs.
		id: "vscode", name: "VS Code",
		programs: "code code-insiders codium vscodium",
		electron: []string{"/visual studio code.app/", "/visual studio code - insiders.app/", "/vscodium.app/"},
		user:     placesOfVSCode, project: []string{".vscode", "mcp.json"}, projectTables: tableServers(),
	},
	{
		// Source: docs/tools/mcp-server.md and docs/reference/configuration.md of
		// google-gemini/gemini-cli.
		id: "gemini-cli", name: "Gemini CLI",
		pkg: "@google/gemini-cli", scripts: "gemini", says: "gemini gemini-cli-mcp-client",
		user: placesOfGemini, project: []string{".gemini", "settings.json"}, projectTables: tableMCPServers(),
	},
}

// productNames are what people call programs of which no settings are known, and
// products of a client that have a name of their own.
var productNames = map[string]string{
	"code-insiders": "VS Code Insiders", "codium": "VSCodium", "vscodium": "VSCodium",
	"visual studio code": "VS Code", "visual studio code - insiders": "VS Code Insiders",
	"qwen": "Qwen Code", "opencode": "OpenCode", "crush": "Crush", "goose": "Goose", "aider": "Aider", "amp": "Amp", "copilot": "Copilot CLI",
	"windsurf": "Windsurf", "kiro": "Kiro", "zed": "Zed", "zed-editor": "Zed",
	"idea": "IntelliJ IDEA", "idea64": "IntelliJ IDEA", "pycharm": "PyCharm", "pycharm64": "PyCharm",
	"goland": "GoLand", "goland64": "GoLand", "webstorm": "WebStorm", "webstorm64": "WebStorm",
	"emacs": "Emacs", "nvim": "Neovim", "lm-studio": "LM Studio", "lm studio": "LM Studio",
	"mcp-inspector": "MCP Inspector", "inspector-cli": "MCP Inspector", "lamplighter": "Lamplighter",
}

// placesOfClaudeCode: CLAUDE_CONFIG_DIR moves ~/.claude, and .claude.json, which
// otherwise is beside it, into itself.
//
// Source: the page "Environment variables" (code.claude.com/docs/en/env-vars) for
// the directory, the issue 48448 of anthropics/claude-code for the file: "claude mcp
// add-json --scope user" writes .claude.json in it.
func placesOfClaudeCode(s system, _ onDisk) []Place {
	dir := s.directory("CLAUDE_CONFIG_DIR", s.home)
	return []Place{{Path: s.join(dir, ".claude.json"), Tables: tablesOfClaudeCode()}}
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
func placesOfClaudeDesktop(s system, l onDisk) []Place {
	const file = "claude_desktop_config.json"
	found := []Place{{Path: s.join(s.programs(), "Claude", file), Tables: tableMCPServers()}}
	if s.goos != "windows" {
		return found
	}
	packages := s.join(s.directory("LOCALAPPDATA", s.join(s.home, "AppData", "Local")), "Packages")
	for _, name := range l.list(packages) {
		if hasPrefixFold(name, "Claude_") {
			path := s.join(packages, name, "LocalCache", "Roaming", "Claude", file)
			found = append(found, Place{Path: path, Tables: tableMCPServers()})
		}
	}
	return found
}

// placesOfCodex: Source: docs/config.md of openai/codex, "The $CODEX_HOME/config.toml
// configuration file". Codex takes a relative CODEX_HOME from where it is
// started, which is not known here.
func placesOfCodex(s system, _ onDisk) []Place {
	dir := s.directory("CODEX_HOME", s.join(s.home, ".codex"))
	return []Place{{Path: s.join(dir, "config.toml"), Tables: tableCodex()}}
}

func placesOfCursor(s system, _ onDisk) []Place {
	return []Place{{Path: s.join(s.home, ".cursor", "mcp.json"), Tables: tableMCPServers()}}
}

// placesOfVSCode: mcp.json of each profile, and what has not been moved out of
// settings.json, where servers were until version 1.102.
//
// Sources, in microsoft/vscode: src/vs/platform/environment/node/userDataPath.ts
// (the directory), src/vs/platform/userDataProfile/common/userDataProfile.ts
// (mcpResource, profilesHome), nameShort of product.json (Code); the names of
// Insiders and of VSCodium are those of their directories in the page "User and
// workspace settings" and in docs/migration.md of VSCodium/vscodium.
func placesOfVSCode(s system, l onDisk) []Place {
	var found []Place
	for _, product := range []string{"Code", "Code - Insiders", "VSCodium"} {
		user := s.join(s.programs(), product, "User")
		found = append(found, Place{Path: s.join(user, "mcp.json"), Tables: tableServers()})
		for _, profile := range l.list(s.join(user, "profiles")) {
			found = append(found, Place{Path: s.join(user, "profiles", profile, "mcp.json"), Tables: tableServers()})
		}
		found = append(found, Place{Path: s.join(user, "settings.json"), Tables: tablesOfVSCodeSettings()})
	}
	return found
}

// placesOfGemini: GEMINI_CLI_HOME stands for the home, not for the directory in it.
func placesOfGemini(s system, _ onDisk) []Place {
	home := s.directory("GEMINI_CLI_HOME", s.home)
	return []Place{{Path: s.join(home, ".gemini", "settings.json"), Tables: tableMCPServers()}}
}

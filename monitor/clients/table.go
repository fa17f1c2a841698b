package clients

// client is a program that starts MCP servers. What it is called as a process is in
// lists of names, as monitor.ProgramName gives them.
type client struct {
	id, name string
	programs string   // without the spaces in a name
	own      []string // parts of the path of what is its own, whatever that is called
	paths    []string // parts of the path of a program that is called electron, or claude
	packages []string // of npm, whose script node runs: parts of its path
	scripts  string   // as npm installs them, and titles
	says     string   // what it calls itself in MCP, where that is none of the programs
	within   string   // IDs of the programs that it is an extension of

	tables string     // of its servers: the names to each parted by slashes
	files  []location // of the user's
	// project are its files within a project.
	project string
	above   bool // those of all directories above count as well
}

// location is where a client keeps servers, there or not.
type location struct {
	env  string // what names the directory, where it is set
	dir  string // below the home, or one of those that a system tells
	path string // below that; a * ends the names of directories that are there
	// tables are those of the file, where they are others than the client's.
	tables    string
	optional  bool // it is a place only where it is there
	plugins   bool // the directories of plugins of Claude Code, MARKET/PLUGIN/VERSION
	extension bool // what an extension of the Gemini CLI or of Qwen Code has brought, in its directory
}

// The directories that a system tells: for the settings of programs with a window, and
// of those of the command line that Zed counts itself among.
const (
	programs = "PROGRAMS"
	config   = "CONFIG"
)

// The names of tables. The sources are beside the clients.
const (
	mcpServers = "mcpServers"
	// In .claude.json for all projects, and for one of them, by its path.
	mcpServersOfProjects = "mcpServers projects/*/mcpServers"
	// In settings.json the names may be written in one with dots.
	serversInSettings = "mcp/servers mcp.servers"
)

// known are all clients that are known, in the order in which they are shown.
var known = []client{
	{
		// Source: the page "Connect Claude Code to tools via MCP", its part "MCP
		// installation scopes" (code.claude.com/docs/en/mcp): the scopes user and
		// local are in ~/.claude.json, the scope project in .mcp.json.
		id: "claude-code", name: "Claude Code",
		programs: "claude", scripts: "claude", says: "claude-code",
		// Its program is called like its version. Source: the page "Advanced setup"
		// (code.claude.com/docs/en/setup), its part on uninstalling.
		own: []string{"/claude/versions/"},
		// The package of the SDK has brought it as a script.
		packages: []string{"/@anthropic-ai/claude-code/", "/@anthropic-ai/claude-agent-sdk/"},
		tables:   mcpServers, project: ".mcp.json",
		// Source: the issue 42465 of anthropics/claude-code.
		above: true,
		files: []location{
			// CLAUDE_CONFIG_DIR moves ~/.claude, and .claude.json, which otherwise is beside
			// it, into itself. Source: the page "Environment variables"
			// (code.claude.com/docs/en/env-vars) for the directory, the issue 48448 of
			// anthropics/claude-code for the file: "claude mcp add-json --scope user" writes
			// .claude.json in it.
			{env: "CLAUDE_CONFIG_DIR", path: ".claude.json", tables: mcpServersOfProjects},
			// Source: the page "Plugins reference" (code.claude.com/docs/en/plugins-reference)
			// for .mcp.json and plugin.json; enabledPlugins in the page "Settings".
			{env: "CLAUDE_CONFIG_DIR", dir: ".claude", path: "plugins/cache/*/*/*", plugins: true},
		},
	},
	{
		id: "claude-desktop", name: "Claude Desktop",
		programs: "claude-desktop", says: "claude-ai",
		// Places of the application: Claude.app (macOS), AnthropicClaude\app-VERSION below
		// LOCALAPPDATA and WindowsApps\Claude_VERSION_… (Windows), /opt/Claude (Linux).
		// Sources: the issues 25579 and 26073 of anthropics/claude-code, and programs that
		// look for it.
		paths:  []string{"/claude.app/contents/", "/anthropicclaude/", "/windowsapps/claude_", "/opt/claude/", "/claude-desktop/"},
		tables: mcpServers,
		files: []location{
			// The directory that Electron gives a program named Claude. What is installed
			// from a package of Windows (the Store's, and by now also the one of the download
			// page) sees a directory of that package in its place; both may be there, after a
			// change from one to the other.
			//
			// Sources: docs/docs/develop/connect-local-servers.mdx of
			// modelcontextprotocol/modelcontextprotocol (macOS and Windows); the issues 25579
			// and 26073 of anthropics/claude-code (the package); the page "app" of Electron's
			// documentation, appData (Linux).
			{dir: programs, path: "Claude/claude_desktop_config.json"},
			{env: "LOCALAPPDATA", dir: "AppData/Local", path: "Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"},
		},
	},
	{
		// Source: the pages "Model Context Protocol" and "Config basics"
		// (developers.openai.com/codex/mcp, /codex/config-basic). The file of a
		// project counts only when the user has said to trust the project.
		id: "codex", name: "Codex",
		programs: "codex", packages: []string{"/@openai/codex/"}, scripts: "codex", says: "codex-mcp-client",
		tables: "mcp_servers", project: ".codex/config.toml",
		// Source: docs/config.md of openai/codex, "The $CODEX_HOME/config.toml
		// configuration file". Codex takes a relative CODEX_HOME from where it is
		// started, which is not known here.
		files: []location{{env: "CODEX_HOME", dir: ".codex", path: "config.toml"}},
	},
	{
		// Source: the page "Model Context Protocol", its part "Configuration
		// locations" (cursor.com/docs/mcp).
		id: "cursor", name: "Cursor",
		programs: "cursor cursor-agent", says: "cursor-vscode",
		// Its command line tool brings a node of its own, and so does what it runs on
		// another machine, see VS Code.
		own:    []string{"/cursor-agent/", "/.cursor-server/bin/", "/.cursor-server/cli/"},
		tables: mcpServers, files: []location{{path: ".cursor/mcp.json"}}, project: ".cursor/mcp.json",
	},
	{
		// Source: docs/copilot/reference/mcp-configuration.md of
		// microsoft/vscode-docs.
		id: "vscode", name: "VS Code",
		programs: "code code-insiders codium vscodium",
		// What it runs on a machine on which somebody works from another one: a node, and
		// the scripts server-main.js and bootstrap-fork. Source: the issues 262 and 635 of
		// microsoft/vscode-remote-release.
		own:    []string{"/.vscode-server/bin/", "/.vscode-server/cli/", "/.vscode-server-insiders/bin/", "/.vscode-server-insiders/cli/", "/.vscodium-server/bin/"},
		paths:  []string{"/visual studio code.app/", "/visual studio code - insiders.app/", "/vscodium.app/"},
		tables: "servers", project: ".vscode/mcp.json",
		// mcp.json of each profile, and what has not been moved out of settings.json, where
		// servers were until version 1.102.
		//
		// Sources, in microsoft/vscode: src/vs/platform/environment/node/userDataPath.ts
		// (the directory), src/vs/platform/userDataProfile/common/userDataProfile.ts
		// (mcpResource, profilesHome), nameShort of product.json (Code); the names of
		// Insiders and of VSCodium are those of their directories in the page "User and
		// workspace settings" and in docs/migration.md of VSCodium/vscodium.
		files: []location{
			{dir: programs, path: "Code/User/mcp.json"},
			{dir: programs, path: "Code/User/profiles/*/mcp.json"},
			{dir: programs, path: "Code/User/settings.json", tables: serversInSettings},
			{dir: programs, path: "Code - Insiders/User/mcp.json"},
			{dir: programs, path: "Code - Insiders/User/profiles/*/mcp.json"},
			{dir: programs, path: "Code - Insiders/User/settings.json", tables: serversInSettings},
			{dir: programs, path: "VSCodium/User/mcp.json"},
			{dir: programs, path: "VSCodium/User/profiles/*/mcp.json"},
			{dir: programs, path: "VSCodium/User/settings.json", tables: serversInSettings},
			// Of somebody who works here from another machine. Source: the issue 269340 of
			// microsoft/vscode.
			{path: ".vscode-server/data/User/mcp.json", optional: true},
			{path: ".vscode-server-insiders/data/User/mcp.json", optional: true},
		},
	},
	{
		// Source: docs/tools/mcp-server.md and docs/reference/configuration.md of
		// google-gemini/gemini-cli.
		id: "gemini-cli", name: "Gemini CLI",
		packages: []string{"/@google/gemini-cli/"}, scripts: "gemini", says: "gemini gemini-cli-mcp-client",
		tables: mcpServers, project: ".gemini/settings.json",
		files: []location{ // GEMINI_CLI_HOME stands for the home, not for the directory in it
			{env: "GEMINI_CLI_HOME", path: ".gemini/settings.json"},
			// Source: docs/extensions/reference.md of google-gemini/gemini-cli.
			{env: "GEMINI_CLI_HOME", path: ".gemini/extensions/*/gemini-extension.json", extension: true},
		},
	},
	{
		// Source: the page "Model Context Protocol in Zed" (zed.dev/docs/ai/mcp), and
		// "Configuring Zed" for the places.
		id: "zed", name: "Zed",
		programs: "zed zed-editor", says: "zed",
		tables: "context_servers", files: []location{{dir: config, path: "zed/settings.json"}}, project: ".zed/settings.json",
	},
	{
		// Source: the pages "MCP servers" and "Config" (opencode.ai/docs). It keeps
		// command and arguments in one list.
		id: "opencode", name: "OpenCode",
		programs: "opencode", packages: []string{"/opencode-ai/"}, scripts: "opencode",
		tables: "mcp", project: "opencode.json opencode.jsonc",
		files: []location{ // in one directory on every system
			{env: "XDG_CONFIG_HOME", dir: ".config", path: "opencode/opencode.json"},
			{env: "XDG_CONFIG_HOME", dir: ".config", path: "opencode/opencode.jsonc", optional: true},
		},
	},
	{
		// Source: docs/users/features/mcp.md of QwenLM/qwen-code.
		id: "qwen-code", name: "Qwen Code",
		packages: []string{"/@qwen-code/qwen-code/"}, scripts: "qwen", says: "qwen qwen-code",
		tables: mcpServers, project: ".qwen/settings.json",
		files: []location{
			{path: ".qwen/settings.json"},
			// Source: docs/users/extension of QwenLM/qwen-code.
			{path: ".qwen/extensions/*/qwen-extension.json", extension: true},
		},
	},
	{
		// Source: the page "MCP configuration" (kiro.dev/docs/mcp/configuration).
		id: "kiro", name: "Kiro",
		programs: "kiro kiro-cli",
		tables:   mcpServers, files: []location{{path: ".kiro/settings/mcp.json"}}, project: ".kiro/settings/mcp.json",
	},
	{
		// Source: the page "Model Context Protocol" of Junie's documentation
		// (jetbrains.com/help/junie).
		id: "junie", name: "Junie",
		programs: "junie idea idea64 pycharm pycharm64 goland goland64 webstorm webstorm64",
		tables:   mcpServers, files: []location{{path: ".junie/mcp/mcp.json"}}, project: ".junie/mcp/mcp.json",
	},
	{
		// Source: the page "MCP" (antigravity.google/docs/mcp).
		id: "antigravity", name: "Antigravity",
		programs: "antigravity",
		// Its language server starts the servers, and is called as that of Windsurf.
		// Source: docs/antigravity.md of steipete/CodexBar.
		own:    []string{"/extensions/antigravity/bin/", "/antigravity.app/contents/resources/bin/", "/.antigravity-server/bin/"},
		tables: mcpServers, files: []location{{path: ".gemini/antigravity/mcp_config.json"}},
	},
	{
		// Source: the page "Cascade MCP integration" (docs.windsurf.com).
		id: "windsurf", name: "Windsurf",
		programs: "windsurf",
		// Source: docs/providers/windsurf.md of robinebers/openusage.
		own:    []string{"/extensions/windsurf/bin/", "/.windsurf-server/bin/"},
		tables: mcpServers, files: []location{{path: ".codeium/windsurf/mcp_config.json"}},
	},
	{
		// Source: docs of RooCodeInc/Roo-Code, "Using MCP in Roo Code".
		id: "roo", name: "Roo Code", within: "vscode cursor windsurf",
		tables: mcpServers, files: ofExtension("rooveterinaryinc.roo-cline/settings/mcp_settings.json"), project: ".roo/mcp.json",
	},
	{
		// Source: the page "Using MCP in Kilo Code" (kilocode.ai/docs).
		id: "kilo", name: "Kilo Code", within: "vscode cursor windsurf",
		tables: mcpServers, files: ofExtension("kilocode.kilo-code/settings/mcp_settings.json"), project: ".kilocode/mcp.json",
	},
	{
		// Source: src/core/storage/disk.ts of cline/cline.
		id: "cline", name: "Cline", within: "vscode cursor windsurf",
		tables: mcpServers, files: ofExtension("saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
	},
}

// productNames are what people call programs of which no settings are known, and
// products of a client that have a name of their own.
var productNames = map[string]string{
	"code-insiders": "VS Code Insiders", "code - insiders": "VS Code Insiders", "codium": "VSCodium", "vscodium": "VSCodium",
	"visual studio code": "VS Code", "visual studio code - insiders": "VS Code Insiders",
	"crush": "Crush", "goose": "Goose", "aider": "Aider", "amp": "Amp", "copilot": "Copilot CLI",
	"idea": "IntelliJ IDEA", "idea64": "IntelliJ IDEA", "pycharm": "PyCharm", "pycharm64": "PyCharm",
	"goland": "GoLand", "goland64": "GoLand", "webstorm": "WebStorm", "webstorm64": "WebStorm",
	"emacs": "Emacs", "nvim": "Neovim", "lm-studio": "LM Studio", "lm studio": "LM Studio",
	"mcp-inspector": "MCP Inspector", "inspector-cli": "MCP Inspector", "lamplighter": "Lamplighter",
}

// ofExtension is the file that an extension keeps in each editor of VS Code's kind.
func ofExtension(path string) []location {
	path = "/User/globalStorage/" + path
	return []location{
		{dir: programs, path: "Code" + path},
		{dir: programs, path: "Code - Insiders" + path, optional: true},
		{dir: programs, path: "VSCodium" + path, optional: true},
		{dir: programs, path: "Cursor" + path, optional: true},
		{dir: programs, path: "Windsurf" + path, optional: true},
		{path: ".vscode-server/data" + path, optional: true},
		{path: ".cursor-server/data" + path, optional: true},
		{path: ".windsurf-server/data" + path, optional: true},
	}
}

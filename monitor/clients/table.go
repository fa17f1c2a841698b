package clients

import "encoding/json"

// client is a program that starts MCP servers. What it is called as a process is in
// lists of names, as monitor.ProgramName gives them.
type client struct {
	id, name string
	programs string   // without the spaces in a name
	electron []string // parts of the path of a program that is called electron
	pkg      string   // of npm, whose script node runs
	scripts  string   // as npm installs them, and titles
	says     string   // what it calls itself in MCP, where that is none of the programs
	within   string   // IDs of the programs that it is an extension of

	user func(system, onDisk) []Place // path and tables alone
	// project are its files within a project, each as names.
	project       [][]string
	projectTables [][]string
}

// known are all clients that are known, in the order in which they are shown. Those
// without a source of their own have it beside the function that finds their files.
var known = []client{
	{
		// Source: the page "Connect Claude Code to tools via MCP", its part "MCP
		// installation scopes" (code.claude.com/docs/en/mcp): the scopes user and
		// local are in ~/.claude.json, the scope project in .mcp.json.
		id: "claude-code", name: "Claude Code",
		programs: "claude", pkg: "@anthropic-ai/claude-code", scripts: "claude", says: "claude-code",
		user: placesOfClaudeCode, project: [][]string{{".mcp.json"}}, projectTables: tableMCPServers(),
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
		user: placesOfCodex, project: [][]string{{".codex", "config.toml"}}, projectTables: tableCodex(),
	},
	{
		// Source: the page "Model Context Protocol", its part "Configuration
		// locations" (cursor.com/docs/mcp).
		id: "cursor", name: "Cursor",
		programs: "cursor cursor-agent", says: "cursor-vscode",
		user: inHome(tableMCPServers(), ".cursor", "mcp.json"), project: [][]string{{".cursor", "mcp.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: docs/copilot/reference/mcp-configuration.md of
		// microsoft/vscode-docs.
		id: "vscode", name: "VS Code",
		programs: "code code-insiders codium vscodium",
		electron: []string{"/visual studio code.app/", "/visual studio code - insiders.app/", "/vscodium.app/"},
		user:     placesOfVSCode, project: [][]string{{".vscode", "mcp.json"}}, projectTables: tableServers(),
	},
	{
		// Source: docs/tools/mcp-server.md and docs/reference/configuration.md of
		// google-gemini/gemini-cli.
		id: "gemini-cli", name: "Gemini CLI",
		pkg: "@google/gemini-cli", scripts: "gemini", says: "gemini gemini-cli-mcp-client",
		user: placesOfGemini, project: [][]string{{".gemini", "settings.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: the page "Model Context Protocol in Zed" (zed.dev/docs/ai/mcp), and
		// "Configuring Zed" for the places.
		id: "zed", name: "Zed",
		programs: "zed zed-editor", says: "zed",
		user: placesOfZed, project: [][]string{{".zed", "settings.json"}}, projectTables: tableZed(),
	},
	{
		// Source: the pages "MCP servers" and "Config" (opencode.ai/docs). It keeps
		// command and arguments in one list.
		id: "opencode", name: "OpenCode",
		programs: "opencode", pkg: "opencode-ai", scripts: "opencode",
		user: placesOfOpenCode, project: [][]string{{"opencode.json"}, {"opencode.jsonc"}}, projectTables: tableOpenCode(),
	},
	{
		// Source: docs/users/features/mcp.md of QwenLM/qwen-code.
		id: "qwen-code", name: "Qwen Code",
		pkg: "@qwen-code/qwen-code", scripts: "qwen", says: "qwen qwen-code",
		user: inHome(tableMCPServers(), ".qwen", "settings.json"), project: [][]string{{".qwen", "settings.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: the page "MCP configuration" (kiro.dev/docs/mcp/configuration).
		id: "kiro", name: "Kiro",
		programs: "kiro kiro-cli",
		user:     inHome(tableMCPServers(), ".kiro", "settings", "mcp.json"), project: [][]string{{".kiro", "settings", "mcp.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: the page "Model Context Protocol" of Junie's documentation
		// (jetbrains.com/help/junie).
		id: "junie", name: "Junie",
		programs: "junie idea idea64 pycharm pycharm64 goland goland64 webstorm webstorm64",
		user:     inHome(tableMCPServers(), ".junie", "mcp", "mcp.json"), project: [][]string{{".junie", "mcp", "mcp.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: the page "MCP" (antigravity.google/docs/mcp).
		id: "antigravity", name: "Antigravity",
		programs: "antigravity",
		user:     inHome(tableMCPServers(), ".gemini", "antigravity", "mcp_config.json"),
	},
	{
		// Source: the page "Cascade MCP integration" (docs.windsurf.com).
		id: "windsurf", name: "Windsurf",
		programs: "windsurf",
		user:     inHome(tableMCPServers(), ".codeium", "windsurf", "mcp_config.json"),
	},
	{
		// Source: docs of RooCodeInc/Roo-Code, "Using MCP in Roo Code".
		id: "roo", name: "Roo Code", within: "vscode cursor windsurf",
		user:    ofExtension("rooveterinaryinc.roo-cline", "mcp_settings.json"),
		project: [][]string{{".roo", "mcp.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: the page "Using MCP in Kilo Code" (kilocode.ai/docs).
		id: "kilo", name: "Kilo Code", within: "vscode cursor windsurf",
		user:    ofExtension("kilocode.kilo-code", "mcp_settings.json"),
		project: [][]string{{".kilocode", "mcp.json"}}, projectTables: tableMCPServers(),
	},
	{
		// Source: src/core/storage/disk.ts of cline/cline.
		id: "cline", name: "Cline", within: "vscode cursor windsurf",
		user: ofExtension("saoudrizwan.claude-dev", "cline_mcp_settings.json"),
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

// inHome is a file at a fixed place below the home.
func inHome(tables [][]string, names ...string) func(system, onDisk) []Place {
	return func(s system, _ onDisk) []Place { return []Place{{Path: s.join(s.home, names...), Tables: tables}} }
}

// ofExtension is the file that an extension keeps in each editor of VS Code's kind.
func ofExtension(id, file string) func(system, onDisk) []Place {
	return func(s system, l onDisk) []Place {
		var found []Place
		for _, product := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
			path := s.join(s.programs(), product, "User", "globalStorage", id, "settings", file)
			if product == "Code" || l.exists(path) {
				found = append(found, Place{Path: path, Tables: tableMCPServers()})
			}
		}
		return found
	}
}

// placesOfZed: on macOS its directory is that of a program of the command line.
func placesOfZed(s system, _ onDisk) []Place {
	dir := s.programs()
	if s.goos == "darwin" {
		dir = s.join(s.home, ".config")
	}
	return []Place{{Path: s.join(dir, s.named("zed", "Zed"), "settings.json"), Tables: tableZed()}}
}

// placesOfOpenCode: one of two names, and one directory on every system.
func placesOfOpenCode(s system, l onDisk) []Place {
	dir := s.join(s.directory("XDG_CONFIG_HOME", s.join(s.home, ".config")), "opencode")
	found := []Place{{Path: s.join(dir, "opencode.json"), Tables: tableOpenCode()}}
	if path := s.join(dir, "opencode.jsonc"); l.exists(path) {
		found = append(found, Place{Path: path, Tables: tableOpenCode()})
	}
	return found
}

// placesOfClaudeCode: CLAUDE_CONFIG_DIR moves ~/.claude, and .claude.json, which
// otherwise is beside it, into itself.
//
// Source: the page "Environment variables" (code.claude.com/docs/en/env-vars) for
// the directory, the issue 48448 of anthropics/claude-code for the file: "claude mcp
// add-json --scope user" writes .claude.json in it.
//
// What plugins bring is in their copies below plugins/cache, MARKET/PLUGIN/VERSION.
// Source: the page "Plugins reference" (code.claude.com/docs/en/plugins-reference)
// for .mcp.json, which may have no table around its servers; enabledPlugins in the
// page "Settings".
func placesOfClaudeCode(s system, l onDisk) []Place {
	found := []Place{{Path: s.join(s.directory("CLAUDE_CONFIG_DIR", s.home), ".claude.json"), Tables: tablesOfClaudeCode()}}
	dir := s.directory("CLAUDE_CONFIG_DIR", s.join(s.home, ".claude"))
	cache := s.join(dir, "plugins", "cache")
	var enabled map[string]bool
	for _, market := range l.list(cache) {
		for _, plugin := range l.list(s.join(cache, market)) {
			if enabled == nil {
				enabled = enabledPlugins(l.read(s.join(dir, "settings.json")))
			}
			if !enabled[plugin+"@"+market] {
				continue
			}
			for _, version := range l.list(s.join(cache, market, plugin)) {
				path := s.join(cache, market, plugin, version, ".mcp.json")
				if l.exists(path) {
					found = append(found, Place{Path: path, Tables: tableMCPServers(), Plugin: plugin + "@" + market})
				}
			}
		}
	}
	return found
}

// enabledPlugins reads which plugins Claude Code's settings switch on.
func enabledPlugins(settings []byte) map[string]bool {
	read := struct {
		EnabledPlugins map[string]bool `json:"enabledPlugins"`
	}{map[string]bool{}}
	_ = json.Unmarshal(settings, &read) // what cannot be read switches nothing on
	return read.EnabledPlugins
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

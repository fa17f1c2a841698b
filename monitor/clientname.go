package monitor

import "strings"

// clientNames maps what a program is called, in lower case and without
// extension, to the name its users know it by.
var clientNames = map[string]string{
	"claude": "Claude Code", "claude-desktop": "Claude Desktop",
	"codex": "Codex", "gemini": "Gemini CLI", "qwen": "Qwen Code", "opencode": "OpenCode", "crush": "Crush",
	"goose": "Goose", "aider": "Aider", "amp": "Amp", "copilot": "Copilot CLI",
	"code": "VS Code", "code-insiders": "VS Code Insiders", "codium": "VSCodium", "vscodium": "VSCodium",
	"code helper": "VS Code", "code helper (plugin)": "VS Code",
	"cursor": "Cursor", "cursor helper": "Cursor", "cursor helper (plugin)": "Cursor", "windsurf": "Windsurf", "kiro": "Kiro",
	"zed": "Zed", "zed-editor": "Zed", "idea": "IntelliJ IDEA", "idea64": "IntelliJ IDEA", "pycharm": "PyCharm",
	"pycharm64": "PyCharm", "goland": "GoLand", "goland64": "GoLand", "webstorm": "WebStorm", "webstorm64": "WebStorm",
	"emacs": "Emacs", "nvim": "Neovim",
	"lm-studio": "LM Studio", "lm studio": "LM Studio", "mcp-inspector": "MCP Inspector",
	"lamplighter": "Lamplighter",
	// What they call themselves in the clientInfo of MCP, where that differs.
	"claude-code": "Claude Code", "claude-ai": "Claude Desktop", "codex-mcp-client": "Codex", "gemini-cli-mcp-client": "Gemini CLI",
	"visual studio code": "VS Code", "visual studio code - insiders": "VS Code Insiders", "cursor-vscode": "Cursor", "inspector-cli": "MCP Inspector",
}

// clientScripts are packages whose script an interpreter runs.
var clientScripts = []struct{ part, name string }{
	{"@anthropic-ai/claude-code", "Claude Code"},
	{"@openai/codex", "Codex"},
	{"@google/gemini-cli", "Gemini CLI"},
	{"@qwen-code/qwen-code", "Qwen Code"},
	{"@modelcontextprotocol/inspector", "MCP Inspector"},
	{"@github/copilot", "Copilot CLI"},
	{"opencode-ai", "OpenCode"},
}

// ClientName is what people call the program with this short name, executable
// and command line, which has started an instance or asked for one: the
// assistant's name where it is known, else the program's own. All three are
// foreign text, and so is the answer.
func ClientName(short, path string, args []string) string {
	exe := ProgramName(path)
	// The desktop application and the command line tool are both called claude.
	if exe == "claude" && strings.Contains(strings.ToLower(path), "claude.app/") {
		return "Claude Desktop"
	}
	for _, arg := range args[min(1, len(args)):] {
		slashed := strings.ReplaceAll(arg, `\`, "/")
		for _, s := range clientScripts {
			if strings.Contains(slashed, s.part+"/") {
				return s.name
			}
		}
		if !strings.HasPrefix(arg, "-") {
			// "node /usr/local/bin/gemini": the script is what runs.
			if name, ok := clientNames[ProgramName(arg)]; ok && isInterpreter(exe) {
				return name
			}
			break
		}
	}
	for _, name := range []string{exe, strings.ToLower(short)} {
		if known, ok := clientNames[name]; ok {
			return known
		}
	}
	switch {
	case short != "":
		return short
	case path != "":
		return exe
	}
	return "unknown program"
}

func isInterpreter(name string) bool {
	return name == "node" || name == "bun" || name == "deno" || name == "electron" || strings.HasPrefix(name, "python")
}

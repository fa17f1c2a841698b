package clients

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestClientOf(t *testing.T) {
	for _, test := range []struct {
		want, exe string
		args      []string
	}{
		// Claude Code, by each way to install it.
		{"claude-code", "/home/ada/.local/share/claude/versions/2.1.221", []string{"claude"}},
		{"claude-code", "/home/ada/.local/share/claude/versions/2.1.221 (deleted)", []string{"claude", "--resume"}},
		{"claude-code", "/home/ada/.local/bin/claude", []string{"claude"}},
		{"claude-code", "/opt/homebrew/Caskroom/claude-code/2.1.3/claude", []string{"claude"}},
		{"claude-code", `C:\Users\ada\.local\bin\claude.exe`, []string{"claude"}},
		{"claude-code", "/usr/bin/node", []string{"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}},
		{"claude-code", "/usr/bin/node", []string{"node", "--no-warnings", "--enable-source-maps", "/usr/local/bin/claude", "-c"}},
		{"claude-code", "/usr/bin/node", []string{"claude"}},
		{"claude-code", `C:\Program Files\nodejs\node.exe`, []string{"node", `C:\Users\ada\AppData\Roaming\npm\node_modules\@anthropic-ai\claude-code\cli.js`}},
		{"claude-code", "/home/ada/.vscode/extensions/anthropic.claude-code-2.0.0/resources/native-binary/claude", []string{"claude", "--output-format"}},
		{"claude-code", "", []string{"claude"}},
		// The one that the SDK brings with it, as a script once.
		{"claude-code", "/home/ada/venv/lib/python3.12/site-packages/claude_agent_sdk/_bundled/claude", []string{"/home/ada/venv/lib/python3.12/site-packages/claude_agent_sdk/_bundled/claude", "--print"}},
		{"claude-code", "/srv/app/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude", []string{"claude", "--output-format", "stream-json"}},
		{"claude-code", "/usr/bin/node", []string{"node", "/srv/app/node_modules/@anthropic-ai/claude-agent-sdk/cli.js", "--output-format", "stream-json"}},
		{"", "/usr/bin/node", []string{"node", "/srv/claude-agent-sdk/app.js"}},
		// The one that Claude Desktop brings with it.
		{"claude-code", "/Users/ada/Library/Application Support/Claude/claude-code/2.1.9/claude.app/Contents/MacOS/claude", []string{"claude"}},
		{"claude-code", `C:\Users\ada\AppData\Roaming\Claude\claude-code\2.1.9\claude.exe`, []string{"claude.exe"}},

		{"claude-desktop", "/Applications/Claude.app/Contents/MacOS/Claude", []string{"/Applications/Claude.app/Contents/MacOS/Claude"}},
		{"claude-desktop", `C:\Users\ada\AppData\Local\AnthropicClaude\app-0.14.4\claude.exe`, []string{"claude.exe"}},
		{"claude-desktop", `C:\Program Files\WindowsApps\Claude_1.1.3647.0_x64__pzs8sxrjxfjjc\app\Claude.exe`, []string{"Claude.exe"}},
		{"claude-desktop", "/usr/lib/claude-desktop/claude-desktop", []string{"/usr/lib/claude-desktop/claude-desktop"}},
		{"claude-desktop", "/opt/Claude/claude", []string{"/opt/Claude/claude"}},
		{"claude-desktop", "/usr/lib/claude-desktop/node_modules/electron/dist/electron", []string{"electron", "/usr/lib/claude-desktop/app.asar"}},
		{"claude-desktop", "/Applications/Claude.app/Contents/Frameworks/Claude Helper (Renderer).app/Contents/MacOS/Claude Helper (Renderer)", []string{"Claude Helper", "--type=renderer"}},
		{"claude-desktop", `C:\Users\ada\AppData\Local\AnthropicClaude\app-0.14.4\claude.exe`, []string{"claude.exe", "--type=gpu-process"}},
		{"claude-desktop", "/usr/lib/claude-desktop/claude-desktop", []string{"/usr/lib/claude-desktop/claude-desktop --type=zygote --no-sandbox"}},

		{"codex", "/usr/lib/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex", []string{"codex"}},
		{"codex", "/usr/local/bin/codex-x86_64-unknown-linux-musl", []string{"codex"}},
		{"codex", "/usr/bin/node", []string{"node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "resume"}},
		{"codex", "/opt/codex", []string{"codex", "look at main.js"}},
		{"codex", "/Applications/Codex.app/Contents/MacOS/Codex", []string{"Codex"}},
		{"", "/usr/bin/codex-linux-sandbox", []string{"codex-linux-sandbox"}},

		{"gemini-cli", "/usr/bin/node", []string{"node", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"}},
		{"gemini-cli", "/usr/bin/node", []string{"node", "--max-old-space-size=8192", "-r", "/etc/proxy.js", "/usr/bin/gemini"}},
		{"gemini-cli", "/usr/bin/node", []string{"/usr/bin/node", "--no-warnings=DEP0040", "/opt/homebrew/bin/gemini"}},
		{"gemini-cli", "/home/ada/.bun/bin/bun", []string{"bun", "run", "/home/ada/node_modules/@google/gemini-cli/dist/index.js"}},

		{"cursor", "/usr/share/cursor/cursor", []string{"/usr/share/cursor/cursor"}},
		{"cursor", "/tmp/.mount_Cursorab12/usr/share/cursor/cursor", []string{"cursor", "--no-sandbox"}},
		{"cursor", `C:\Users\ada\AppData\Local\Programs\cursor\Cursor.exe`, []string{"Cursor.exe"}},
		{"cursor", "/Applications/Cursor.app/Contents/MacOS/Cursor", []string{"Cursor"}},
		{"cursor", "/home/ada/.local/share/cursor-agent/versions/2025.10/node", []string{"/home/ada/.local/bin/cursor-agent", "--use-system-ca", "index.js"}},
		{"cursor", "/Applications/Cursor.app/Contents/Frameworks/Cursor Helper (Plugin).app/Contents/MacOS/Cursor Helper (Plugin)", []string{"Cursor Helper", "--type=utility"}},

		{"vscode", "/usr/share/code/code", []string{"/usr/share/code/code"}},
		{"vscode", "/usr/share/code/code", []string{"code", "/home/ada/src/main.js"}},
		{"vscode", "/usr/share/code-insiders/code-insiders", []string{"code-insiders"}},
		{"vscode", "/usr/share/codium/codium", []string{"codium"}},
		{"vscode", `C:\Users\ada\AppData\Local\Programs\Microsoft VS Code Insiders\Code - Insiders.exe`, []string{"Code - Insiders.exe"}},
		{"vscode", `C:\Program Files\Microsoft VS Code\Code.exe`, []string{"Code.exe", `D:\src\main.js`}},
		{"vscode", "/Applications/Visual Studio Code.app/Contents/MacOS/Electron", []string{"Electron"}},
		{"vscode", "/Applications/Visual Studio Code - Insiders.app/Contents/MacOS/Code - Insiders", []string{"Code - Insiders"}},
		{"vscode", "/Applications/VSCodium.app/Contents/MacOS/Electron", []string{"Electron"}},
		{"vscode", "/usr/share/code/code", []string{"code", "--type=renderer"}},
		{"vscode", "/usr/share/code/code", []string{"code", "/usr/share/code/resources/app/out/cli.js", "."}},
		{"vscode", "/usr/share/code/code", []string{"code", "/home/ada/.vscode/extensions/x/server.js", "--node-ipc"}},
		{"", "/Applications/Slack.app/Contents/MacOS/Electron", []string{"Electron"}},

		// What an editor runs for somebody who works on another machine.
		{"vscode", "/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/node", []string{"/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/node", "/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/out/server-main.js", "--connection-token=remotessh"}},
		{"vscode", "/home/ada/.vscode-server-insiders/bin/1a2b/node", []string{"node", "/home/ada/.vscode-server-insiders/bin/1a2b/out/server-main.js"}},
		{"cursor", "/home/ada/.cursor-server/bin/linux-x64/1a2b/node", []string{"node", "/home/ada/.cursor-server/bin/linux-x64/1a2b/out/server-main.js"}},
		{"windsurf", "/home/ada/.windsurf-server/bin/1a2b/node", []string{"node", "/home/ada/.windsurf-server/bin/1a2b/out/server-main.js"}},
		{"vscode", "/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/node", []string{"node", "/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/out/bootstrap-fork", "--type=extensionHost"}},
		{"vscode", "/home/ada/.vscode-server/bin/1a2b/node", []string{"node", "/home/ada/.vscode-server/extensions/x/server.js", "--node-ipc"}},
		{"", "/usr/bin/node", []string{"node", "/home/ada/.vscode-server/extensions/x/mcp.js"}},
		{"claude-code", "/home/ada/.vscode-server/extensions/anthropic.claude-code-2.0.0/resources/native-binary/claude", []string{"claude"}},

		// Ours, whatever it passes on.
		{"", "/usr/bin/lamplighter-connect", []string{"lamplighter-connect", "connect", "--", "claude"}},
		{"", "/usr/bin/lamplighter", []string{"lamplighter", "setup", "codex"}},
		{"", `C:\Program Files\Lamplighter\lamplighter-connect.exe`, []string{"lamplighter-connect.exe"}},
		{"", "", []string{"/usr/bin/lamplighter-connect", "connect"}},
		{"", "/usr/bin/lamplighter-connect", []string{"claude"}},

		// What only speaks of a client.
		{"", "/usr/bin/bash", []string{"bash", "-c", "claude"}},
		{"", "/usr/bin/vim", []string{"vim", "/usr/lib/node_modules/@openai/codex/bin/codex.js"}},
		{"", "/usr/bin/node", []string{"node", "server.js", "claude"}},
		{"", "/usr/bin/node", []string{"node", "/usr/bin/npx", "@google/gemini-cli"}},
		{"", "/usr/bin/node", []string{"node", "-e", "require('/x/@openai/codex/bin/codex.js')"}},
		{"", "/usr/bin/node", []string{"node"}},
		{"", "/usr/bin/node", nil},
		{"", "/usr/bin/tmux", []string{"tmux", "new", "-s", "claude"}},
		{"", "/usr/bin/claudette", []string{"claudette"}},
		{"", "/home/ada/claude/server", []string{"server"}},
		{"", "", nil},
		{"", "", []string{""}},
	} {
		if got := Of(process.Info{Exe: test.exe, Args: test.args}); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.exe, test.args, got, test.want)
		}
	}
}

// The helpers of a client that start its servers are known to be its own, so that none is
// taken for a server.
func TestHelpers(t *testing.T) {
	for exe, want := range map[string]string{
		"/usr/share/windsurf/resources/app/extensions/windsurf/bin/language_server_linux_x64":                                      "windsurf",
		"/home/ada/.windsurf-server/bin/1a2b/extensions/windsurf/bin/language_server_linux_x64":                                    "windsurf",
		"/Applications/Windsurf.app/Contents/Resources/app/extensions/windsurf/bin/language_server_macos_arm":                      "windsurf",
		`C:\Users\ada\AppData\Local\Programs\Antigravity\resources\app\extensions\antigravity\bin\language_server_windows_x64.exe`: "antigravity",
		"/Applications/Antigravity.app/Contents/Resources/bin/language_server":                                                     "antigravity",
		"/home/ada/.codeium/bin/1a2b/language_server_linux_x64":                                                                    "",
		"/home/ada/.vscode-server/cli/servers/Stable-1a2b/server/node_modules/@vscode/ripgrep/bin/rg":                              "vscode",
	} {
		if got := Of(process.Info{Exe: exe, Args: []string{exe}}); got != want {
			t.Errorf("%s is %q, want %q", exe, got, want)
		}
	}
}

func TestRunning(t *testing.T) {
	got := Running([]process.Info{
		{Identity: monitor.Identity{PID: 4}, Exe: "/usr/bin/node", Args: []string{"node", "/usr/bin/claude"}},
		{Identity: monitor.Identity{PID: 5}, Exe: "/usr/share/code/code", Args: []string{"code"}},
		{Identity: monitor.Identity{PID: 3}, Parent: 5, Exe: "/usr/share/code/code", Args: []string{"code", "--type=zygote"}},
		{Identity: monitor.Identity{PID: 9}, Parent: 3, Exe: "/usr/share/code/code", Args: []string{"code", "--type=renderer"}},
		{Identity: monitor.Identity{PID: 30}, Parent: 9, Exe: "/usr/bin/claude", Args: []string{"claude"}},
		{Identity: monitor.Identity{PID: 6}, Exe: "/usr/share/codium/codium", Args: []string{"codium"}},
		{Identity: monitor.Identity{PID: 7}, Exe: "/usr/bin/lamplighter-connect", Args: []string{"lamplighter-connect"}},
		{Identity: monitor.Identity{PID: 8}, Exe: "/usr/bin/bash", Args: []string{"bash"}},
	})
	want := map[string][]int{"claude-code": {4, 30}, "vscode": {5, 6}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = Running([]process.Info{ // code.cmd has started it and ended
		{Identity: monitor.Identity{PID: 5, Start: 10}, Parent: 3, Exe: `C:\Code\Code.exe`, Args: []string{"Code.exe"}},
		{Identity: monitor.Identity{PID: 3, Start: 20}, Parent: 5, Exe: `C:\Code\Code.exe`, Args: []string{"Code.exe", "--type=renderer"}},
	})
	if want := map[string][]int{"vscode": {5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("of the pid of its parent: got %v, want %v", got, want)
	}
	if got := Running(nil); len(got) != 0 {
		t.Errorf("nothing runs, got %v", got)
	}
}

// Each answer is a client whose settings are known.
func TestRunningNamesKnownClients(t *testing.T) {
	var ids []string
	for _, c := range known {
		if c.within == "" {
			ids = append(ids, c.id)
		}
	}
	for _, p := range []process.Info{
		{Exe: "/usr/bin/claude"}, {Exe: "/opt/Claude/claude"}, {Exe: "/usr/bin/codex"}, {Exe: "/usr/bin/cursor"}, {Exe: "/usr/bin/code"},
		{Exe: "/usr/bin/node", Args: []string{"node", "/usr/bin/gemini"}}, {Exe: "/usr/libexec/zed-editor"}, {Exe: "/usr/bin/opencode"},
		{Exe: "/usr/bin/node", Args: []string{"node", "/usr/lib/node_modules/@qwen-code/qwen-code/cli.js"}}, {Exe: "/usr/share/kiro/kiro"},
		{Exe: "/opt/idea/bin/idea"}, {Exe: "/usr/share/antigravity/antigravity"}, {Exe: "/usr/share/windsurf/windsurf"},
	} {
		i := slices.Index(ids, Of(p))
		if i < 0 {
			t.Fatalf("%q is %q, which is no client or was there before; left are %q", p.Exe, Of(p), ids)
		}
		ids = slices.Delete(ids, i, i+1)
	}
	if len(ids) > 0 {
		t.Errorf("%q are not found when they run", ids)
	}
}

// Whatever a command line holds, a program has one client at most, and ours none.
func FuzzClientOf(f *testing.F) {
	f.Add("/usr/bin/node", "node\x00--title\x00x\x00/usr/bin/gemini")
	f.Add(`C:\claude.exe`, "claude\x00--type=")
	f.Add("", " \x00--require")
	f.Fuzz(func(t *testing.T, exe, args string) {
		p := process.Info{Exe: exe, Args: strings.Split(args, "\x00")}
		id := Of(p)
		if id != "" && !slices.ContainsFunc(known, func(c client) bool { return c.id == id }) {
			t.Errorf("%+v is %q", p, id)
		}
		if id := Of(process.Info{Exe: "/usr/bin/lamplighter-connect", Args: p.Args}); id != "" {
			t.Errorf("ours with %q is %q", p.Args, id)
		}
	})
}

func TestNameOf(t *testing.T) {
	for _, c := range []struct {
		info process.Info
		want string
	}{
		{process.Info{Name: "claude", Exe: "/home/u/.local/share/claude/versions/2.0.1/claude", Args: []string{"claude"}}, "Claude Code"},
		{process.Info{Name: "claude", Exe: "/home/u/.local/share/claude/versions/2.0.1", Args: []string{"claude"}}, "Claude Code"},
		{process.Info{Name: "node", Exe: "/usr/bin/node", Args: []string{"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}}, "Claude Code"},
		{process.Info{Name: "Claude", Exe: "/Applications/Claude.app/Contents/MacOS/Claude"}, "Claude Desktop"},
		{process.Info{Name: "node", Exe: "/usr/bin/node", Args: []string{"node", "/usr/local/bin/gemini", "-p", "x"}}, "Gemini CLI"},
		{process.Info{Name: "MainThread", Exe: "/usr/bin/node", Args: []string{"node", "/usr/local/bin/codex"}}, "Codex"},
		{process.Info{Name: "codex", Exe: "/opt/codex/codex"}, "Codex"},
		{process.Info{Name: "code", Exe: "/usr/share/code/code", Args: []string{"/usr/share/code/code", "--type=utility"}}, "VS Code"},
		{process.Info{Name: "Code.exe", Exe: `C:\Users\u\AppData\Local\Programs\Microsoft VS Code\Code.exe`}, "VS Code"},
		{process.Info{Name: "cursor", Exe: "/tmp/.mount_x/usr/share/cursor/cursor"}, "Cursor"},
		{process.Info{Name: "zsh", Exe: "/usr/bin/zsh", Args: []string{"-zsh"}}, "zsh"},
		{process.Info{Name: "vim", Exe: "/usr/bin/vim", Args: []string{"vim", "/home/u/codex"}}, "vim"},
		{process.Info{Name: "node", Exe: "/usr/bin/node", Args: []string{"node"}}, "node"},
		{process.Info{}, "unknown program"},
	} {
		if got := NameOf(c.info); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.info, got, c.want)
		}
	}
}

// What clients call themselves in MCP means the same programs.
func TestNamesInClientInfo(t *testing.T) {
	for said, want := range map[string]string{
		"claude-code": "Claude Code", "codex-mcp-client": "Codex", "gemini-cli-mcp-client": "Gemini CLI", "Visual Studio Code": "VS Code",
		"inspector-cli": "MCP Inspector", "my client": "my client", "": "unknown program",
	} {
		if got := SaidName(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

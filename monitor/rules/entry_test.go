package rules

import (
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

func runs(exe string, line string) process.Info {
	return process.Info{Exe: exe, Args: strings.Fields(line)}
}

// What only fits a variable of an entry is not taken for the server, when it is what the
// client starts for itself.
func TestByEntry(t *testing.T) {
	entry := func(name, line string) clients.Entry {
		words := strings.Fields(line)
		return clients.Entry{Client: "vscode", Name: name, Command: words[0], Args: words[1:]}
	}
	mine := entry("mine", "python3 ${workspaceFolder}/server.py")
	for _, c := range []struct {
		process process.Info
		entries []clients.Entry
		want    string
	}{
		{runs("/usr/bin/python3", "python3 /home/u/proj/server.py"), []clients.Entry{mine}, "mine"},
		{runs("/usr/bin/python3", "python3 /home/u/.vscode/extensions/x.y-1/server.py"), []clients.Entry{mine}, ""},
		{runs("/usr/bin/python3", "python3 /home/u/.cursor-server/extensions/x.y-1/server.py"), []clients.Entry{mine}, ""},
		{runs("/usr/bin/node", "node /b/typescript-language-server --stdio"), []clients.Entry{entry("a", "node ${HOME}/typescript-language-server --stdio")}, ""},
		{runs("/usr/bin/bash", "bash /home/u/plugin/start.sh"), []clients.Entry{entry("plugin", "bash ${CLAUDE_PLUGIN_ROOT}/start.sh")}, "plugin"},
		{runs("/usr/bin/claude", "claude mcp serve"), []clients.Entry{entry("agent", "claude mcp serve")}, "agent"},
		{runs("/b/pg", "/b/pg h"), []clients.Entry{entry("prod", "/b/pg h"), entry("staging", "/b/pg h"), entry("test", "/b/pg h")}, "prod or staging or test"},
		{runs("/usr/bin/node", "npm run mcp"), []clients.Entry{entry("task", "npm run mcp")}, "task"},
		{runs("/usr/bin/make", "make -s mcp-server"), []clients.Entry{entry("task", "make -s mcp-server")}, "task"},
		{runs("/usr/bin/bash", "bash x.sh"), []clients.Entry{entry("x", "bash x.sh")}, ""},
		{runs("/b/python3", "/home/u/.pyenv/versions/3.12/bin/python /home/u/proj/server.py"), []clients.Entry{entry("pyenv", "/home/u/.pyenv/shims/python /home/u/proj/server.py")}, "pyenv"},
		{runs("/b/python3", "/home/u/other/bin/python /home/u/proj/server.py"), []clients.Entry{entry("venv", "/home/u/venv/bin/python /home/u/proj/server.py")}, ""},
		{runs("/usr/bin/dotnet", "dotnet run --project /home/u/Weather.csproj"), []clients.Entry{entry("task", "dotnet run --project /home/u/Weather.csproj")}, "task"},
		{runs("/usr/bin/dotnet", "dotnet run"), []clients.Entry{entry("task", "dotnet run")}, ""},
		{runs("/usr/bin/ruby", "ruby /b/solargraph stdio"), []clients.Entry{entry("a", "ruby ${HOME}/solargraph stdio")}, ""},
	} {
		found, ok := ByEntry([]process.Info{c.process}, c.entries, "vscode", []string{"/home/u/proj"})
		if ok != (c.want != "") || found.Name != c.want {
			t.Errorf("%q: %q, %v", c.process.Args, found.Name, ok)
		}
	}
}

// Of entries that fit a process, the one counts whose words started it, that is switched on,
// or that works where the process does. Each name is said once.
func TestByEntryOfSeveral(t *testing.T) {
	entry := func(name, line string) clients.Entry {
		words := strings.Fields(line)
		return clients.Entry{Client: "codex", Name: name, Command: words[0], Args: words[1:]}
	}
	uv := func(name string) clients.Entry { return entry(name, "uv --directory /w/"+name+" run server.py") }
	child, node := runs("/usr/bin/python3", "python3 server.py"), runs("/usr/bin/node", "node build/index.js")
	weather, dev, off := entry("weather", "node build/index.js"), entry("dev", "node build/index.js"), entry("old", "node build/index.js")
	weather.Cwd, off.Off = "/w/weather", true
	for _, c := range []struct {
		chain   []process.Info
		entries []clients.Entry
		dir     string
		want    string
	}{
		{[]process.Info{child, runs("/usr/bin/uv", "uv --directory /w/two run server.py")}, []clients.Entry{uv("one"), uv("two"), uv("one"), uv("two")}, "/w/two", "two"},
		{[]process.Info{node}, []clients.Entry{dev, weather, off}, "/w/weather", "weather"},
		{[]process.Info{node}, []clients.Entry{weather, dev, off}, "/w/dev", "dev"},
		{[]process.Info{node}, []clients.Entry{off}, "/w/dev", "old"},
		{[]process.Info{node}, []clients.Entry{dev, entry("prod", "node build/index.js"), dev}, "/w/dev", "dev or prod"},
		{[]process.Info{runs("/usr/bin/node", "node /abs/github/build/index.js")}, []clients.Entry{weather, dev}, "/w/dev", ""},
	} {
		if found, _ := ByEntry(c.chain, c.entries, "codex", []string{c.dir}); found.Name != c.want {
			t.Errorf("%q in %s: %q, want %q", c.chain[0].Args, c.dir, found.Name, c.want)
		}
	}
}

// The line of a shell is compared whole, so that one of the client's own is no server.
func TestByEntryOfALineOfAShell(t *testing.T) {
	line := func(code string) []string { return []string{"bash", "-c", code} }
	for code, entry := range map[string][]string{
		"python3 /w/notes.py || true": line("python3 /w/notes.py || true"),
		"python3 /w/notes.py | cat":   line("python3 /w/notes.py || true"),
		"ls $HOME || exit":            line("ls $HOME || exit"),
	} {
		e := clients.Entry{Client: "codex", Name: "notes", Command: entry[0], Args: entry[1:]}
		_, ok := ByEntry([]process.Info{{Exe: "/usr/bin/bash", Args: line(code)}}, []clients.Entry{e}, "codex", nil)
		if want := strings.HasSuffix(code, "|| true"); ok != want {
			t.Errorf("%s: %v", code, ok)
		}
	}
}

// A rule of the user's replaces a built-in one of its name, which nobody wants who only
// gives a process a name.
func TestForChildLeavesBuiltInRules(t *testing.T) {
	info := runs("/usr/bin/node", "node /w/notes/server.js")
	in := &monitor.Instance{Identity: info.Identity, OnPipes: true}
	if _, err := ForChild(in, info, "Memory"); err == nil || !strings.Contains(err.Error(), "built-in") {
		t.Error(err)
	}
	if r, err := ForChild(in, info, "notes"); err != nil || r.Name != "notes" {
		t.Error(r, err)
	}
}

// What clients start to help themselves is not shown as a server of which nobody knows.
func TestMayServe(t *testing.T) {
	for line, want := range map[string]bool{
		"/idea/bin/fsnotifier": false, "/idea/bin/fsnotifier64": false, "/b/watchman -p": false,
		"/b/zls": false, "/b/ruff server": false, "/b/ruff-lsp": false, "/b/biome lsp-proxy": false, "/b/taplo lsp stdio": false, "/b/marksman server": false,
		"/b/lua-language-server": false, "/b/terraform-ls serve": false, "/b/sourcekit-lsp": false, "/b/omnisharp -lsp": false, "/b/kotlin-language-server": false,
		"/b/texlab": false, "/b/nil": false, "/b/nixd": false, "/b/helm_ls serve": false, "/b/dprint lsp": false, "/b/oxc_language_server": false, "/b/oxlint --lsp": false,
		"/b/dlv dap": false, "/b/lldb-dap": false,
		"/usr/bin/ruby /b/solargraph stdio": false, "/usr/bin/ruby /b/ruby-lsp": false, "/usr/bin/php /b/phpactor language-server": false, "/usr/bin/dotnet /b/OmniSharp.dll -lsp": false,
		"/usr/bin/java -cp m.jar scala.meta.metals.Main":                         false,
		"/usr/bin/node /w/node_modules/intelephense/lib/intelephense.js --stdio": false, "/usr/bin/node /w/node_modules/.bin/vue-language-server --stdio": false,
		"/usr/bin/node /w/node_modules/.bin/svelteserver --stdio": false, "/usr/bin/node /w/node_modules/.bin/tailwindcss-language-server --stdio": false,
		"/usr/bin/node /w/node_modules/@biomejs/biome/bin/biome lsp-proxy": false, "/usr/bin/node /w/node_modules/pyright/langserver.index.js --stdio": false,
		"/usr/bin/python3 -m debugpy.adapter": false, "/usr/bin/python3 -m ruff server": false, "/usr/bin/python3 /w/tool/lsp_server.py": false,

		"/b/lean-ctx mcp --stdio": true, "/b/gopls mcp": true, "/b/dlv mcp": true, "/usr/bin/ruby /w/server.rb": true, "/usr/bin/dotnet run": true,
		"/usr/bin/dotnet watch run": true, "/usr/bin/node /w/server.js --stdio": true,
	} {
		if p := runs(strings.Fields(line)[0], line); MayServe(p.Exe, p.Args) != want {
			t.Errorf("%s may serve: %v", line, !want)
		}
	}
	zls := Rule{Name: "no server: zls", Program: "anna/.local/bin/zls"}
	if zls.Check() == nil {
		t.Error("a language server may be named")
	}
	if zls.Hidden = true; zls.Check() != nil {
		t.Error("what was hidden before it was known makes the settings wrong")
	}
}

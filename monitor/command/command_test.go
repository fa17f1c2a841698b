package command

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
)

// split divides a line of the tables below into arguments.
func split(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

// show writes a command as LAUNCHER > PROGRAM from PACKAGE | ARGUMENTS.
func show(c Command) string {
	var words []string
	for _, outer := range c.Through {
		words = append(words, outer, ">")
	}
	switch c.Runtime {
	case 0:
		words = append(words, c.Program)
	case Container:
		words = append(words, "container")
	default:
		words = append(words, map[Trait]string{Python: "python", Node: "node", Java: "java"}[c.Runtime]+":"+c.Flag+c.Script)
	}
	if c.Package != "" {
		words = append(words, "from", c.Package)
	}
	return strings.Join(append(append(words, "|"), c.Args...), " ")
}

// A process is a launcher when Parse looks through it.
func TestParse(t *testing.T) {
	for _, c := range [][3]string{
		{"/usr/bin/node", "npm exec @modelcontextprotocol/server-filesystem /tmp/r||||", "npm > @modelcontextprotocol/server-filesystem from @modelcontextprotocol/server-filesystem | /tmp/r"},
		{"/usr/bin/node", "npm x mcp-server-memory", "npm > mcp-server-memory from mcp-server-memory |"},
		{"/usr/bin/dash", "sh|-c|'mcp-server-filesystem' /tmp/r", "sh > mcp-server-filesystem | /tmp/r"},
		{"/usr/bin/dash", "sh|-c|mcp-server-memory", "sh > mcp-server-memory |"},
		{"/usr/bin/bash", "bash|-lc|npx mcp-server-memory 2>/dev/null; true", "bash > npx > mcp-server-memory from mcp-server-memory | 2>/dev/null"},
		{"/v/bin/uv", "/v/bin/uv|tool|uvx|mcp-server-git|--repository|/r", "/v/bin/uv > mcp-server-git from mcp-server-git | --repository /r"},
		{"/v/bin/uv", "v/bin/uv|tool|run|mcp-server-fetch", "v/bin/uv > mcp-server-fetch from mcp-server-fetch |"},
		{"/b/bun", "bunx|-y|@modelcontextprotocol/server-memory", "bunx > @modelcontextprotocol/server-memory from @modelcontextprotocol/server-memory |"},
		{"/b/bun", "bun|x|--bun|@modelcontextprotocol/server-filesystem|/tmp", "bun > @modelcontextprotocol/server-filesystem from @modelcontextprotocol/server-filesystem | /tmp"},
		{"/b/pnpm", "pnpm|dlx|@modelcontextprotocol/server-memory", "pnpm > @modelcontextprotocol/server-memory from @modelcontextprotocol/server-memory |"},
		{"/b/pnpm", "pnpm|exec|mcp-server-memory", "pnpm > mcp-server-memory from mcp-server-memory |"},
		{"/home/u/.local/bin/uvx", "uvx|--from|serena-agent|serena|start-mcp-server", "uvx > serena from serena-agent | start-mcp-server"},
		{"/home/u/.local/bin/uv", "uv|run|--directory|/src/serena|serena|start-mcp-server", "uv > serena | start-mcp-server"},
		{"/v/bin/uv", "uv|--directory|/src/serena|run|serena|start-mcp-server", "uv > serena | start-mcp-server"},
		{"/bin/sh", "/bin/sh|-lc|exec uvx --from serena-agent serena start-mcp-server", "/bin/sh > uvx > serena from serena-agent | start-mcp-server"},
		{"/usr/bin/node", "node|/usr/bin/npx|-y|x", "node > x from x |"},
		{"/usr/bin/node", "node|/usr/lib/node_modules/npm/bin/npm-cli.js|exec|--|x", "node > x from x |"},
		{"/usr/bin/node", "node|/x/pnpm/bin/pnpm.cjs|--dir|/p|dlx|x", "node > x from x |"},
		{"/usr/bin/mise", "mise|x|node@22|--|npx|-y|x", "mise > npx > x from x |"},
		{"/usr/bin/timeout", "timeout|600|npx|x", "timeout > npx > x from x |"},
		{"/usr/bin/coreutils", "timeout|600|npx|x", "timeout > npx > x from x |"},
		{"/usr/bin/coreutils", "env|A=b|npx|x", "env > npx > x from x |"},
		{"/usr/bin/python3", "python3|/usr/bin/pipx|run|mcp-server-git", "python3 > mcp-server-git from mcp-server-git |"},
		{"/usr/bin/python3", "python3|-m|uv|tool|run|x", "python3 > x from x |"},
		{"/usr/bin/python3", "python3|/home/u/.local/bin/poetry|run|serena|start-mcp-server", "python3 > serena | start-mcp-server"},
		{"/usr/bin/op", "op|run|--env-file=.env|--|npx|x", "op > npx > x from x |"},
		{"", "op|run|--account|a|--|npx|x|--|y", "op > npx > x from x | -- y"},
		{"/usr/bin/bash", "bash|-c|cd /p && source .venv/bin/activate && exec python -m x", "bash > python:-mx |"},
		{"/usr/bin/bash", "bash|-c|export A=b; B=c npx -y x", "bash > npx > x from x |"},
		{"/usr/bin/bash", `bash|-c|exec "$@"|--|npx|x`, "bash > $@ |"},
		{"/usr/bin/zsh", "zsh|-i|-c|cd /p; npx x", "zsh > npx > x from x |"},
		{"/usr/bin/bash", "bash|-c|. ~/.nvm/nvm.sh && nvm use 22 >/dev/null 2>&1 && npx x", "bash > npx > x from x |"},
		{"/bin/busybox", "sh|-c|npx x", "sh > npx > x from x |"},
		{`C:\Windows\System32\cmd.exe`, `C:\Windows\system32\cmd.exe|/d|/s|/c|"npx -y @modelcontextprotocol/server-memory"`, `C:\Windows\system32\cmd.exe > npx > @modelcontextprotocol/server-memory from @modelcontextprotocol/server-memory |`},
		{`C:\Windows\System32\cmd.exe`, "cmd|/c|npx|-y|x", "cmd > npx > x from x |"},
		{`C:\n\node.exe`, `C:\n\node.exe|C:\n\node_modules\npm\bin\npx-cli.js|-y|x`, `C:\n\node.exe > x from x |`},
		{"/usr/bin/docker", "docker|mcp|gateway|run", "docker > docker-mcp | mcp gateway run"},
		{"", "uvx|x", "uvx > x from x |"},
		{"/bin/dash", "", " |"},
		{"/usr/bin/sleep", "uvx|x", "/usr/bin/sleep | x"},
		{"/usr/bin/vim", "sh|-c|npx x", "/usr/bin/vim | -c npx x"},
		{"/usr/bin/node", "npm exec", " |"},
		{"/usr/bin/node", "npm run mcp", " |"},
		{"/usr/bin/node", "npm install x", " |"},
		{"/usr/bin/node", "npm exec|x", " |"},
		{"/usr/bin/node", "node|/usr/bin/npm|run|mcp", "node:/usr/bin/npm | run mcp"},
		{"/usr/bin/node", "node|/w/.bin/mcp-server-memory|npx|x", "node:/w/.bin/mcp-server-memory | npx x"},
		{"/usr/bin/node", "claude", "node:title:claude |"},
		{"/v/bin/uv", "uv|tool|install|x", "/v/bin/uv | tool install x"},
		{"/v/bin/uv", "uv|pip|install|x", "/v/bin/uv | pip install x"},
		{"/v/bin/uv", "uv|sync", "/v/bin/uv | sync"},
		{"/v/bin/uv", "uv|run", "/v/bin/uv | run"},
		{"/b/bun", "bun|run|mcp", " |"},
		{"/b/bun", "bun|x.ts", "node:x.ts |"},
		{"/usr/bin/make", "make|mcp", "/usr/bin/make | mcp"},
		{"/b/pixi", "pixi|run|mcp", "/b/pixi | run mcp"},
		{"/b/hatch", "hatch|run|mcp", "/b/hatch | run mcp"},
		{"/usr/bin/tmux", "tmux|new|npx x", "/usr/bin/tmux | new npx x"},
		{"/usr/bin/ssh", "ssh|h|npx x", "/usr/bin/ssh | h npx x"},
		{"/usr/bin/bash", "bash", "/usr/bin/bash |"},
		{"/usr/bin/bash", "-bash", " |"},
		{"/usr/bin/bash", "bash|-i", "/usr/bin/bash | -i"},
		{"/usr/bin/bash", "bash|/home/u/serena-loop.sh", "/usr/bin/bash | /home/u/serena-loop.sh"},
		{"/usr/bin/bash", "bash|--rcfile|x|-c|npx x", "/usr/bin/bash | --rcfile x -c npx x"},
		{"/usr/bin/bash", "bash|-s", "/usr/bin/bash | -s"},
		{"/usr/bin/bash", "bash|-c", "/usr/bin/bash | -c"},
		{"/usr/bin/bash", "bash|-c|", "/usr/bin/bash | -c "},
		{"/usr/bin/bash", "bash|-c|cd /x", "/usr/bin/bash | -c cd /x"},
		{"/usr/bin/bash", "bash|-c|node -e 'a; b'", "/usr/bin/bash | -c node -e 'a; b'"},
		{"/usr/bin/bash", `bash|-c|npx x\; exit`, `/usr/bin/bash | -c npx x\; exit`},
		{"/usr/bin/bash", "bash|-c|npx x; make deploy", "/usr/bin/bash | -c npx x; make deploy"},
		{"/usr/bin/bash", "bash|-c|npx x && echo done > f", "/usr/bin/bash | -c npx x && echo done > f"},
		{"/usr/bin/bash", "bash|-c|npx x & tail -f log", "/usr/bin/bash | -c npx x & tail -f log"},
		{"/usr/bin/bash", "bash|-c|npx x &", "/usr/bin/bash | -c npx x &"},
		{"/usr/bin/bash", "bash|-c|while true; do npx x; done", "/usr/bin/bash | -c while true; do npx x; done"},
		{"/usr/bin/bash", "bash|-c|(npx x)", "/usr/bin/bash | -c (npx x)"},
		{"/usr/bin/bash", "bash|-c|npx `cat p`", "/usr/bin/bash | -c npx `cat p`"},
		{"/usr/bin/bash", `bash|-c|npx "$(cat p)"`, `/usr/bin/bash | -c npx "$(cat p)"`},
		{"/usr/bin/bash", "bash|-c|npx 'x", "/usr/bin/bash | -c npx 'x"},
		{"/usr/bin/bash", "bash|-c|npx x <<E\nE", "/usr/bin/bash | -c npx x <<E\nE"},
		{"/usr/bin/bash", "bash|-c|npx x\nmake", "/usr/bin/bash | -c npx x\nmake"},
		{"/usr/bin/bash", "bash|-c|eval npx x", "/usr/bin/bash | -c eval npx x"},
		{"/usr/bin/dash", "sh|-c|trap '' INT TERM HUP\ngroups=' '\nwhile read -r line; do\n :\ndone", "/usr/bin/dash | -c trap '' INT TERM HUP\ngroups=' '\nwhile read -r line; do\n :\ndone"},
		{`C:\Windows\System32\cmd.exe`, "cmd.exe", `C:\Windows\System32\cmd.exe |`},
		{`C:\Windows\System32\cmd.exe`, "cmd.exe|/k|npx x", `C:\Windows\System32\cmd.exe | /k npx x`},
		{`C:\Windows\System32\cmd.exe`, "cmd.exe|/c|start npx x", `C:\Windows\System32\cmd.exe | /c start npx x`},
		{`C:\Windows\System32\cmd.exe`, "cmd.exe|/c|npx x & make", `C:\Windows\System32\cmd.exe | /c npx x & make`},
		{`C:\w\pwsh.exe`, "pwsh|-c|npx x; make", `C:\w\pwsh.exe | -c npx x; make`},
		{"/usr/bin/docker", "docker|run|-i|mcp/fetch", "container from mcp/fetch |"},
		{"/usr/bin/docker", "docker|compose|up", " |"},
		{"/usr/bin/docker", "docker|mcp|catalog|ls", " |"},
		{"/usr/bin/docker", "docker|exec|-i|c|npx", " |"},
		{"/v/bin/uv", "uv|run|--script|serena|start-mcp-server", "uv > python:serena | start-mcp-server"},
		{"", "uv|run|-s|serena|start-mcp-server", "uv > python:serena | start-mcp-server"},
		{"", "uv|run|-m|serena.cli|start-mcp-server", "uv > python:-mserena.cli | start-mcp-server"},
		{"", "uv|run|--directory|/opt/guard|guard.py|serena|start-mcp-server", "uv > python:guard.py | serena start-mcp-server"},
		{"", "uv|--offline|tool|run|--from=serena-agent==2.1.0|serena|start-mcp-server", "uv > serena from serena-agent==2.1.0 | start-mcp-server"},
		{"", "uvx|-p|3.13|--|serena-agent@latest|start-mcp-server", "uvx > serena-agent@latest from serena-agent@latest | start-mcp-server"},
		{"", "uvx|mcp-guard|serena|start-mcp-server", "uvx > mcp-guard from mcp-guard | serena start-mcp-server"},
		{"", "uvx|--from|serena-agent", "uvx | --from serena-agent"},
		{"", "uvx|--option-of-tomorrow|value|serena", "uvx > value from value | serena"},
		{"", "pipx|run|--spec|git+https://x/serena|serena|start-mcp-server", "pipx > serena from git+https://x/serena | start-mcp-server"},
		{"", "pipx|run|--path|serena|start-mcp-server", "pipx > python:serena | start-mcp-server"},
		{"", "pipx|install|serena", "pipx | install serena"},
		{"", "npx|-y|-p|a|b|c", "npx > b from a | c"},
		{"", "env|-i|A=b|uvx|serena", "env > uvx > serena from serena |"},
		{"", "env|A=b", "env | A=b"},
		{"", "uvx|A=b|serena|start-mcp-server", "uvx > A=b from A=b | serena start-mcp-server"},
		{"", "bash|-lc|cd /w && env A=b uvx --from serena-agent serena start-mcp-server", "bash > env > uvx > serena from serena-agent | start-mcp-server"},
		{"", "cmd|/c|C:\\a b\\serena.exe|start-mcp-server", "cmd > C:\\a b\\serena.exe | start-mcp-server"},
		{"", "cmd|/c|cd|x", "cmd | /c cd x"},
		{"", `cmd|/c|npx|x|C:\O'Hara;C:\b`, `cmd > npx > x from x | C:\O'Hara;C:\b`},
		{"", "python3|-c|code", " |"},
		{"", "python3|-u-c|srv.py", " |"},
		{"", "java|-cp|a.jar|-jar|b.jar|c", "java:b.jar | c"},
		{"", "deno|run|-A|npm:@scope/x@1.2|y", "node:npm:@scope/x from npm:@scope/x | y"},
		{"", "docker|run|-i|--rm|-e|A=b|mcp/fetch:latest|x", "container from mcp/fetch | x"},
		{"", "docker|run|-it|mcp/fetch", " |"},
		{"/l/lamplighter-connect", "lamplighter-connect|keep|--dir|/s|--|uvx|x", "lamplighter-connect > uvx > x from x |"},
		{"/l/lamplighter-connect", "lamplighter-connect|connect|--|uvx|x", "/l/lamplighter-connect | connect -- uvx x"},
	} {
		got := Parse(c[0], split(c[1]))
		if text := show(got); text != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], text, c[2])
		}
		program, _, _ := strings.Cut(c[2], " |")
		if want := c[0] != "" && strings.Contains(program, " > "); IsLauncher(c[0], split(c[1])) != want {
			t.Errorf("%s %s: a launcher: %v", c[0], c[1], !want)
		}
	}
	if !IsLauncher("/bin/bash", []string{"bash", "-c", `cd /p && "$0" "$@"; exit $?`}) {
		t.Error("nothing but an end follows")
	}
	for _, line := range []string{"cat in | npx x", "npx x || true", "cd /p || exit 1; npx x"} {
		if IsLauncher("/bin/bash", []string{"bash", "-c", line}) {
			t.Errorf("%s may run more than one command", line)
		}
	}
}

// Whoever may start processes here must not be able to keep us busy with one.
func TestParseTakesNoLongerForLongLines(t *testing.T) {
	if c := Parse("", strings.Fields(strings.Repeat("python -m uv run ", 6000)+"x")); len(c.Through) != 6000 || c.Program != "x" {
		t.Error(len(c.Through), c.Program)
	}
	if c := Parse("", []string{"python", "-" + strings.Repeat("u", 128<<10), "x"}); c.Script != "x" {
		t.Error(c.Script)
	}
}

func TestLabel(t *testing.T) {
	for line, want := range map[string]string{
		"":               "",
		"python3 srv.py": "srv.py",
		"/usr/bin/python3.13 -u -X dev /w/srv.py --port 3": "srv.py",
		"python -m my_server --stdio":                      "my_server",
		"python3 -c print()":                               "",
		`C:\Python\python.exe C:\w\srv.py`:                 "srv.py",
		"node --require x.js dist/index.js":                "index.js",
		"node /":                                           "",
		"npx -y @scope/server-mail":                        "server-mail",
		"uvx --from serena-agent serena":                   "serena",
		"uv run --directory /w srv.py":                     "srv.py",
		"bash -c x":                                        "x",
		"bash -c x;y":                                      "bash",
		"bash /w/run.sh":                                   "run.sh",
		"ruby srv.rb":                                      "srv.rb",
		"ruby -e code":                                     "ruby",
		"/opt/bin/my-server --stdio":                       "my-server",
		"java -jar /w/mail.jar":                            "mail.jar",
		"docker run -i mcp/fetch":                          "fetch",
	} {
		if got := Parse("", strings.Fields(line)).Label(); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestIsKeeper(t *testing.T) {
	const connect = "/usr/lib/lamplighter/lamplighter-connect"
	for _, c := range []struct {
		want      bool
		exe, line string
	}{
		{true, connect, "lamplighter-connect|keep|--lifetime|session|--dir|/s/d|--alive|/s/alive.lock|--|/v/bin/serena|start-mcp-server"},
		{true, connect, connect + "|keep|--lifetime|shared|--dir|/s/d|--alive|/s/a|--linger|5|--|uvx|--from|serena-agent|serena"},
		{true, connect, "lamplighter-connect|keep|--|x"},
		{true, `C:\p\lamplighter-connect.exe`, `C:\p\lamplighter-connect.exe|keep|--dir|C:\s|--|C:\v\serena.exe|start-mcp-server`},

		{false, "", "lamplighter-connect|keep|--|x"},
		{false, connect, ""},
		{false, connect, "lamplighter-connect|keep"},
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|/v/bin/serena"}, // no --
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|--"},            // no command
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|--|"},
		{false, connect, "lamplighter-connect|--|keep|x"}, // wraps a program called keep
		{false, connect, "lamplighter-connect|--|serena|start-mcp-server"},
		{false, connect, "lamplighter-connect|run|keep|--|x"},
		{false, connect, "lamplighter-connect keep -- x"}, // a rewritten title
		{false, connect, "vim|keep|--|x"},
		{false, "/usr/bin/vim", "lamplighter-connect|keep|--|x"},
		{false, "/usr/bin/python3", "python3|lamplighter-connect|keep|--|x"},
		{false, "/home/u/bin/lamplighter-connector", "lamplighter-connector|keep|--|x"},
		{false, "/usr/bin/lamplighter", "lamplighter|keep|--|x"},
	} {
		if got := IsKeeper(c.exe, split(c.line)); got != c.want {
			t.Errorf("%s %s: %v", c.exe, c.line, got)
		}
		if got := IsLauncher(c.exe, split(c.line)); got != c.want {
			t.Errorf("a launcher: %s %s: %v", c.exe, c.line, got)
		}
	}
}

func TestIsShim(t *testing.T) {
	const connect = "/usr/lib/lamplighter/lamplighter-connect"
	for _, c := range []struct {
		want      bool
		exe, line string
	}{
		{true, connect, "lamplighter-connect|connect|--|serena|start-mcp-server"},
		{true, connect, connect + "|connect|--socket|/s|--or-direct|--|uvx|--from|serena-agent|serena|start-mcp-server"},
		{true, connect, "lamplighter-connect|connect|--web-dashboard-global|--|x"},
		{true, `C:\p\lamplighter-connect.exe`, `C:\p\lamplighter-connect.exe|connect|--|C:\v\serena.exe|start-mcp-server`},
		{true, `C:\p\lamplighter.exe`, `C:\p\lamplighter.exe|connect|--|C:\v\serena.exe|start-mcp-server`},

		{true, connect, "lamplighter-connect|connect|serena|start-mcp-server"}, // some clients take the -- away
		{true, connect, "lamplighter-connect|connect|serena"},
		{true, connect, "lamplighter-connect|connect|--web-dashboard-global-port|3000|--idle-shutdown-minutes=5|uvx|--from|x|serena"},

		{true, connect, "lamplighter-connect|own|--|serena|start-mcp-server"},

		{false, `C:\p\lamplighter.exe`, `C:\p\lamplighter.exe|own|--|serena`},
		{false, connect, "lamplighter-connect|own|--"},
		{false, "", "lamplighter-connect|connect|--|x"},
		{false, connect, ""},
		{false, connect, "lamplighter-connect|connect"},
		{false, connect, "lamplighter-connect|connect|--socket|/s|--"}, // no command
		{false, connect, "lamplighter-connect|connect|--socket|/s"},
		{false, connect, "lamplighter-connect|connect|--web-dashboard-global-port|3000|--or-direct"},
		{false, connect, "lamplighter-connect|connect|"},
		{false, connect, "lamplighter-connect|keep|--|connect|x"},
		{false, connect, "lamplighter|connect|--|x"}, // not its name
		{false, "/usr/bin/vim", "lamplighter-connect|connect|--|x"},
		{false, "/usr/bin/python3", "python3|lamplighter-connect|connect|--|x"},
		{false, "/home/u/bin/lamplighter-connector", "lamplighter-connector|connect|--|x"},
	} {
		if got := IsShim(c.exe, split(c.line)); got != c.want {
			t.Errorf("%s %s: %v", c.exe, c.line, got)
		}
		if c.want && IsLauncher(c.exe, split(c.line)) {
			t.Errorf("%s would be ended as a wrapper", c.line)
		}
	}
}

// TestTable: each name is in one row, as monitor.ProgramName gives it.
func TestTable(t *testing.T) {
	var all []string
	for _, row := range programs {
		for name := range strings.FieldsSeq(row.names) {
			if slices.Contains(all, name) {
				t.Errorf("%s is in two rows", name)
			}
			all = append(all, name)
			if monitor.ProgramName(name) != name && !strings.Contains(name, "/") {
				t.Errorf("%s is never the name of a program", name)
			}
			if !Is(name, row.traits) {
				t.Errorf("%s is not found", name)
			}
		}
	}
	for _, s := range syntaxes {
		for name := range strings.FieldsSeq(s.names) {
			if !strings.Contains(name, "/") && !Is(name, Starter) && RuntimeOf(name) == 0 {
				t.Errorf("%s is a launcher, and may be a server", name)
			}
		}
	}
	for name, want := range map[string]Trait{
		"python3.13t": Python, "pythonw": Python, "pypy3": Python, "py": Python, "node-22": Node, "nodejs": Node, "bun": Node, "javaw": Java, "podman": Container,
		"python-config": 0, "pyt": 0, "nodemon": 0, "": 0, "vim gvim": 0, "bash": 0,
	} {
		if got := RuntimeOf(name); got != want || IsPython(name) != (want == Python) {
			t.Errorf("%s: %d", name, got)
		}
	}
	for name, want := range map[string]bool{"gnome-shell": true, "gnome-calendar-mcp": false, "emacs-29.1": true, "vim": true, "vi": true, "v": false, "vim gvim": false, "": false} {
		if Is(name, Guarded) != want {
			t.Errorf("%q is guarded: %v", name, !want)
		}
	}
}

func TestIsUserApp(t *testing.T) {
	for _, c := range []struct {
		kind, exe, name string
		want            bool
	}{
		{monitor.KindSerena, "/usr/lib/firefox/firefox", "GeckoMain", true},
		{monitor.KindSerena, "/opt/google/chrome/chrome", "", true},
		{monitor.KindSerena, "/usr/lib/chromium/chromium", "", true},
		{monitor.KindSerena, "/usr/lib/libreoffice/program/soffice.bin", "", true},
		{monitor.KindSerena, `C:\Program Files\Mozilla Firefox\firefox.exe`, "", true},
		{monitor.KindSerena, "/usr/lib/firefox/firefox (deleted)", "", true},
		{monitor.KindSerena, "/usr/bin/dash", "xdg-open", true},
		{monitor.KindSerena, "", "firefox", true},
		{"Playwright", "/home/u/.cache/ms-playwright/chromium-1200/chrome-linux/chrome", "chrome", false},
		{"Playwright", "/usr/share/code/code", "", true},
		{"", "/usr/lib/firefox/firefox", "", false},
		{"filesystem", "/usr/bin/konsole", "", true},
		{"filesystem", "/usr/bin/python3.13", "terminator", true},
		{"filesystem", "/usr/libexec/gnome-terminal-server", "gnome-terminal-", true},
		{monitor.KindSerena, "/home/u/go/bin/gopls", "gopls", false},
		{monitor.KindSerena, "/usr/bin/python3.13", "python3", false},
		{monitor.KindSerena, "/usr/bin/node", "MainThread", false},
		{monitor.KindSerena, "/usr/bin/codespell", "codespell", false},
		{monitor.KindSerena, "", "", false},
	} {
		if got := IsUserApp(c.exe, c.name, SparesBrowsers(c.kind)); got != c.want {
			t.Errorf("%q, %q below %s: %v", c.exe, c.name, c.kind, got)
		}
	}
}

// FuzzParse: what runs is less than the command line, and never a launcher.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{"/usr/bin/python3", "python3\x00-um\x00mcp_server_git"},
		{"/usr/bin/docker", "docker\x00run\x00-ie\x00A=b\x00mcp/fetch"},
		{"/bin/dash", "sh\x00-c\x00cd /x && exec npx y 2>&1"},
		{`C:\Windows\System32\cmd.exe`, "cmd\x00/d\x00/c\x00\"npx -y x\""},
		{"/usr/bin/node", "npm exec x y"},
		{"", "uv\x00run\x00--script\x00x\x00y"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, exe, line string) {
		args := strings.Split(line, "\x00")
		c := Parse(exe, args)
		_ = c.Label()
		if len(c.Through) == 0 && len(c.Args) >= len(args) {
			t.Errorf("%q %q: %+v", exe, args, c)
		}
		if IsShim(exe, args) && IsLauncher(exe, args) {
			t.Errorf("%q %q would be ended as a wrapper", exe, args)
		}
	})
}

// What runs elsewhere is told, and how it is ended where it has a name.
func TestRunsElsewhere(t *testing.T) {
	for line, want := range map[string]string{
		"docker run -i --rm mcp/fetch":                             "the container that docker runs; docker ps",
		"docker run -i --rm --name notes -e A=b mcp/fetch":         "the container that docker runs; docker ps; stop --time 2; notes",
		"docker -H tcp://h run -i --name=notes mcp/fetch --name x": "the container that docker runs; docker ps; -H tcp://h stop --time 2; notes",
		"podman container run -i --cidfile /run/id mcp/fetch":      "the container that podman runs; podman ps; stop --time 2;  /run/id",
		"docker exec -i notes server":                              "the container that docker runs; docker ps",
		"docker ps":                                                "",
		"docker":                                                   "",
		"ssh build1 uvx mcp-server-fetch":                          "what ssh runs on the other machine; ps there",
		"wsl uvx mcp-server-fetch":                                 "what wsl runs; wsl ps -e",
		"systemd-run --user --pipe server":                         "the unit that systemd-run has made; systemctl --user list-units 'run-*'",
		"systemd-run --scope --user server":                        "",
		"npx -y @modelcontextprotocol/server-memory":               "",
		"python server.py docker run -i x":                         "",
	} {
		got := ""
		if e := RunsElsewhere("", strings.Fields(line)); e.What != "" {
			got = e.What + "; " + e.Look
			if e.End != nil {
				got = strings.TrimSpace(got + "; " + strings.Join(e.End, " ") + "; " + e.Name + " " + e.IDFile)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for name, want := range map[string]bool{"notes-1": true, "0123abcd": true, "-x": false, "a b": false, "": false, "a": false, "a;b": false, ".a": false} {
		if IsContainerName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

package rules

import (
	"strings"
	"testing"
)

const (
	nodeExe = "/usr/bin/node"
	pyExe   = "/usr/bin/python3.11"
	docker  = "/usr/bin/docker"
)

// args splits a line of the tables below.
func args(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

// Command lines of the process table. Those marked "recorded" were read from
// running servers (npm 11, uv, bun, deno and pnpm on Linux).
func TestBuiltinMatches(t *testing.T) {
	set := New(nil)
	for _, c := range []struct{ want, exe, line string }{
		// recorded
		{"filesystem", nodeExe, "node|/home/u/.npm/_npx/a3241bba59c344f5/node_modules/.bin/mcp-server-filesystem|/tmp/r"},
		{"Playwright", nodeExe, "node|/home/u/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp|--headless"},
		{"context7", nodeExe, "node|/home/u/.npm/_npx/eea2bd7412d4593b/node_modules/.bin/context7-mcp"},
		{"memory", nodeExe, "node|node_modules/.bin/mcp-server-memory"},
		{"everything", nodeExe, "node|node_modules/@modelcontextprotocol/server-everything/dist/index.js|stdio"},
		{"sequential-thinking", nodeExe, "node|/home/u/p/node_modules/.bin/mcp-server-sequential-thinking"},
		{"chrome-devtools", nodeExe, "chrome-devtools-mcp" + strings.Repeat("|", 43)},
		{"git", pyExe, "/home/u/.cache/uv/archive-v0/ftgF/bin/python|/home/u/.cache/uv/archive-v0/ftgF/bin/mcp-server-git|--repository|/r"},
		{"fetch", pyExe, "/home/u/.cache/uv/archive-v0/orxu/bin/python|/home/u/.cache/uv/archive-v0/orxu/bin/mcp-server-fetch"},
		{"time", pyExe, "/c/xsk5/bin/python|/c/xsk5/bin/mcp-server-time|--local-timezone=Canada/Mountain"},
		{"git", pyExe, "v/bin/python|-m|mcp_server_git"},
		{"git", pyExe, "/tmp/r/v/bin/python3|v/bin/mcp-server-git"},
		{"memory", nodeExe, "node|/home/u/.cache/.bun/install/cache/.bunx-0/@modelcontextprotocol/server-memory@latest/node_modules/.bin/mcp-server-memory"},
		{"filesystem", "/home/u/.bun/bin/bun", "node|/home/u/.bun/install/cache/.bunx-0/x/node_modules/.bin/mcp-server-filesystem|/tmp"},
		{"memory", "/home/u/.bun/bin/bun", "bun|run|../t/node_modules/@modelcontextprotocol/server-memory/dist/index.js"},
		{"memory", "/home/u/.deno/bin/deno", "/home/u/.deno/bin/deno|run|-A|npm:@modelcontextprotocol/server-memory"},
		{"memory", nodeExe, "node|/home/u/.cache/pnpm/dlx/2d/x/node_modules/.bin/../.pnpm/@modelcontextprotocol+server-memory@2026.8.31_zod@4.6.7/node_modules/@modelcontextprotocol/server-memory/dist/index.js"},

		// other places and ways
		{"filesystem", "/usr/bin/node-22", "node|/usr/local/bin/mcp-server-filesystem|/home"},
		{"filesystem", "/nix/store/x/bin/node (deleted)", "node|--max-old-space-size=4096|/x/lib/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js|/"},
		{"filesystem", nodeExe, "node|-r|./setup.js|--import|tsx|--|/x/node_modules/.bin/mcp-server-filesystem|/"},
		{"memory", "/d/deno", "deno|run|-A|npm:@modelcontextprotocol/server-memory@2026.8.31"},
		{"Playwright", nodeExe, "node|/w/node_modules/@playwright/mcp/cli.js|--browser|firefox"},
		{"Playwright", nodeExe, "node|/w/node_modules/.bin/mcp-server-playwright"},
		{"mcp-remote", nodeExe, "node|/w/_npx/1/node_modules/.bin/mcp-remote|https://h/sse|--header|Authorization: Bearer secret"},
		{"Supabase", nodeExe, "node|/w/node_modules/@supabase/mcp-server-supabase/dist/transports/stdio.js|--read-only"},
		{"Notion", nodeExe, "node|/w/node_modules/@notionhq/notion-mcp-server/bin/cli.mjs"},
		{"Figma", nodeExe, "node|/w/.bin/figma-developer-mcp|--stdio"},
		{"Sentry", nodeExe, "node|/w/.bin/sentry-mcp|--access-token=secret"},
		{"Brave Search", nodeExe, "node|/w/.bin/brave-search-mcp-server|--transport|stdio"},
		{"chrome-devtools", nodeExe, "node|/w/node_modules/chrome-devtools-mcp/build/src/index.js"},
		{"git", pyExe, "python3|-u|-X|utf8|-m|mcp_server_git|--repository|/r"},
		{"git", pyExe, "python3|-Immcp_server_git"},
		{"git", "/Library/Frameworks/Python.framework/Versions/3.12/Resources/Python.app/Contents/MacOS/Python",
			"/Library/Frameworks/Python.framework/Versions/3.12/Resources/Python.app/Contents/MacOS/Python|/Users/u/v/bin/mcp-server-git"},
		{"GitHub", "/home/u/go/bin/github-mcp-server", "/home/u/go/bin/github-mcp-server|stdio"},
		{"GitHub", "/usr/bin/github-mcp-server", "github-mcp-server|--toolsets|repos,issues|stdio|--read-only"},
		{"Docker MCP gateway", "/home/u/.docker/cli-plugins/docker-mcp", "/home/u/.docker/cli-plugins/docker-mcp|mcp|gateway|run"},

		// Windows
		{"filesystem", `C:\Program Files\nodejs\node.exe`,
			`C:\Program Files\nodejs\node.exe|C:\Users\a b\AppData\Local\npm-cache\_npx\a3\node_modules\.bin\..\@modelcontextprotocol\server-filesystem\dist\index.js|C:\Users\a b`},
		{"git", `C:\v\Scripts\mcp-server-git.exe`, `C:\v\Scripts\mcp-server-git.exe|--repository|C:\r`},
		{"git", `C:\v\Scripts\python.exe`, `C:\v\Scripts\python.exe|C:\v\Scripts\mcp-server-git.exe|--repository|C:\r`},
		{"git", `C:\py\python.exe`, `C:\py\python.exe|C:\py\Scripts\mcp-server-git-script.py`},
		{"time", `C:\Windows\py.exe`, `py|-m|mcp_server_time`},
		{"GitHub", `C:\bin\GITHUB-MCP-SERVER.EXE`, `GitHub-MCP-Server.exe|stdio`},
		{"GitHub", `C:\Program Files\Docker\Docker\resources\bin\docker.exe`, `docker|run|-i|--rm|ghcr.io/github/github-mcp-server`},

		// containers
		{"GitHub", docker, "docker|run|-i|--rm|-e|GITHUB_PERSONAL_ACCESS_TOKEN|ghcr.io/github/github-mcp-server"},
		{"GitHub", docker, "/usr/bin/docker|run|--rm|-ie|GITHUB_PERSONAL_ACCESS_TOKEN=ghp_secret|-e|GITHUB_HOST=https://h|ghcr.io/github/github-mcp-server:v0.20|stdio"},
		{"GitHub", docker, "docker|--context|remote|container|run|--interactive=true|--name|gh|--network|host|ghcr.io/github/github-mcp-server@sha256:0000"},
		{"Playwright", docker, "docker|run|-i|--rm|--init|--pull=always|mcr.microsoft.com/playwright/mcp"},
		{"filesystem", docker, "docker|run|-i|--rm|--mount|type=bind,src=/a,dst=/projects/a|mcp/filesystem|/projects"},
		{"fetch", "/usr/bin/podman", "podman|run|--replace|-i|--userns|keep-id|docker.io/mcp/fetch:latest"},
		{"sequential-thinking", "/usr/bin/podman", "podman|--log-level|error|run|-i|--rm|--|mcp/sequentialthinking"},
		{"memory", docker, "docker|run|-i|-v|claude-memory:/app/dist|--rm|mcp/memory"},
		{"time", docker, "docker|-H|tcp://h:1|-D|run|--rm|-i|mcp/time"},
	} {
		if got, ok := set.Match(c.exe, args(c.line)); got != c.want || !ok {
			t.Errorf("%s %s: got %q, want %q", c.exe, c.line, got, c.want)
		}
	}
}

// What must never be taken for a server: published tools of this kind have
// ended such processes.
func TestBuiltinRefuses(t *testing.T) {
	set := New(nil)
	for _, c := range []struct{ name, exe, line string }{
		{"nothing", nodeExe, ""},
		{"no executable", "", "node|/w/.bin/mcp-server-memory"},
		{"argv[0] pretends an interpreter", "/usr/bin/sleep", "node|/w/.bin/mcp-server-memory"},
		{"argv[0] pretends a server", "/usr/bin/sleep", "github-mcp-server|stdio"},
		{"executable of another name", "/usr/bin/github-mcp-server", "bash|stdio"},
		{"interpreter alone", nodeExe, "node"},
		{"python alone", pyExe, "python3"},

		// wrappers (recorded)
		{"npm exec", nodeExe, "npm exec @modelcontextprotocol/server-filesystem /tmp/r" + strings.Repeat("|", 12)},
		{"npm exec of a title", nodeExe, "npm exec chrome-devtools-mcp@latest --headless"},
		{"sh", "/usr/bin/dash", "sh|-c|'mcp-server-filesystem' /tmp/r"},
		{"uvx", "/home/u/.local/bin/uv", "/home/u/.local/bin/uv|tool|uvx|mcp-server-git|--repository|/r"},
		{"uv run", "/home/u/.local/bin/uv", "uv|run|mcp-server-git"},
		{"bunx", "/home/u/.bun/bin/bun", "bunx|-y|@modelcontextprotocol/server-memory"},
		{"bun x", "/home/u/.bun/bin/bun", "bun|x|--bun|@modelcontextprotocol/server-filesystem|/tmp"},
		{"pnpm dlx", "/usr/bin/pnpm", "pnpm|dlx|@modelcontextprotocol/server-memory"},
		{"npx on Windows", `C:\n\node.exe`, `C:\n\node.exe|C:\n\node_modules\npm\bin\npx-cli.js|-y|@modelcontextprotocol/server-memory`},
		{"cmd", `C:\Windows\System32\cmd.exe`, `cmd|/c|npx|-y|@modelcontextprotocol/server-memory`},
		{"pnpm's guard", "/usr/bin/dash", "sh|-c|trap '' INT TERM HUP; while read -r line; do :; done"},
		// children of a server (recorded)
		{"watchdog", nodeExe, "/usr/bin/node|/w/node_modules/chrome-devtools-mcp/build/src/telemetry/watchdog/main.js|--parent-pid=20140"},
		{"update check", nodeExe, "/usr/bin/node|/w/node_modules/chrome-devtools-mcp/build/src/bin/check-latest-version.js|/x/latest.json"},
		{"browser", "/usr/bin/chromium", "/usr/bin/chromium|--user-data-dir=/w/mcp-chrome|--remote-debugging-pipe|@playwright/mcp/cli.js"},

		// test runs, scratch scripts, linters
		{"pytest", pyExe, "python3|/v/bin/pytest|tests/mcp_server_git"},
		{"python -m pytest", pyExe, "python3|-m|pytest|mcp_server_git"},
		{"pytest at a server's path", pyExe, "python3|-m|pytest|/v/bin/mcp-server-git"},
		{"scratch script", pyExe, "python3|/home/u/scratch/mcp-server-git.py"},
		{"scratch script in bin", pyExe, "python3|/home/u/bin/mcp-server-git.py"},
		{"scratch script, no directory", pyExe, "python3|mcp-server-git"},
		{"scratch script for node", nodeExe, "node|mcp-server-memory.js"},
		{"own server", nodeExe, "node|/home/u/p/dist/index.js"},
		{"own server, relative", nodeExe, "node|dist/index.js|stdio"},
		{"script with the server as its argument", pyExe, "python3|my.py|/v/bin/mcp-server-git"},
		{"another module", pyExe, "python3|-m|mcp_server_git.tests"},
		{"module named as a file", pyExe, "python3|mcp_server_git"},
		{"pip", pyExe, "python3|-m|pip|install|mcp-server-git"},
		{"python -c", pyExe, "python3|-c|import mcp_server_git|-m|mcp_server_git"},
		{"python -Ic", pyExe, "python3|-Ic|x|/v/bin/mcp-server-git"},
		{"python -", pyExe, "python3|-|/v/bin/mcp-server-git"},
		{"node -e", nodeExe, "node|-e|1|/w/.bin/mcp-server-memory"},
		{"node --eval=", nodeExe, "node|--eval=1|/w/.bin/mcp-server-memory"},
		{"node -p", nodeExe, "node|-p|1|/w/.bin/mcp-server-memory"},
		{"node --test", nodeExe, "node|--test|/w/node_modules/@modelcontextprotocol/server-memory/dist/index.js"},
		{"node --watch", nodeExe, "node|--watch|/w/.bin/mcp-server-memory"},
		{"node --check", nodeExe, "node|--check|/w/.bin/mcp-server-memory"},
		{"node inspect", nodeExe, "node|inspect|/w/.bin/mcp-server-memory"},
		{"value of an option", nodeExe, "node|-r|/w/.bin/mcp-server-memory|other.js"},
		{"eslint", nodeExe, "node|/w/node_modules/.bin/eslint|node_modules/@playwright/mcp/cli.js"},
		{"tsc", nodeExe, "node|/w/node_modules/typescript/bin/tsc|-w"},
		{"vitest", nodeExe, "node|/w/node_modules/.bin/vitest|run|mcp-server-memory"},
		{"Playwright's test runner", nodeExe, "node|/w/node_modules/.bin/playwright|test"},
		{"inspector", nodeExe, "node|/w/node_modules/.bin/mcp-inspector|npx|@modelcontextprotocol/server-memory"},
		{"npm install", nodeExe, "npm install @modelcontextprotocol/server-memory"},
		{"npm run", nodeExe, "npm run mcp-server-memory"},
		{"bun test", "/b/bun", "bun|test|./node_modules/.bin/mcp-server-memory"},
		{"bun run TASK", "/b/bun", "bun|run|mcp-server-memory"},
		{"bun install", "/b/bun", "bun|add|@modelcontextprotocol/server-memory"},
		{"deno task", "/b/deno", "deno|task|npm:mcp-remote"},
		{"deno install", "/b/deno", "deno|install|npm:mcp-remote"},
		{"uv tool install", "/b/uv", "uv|tool|install|mcp-server-git"},

		// editors, terminals, assistants
		{"vim", "/usr/bin/vim", "vim|/w/.bin/mcp-server-memory"},
		{"code", "/usr/share/code/code", "/usr/share/code/code|/w/github-mcp-server"},
		{"editor in node", nodeExe, "node|/w/server-main.js|mcp-server-memory"},
		{"grep", "/usr/bin/grep", "grep|-r|github-mcp-server stdio|."},
		{"tail", "/usr/bin/tail", "tail|-f|/w/mcp-server-git.log"},
		{"git", "/usr/bin/git", "git|clone|https://github.com/github/github-mcp-server"},
		{"terminal", "/usr/bin/xterm", "xterm|-e|github-mcp-server|stdio"},
		{"ssh", "/usr/bin/ssh", "ssh|h|github-mcp-server|stdio"},
		{"tmux", "/usr/bin/tmux", "tmux|new|github-mcp-server|stdio"},
		{"prompt of an assistant", nodeExe, "node|/w/.bin/claude|-p|start /w/.bin/mcp-server-memory for me"},
		{"Claude Code", nodeExe, "claude"},
		{"Codex", "/usr/bin/codex", "codex"},
		{"Codex in node", nodeExe, "node|/usr/local/bin/codex"},
		{"ChatGPT", "/Applications/ChatGPT.app/Contents/MacOS/ChatGPT", "/Applications/ChatGPT.app/Contents/MacOS/ChatGPT"},
		{"Electron as node", "/opt/Claude/claude-desktop", "/opt/Claude/claude-desktop|/w/.bin/mcp-server-memory"},
		{"Serena", pyExe, "python3|/v/bin/serena|start-mcp-server"},
		{"ourselves", "/usr/bin/lamplighter", "lamplighter|connect|--|/w/.bin/mcp-server-memory"},

		// runs that do not serve
		{"help", nodeExe, "node|/w/.bin/mcp-server-memory|--help"},
		{"version", nodeExe, "node|/w/.bin/playwright-mcp|--version"},
		{"installs a browser", nodeExe, "node|/w/.bin/playwright-mcp|install-browser"},
		{"other subcommand", "/b/github-mcp-server", "github-mcp-server|http"},
		{"no subcommand", "/b/github-mcp-server", "github-mcp-server"},
		{"subcommand as a word", "/b/github-mcp-server", "github-mcp-server|generate-docs|stdio"},
		{"gateway's other verbs", "/b/docker-mcp", "docker-mcp|mcp|catalog|ls"},

		// containers
		{"without -i", docker, "docker|run|--rm|ghcr.io/github/github-mcp-server"},
		{"-i switched off", docker, "docker|run|--interactive=false|mcp/fetch"},
		{"on a terminal", docker, "docker|run|-it|mcp/fetch"},
		{"on a terminal, long", docker, "docker|run|-i|--tty|mcp/fetch"},
		{"detached", docker, "docker|run|-id|mcp/fetch"},
		{"another entry point", docker, "docker|run|-i|--entrypoint|sh|mcp/fetch"},
		{"build", docker, "docker|build|-t|mcp/fetch|."},
		{"pull", docker, "docker|pull|mcp/fetch"},
		{"logs", docker, "docker|logs|-f|mcp/fetch"},
		{"exec", docker, "docker|exec|-i|c|mcp/fetch"},
		{"compose", docker, "docker|compose|run|mcp/fetch"},
		{"image as an argument", docker, "docker|run|-i|alpine|mcp/fetch"},
		{"image as a name", docker, "docker|run|-i|--name|mcp/fetch|alpine"},
		{"image as a variable", docker, "docker|run|-i|-e|mcp/fetch|alpine"},
		{"image as a joined variable", docker, "docker|run|-ie|mcp/fetch|alpine"},
		{"longer image", docker, "docker|run|-i|evil/mcp/fetch"},
		{"other registry", docker, "docker|run|-i|h.example/github/github-mcp-server"},
		{"unknown option", docker, "docker|run|-i|--new-option|mcp/fetch"},
		{"unknown global option", docker, "docker|--new|run|-i|mcp/fetch"},
		{"no image", docker, "docker|run|-i"},
		{"no subcommand", docker, "docker"},
		{"daemon", "/usr/bin/dockerd", "dockerd|run|-i|mcp/fetch"},
	} {
		if got, ok := set.Match(c.exe, args(c.line)); ok || got != "" {
			t.Errorf("%s: %s %s: got %q", c.name, c.exe, c.line, got)
		}
	}
}

// Our keeper and our shim are no servers, whatever a rule of the user says.
func TestOurProgramsAreNoServers(t *testing.T) {
	const connect = "/usr/lib/lamplighter/lamplighter-connect"
	for _, mode := range []string{"keep", "connect", "own"} {
		rule := Rule{Name: "mine", Program: "lamplighter-connect", Arguments: []string{mode}}
		if rule.Check() == nil {
			t.Errorf("a rule for %s is taken", mode)
		}
		set := &Set{[]compiled{{rule, rule.says()}}}
		for _, line := range []string{"|--socket|/s|--|x", ""} {
			if name, ok := set.Match(connect, args("lamplighter-connect|"+mode+line)); ok {
				t.Errorf("%s%s is the server %s", mode, line, name)
			}
		}
	}
}

func TestUserRules(t *testing.T) {
	user := []Rule{
		{Name: "notes", Program: "node", Arguments: []string{"my-notes/dist/index.js"}},
		{Name: "versions", Program: "python", Arguments: []string{"-m", "acme_tools", "serve"}},
		{Name: "jar", Program: "java", Arguments: []string{"-jar", "acme-mcp-1.2.jar"}},
		{Name: "class", Program: "Java", Arguments: []string{"com.acme.McpMain"}},
		{Name: "go", Program: "acme-tool", Arguments: []string{"mcp", "serve"}},
		{Name: "place", Program: `C:\Acme\bin\acme.exe`},
		{Name: "image", Program: "docker", Arguments: []string{"ghcr.io/acme/notes-mcp", "stdio"}},
		{Name: "compose", Program: "docker-compose", Arguments: []string{"compose", "run", "acme"}},
		{Name: "github", Program: "my-github-mcp"}, // in place of a built-in one, in other letters
		{Name: "time", Disabled: true},
		{Name: "broken", Program: "acme-*", Arguments: []string{"x"}},
	}
	set := New(user)
	for _, c := range []struct{ want, exe, line string }{
		{"notes", nodeExe, "node|/home/u/My-Notes/dist/index.js"},
		{"", nodeExe, "node|/home/u/not-my-notes/dist/index.js"},
		{"", nodeExe, "node|/home/u/my-notes/dist/index.js.map"},
		{"versions", pyExe, "python|-m|acme_tools|--port|1|serve"},
		{"", pyExe, "python|-m|acme_tools|other|serve"},
		{"", pyExe, "python|-m|pytest|acme_tools|serve"},
		{"", pyExe, "python|acme_tools|serve"},
		{"jar", "/usr/lib/jvm/21/bin/java", "java|-Xmx1g|-cp|a.jar|-jar|/opt/acme-mcp-1.2.jar|x"},
		{"", "/usr/lib/jvm/21/bin/java", "java|-jar|/opt/other.jar|acme-mcp-1.2.jar"},
		{"class", "/usr/bin/java", "java|-classpath|a.jar:b.jar|com.acme.McpMain"},
		{"go", "/usr/bin/acme-tool", "acme-tool|--quiet|mcp|--log|x|serve"},
		{"", "/usr/bin/acme-tool", "acme-tool|run|mcp|serve"},
		{"", "/usr/bin/acme-tool", "acme-tool|mcp"},
		{"place", `C:\Acme\bin\acme.exe`, `acme.exe|x`},
		{"", `D:\x\Acme\bin\acme.exe`, `acme.exe|x`},
		{"image", docker, "docker|run|-i|ghcr.io/acme/notes-mcp:1|stdio"},
		{"", docker, "docker|run|-i|ghcr.io/acme/notes-mcp:1"},
		{"compose", "/usr/libexec/docker/cli-plugins/docker-compose", "/usr/libexec/docker/cli-plugins/docker-compose|compose|-f|x.yml|run|--rm|acme"},
		{"github", "/b/my-github-mcp", "my-github-mcp"},
		{"", "/b/github-mcp-server", "github-mcp-server|stdio"},
		{"", pyExe, "python|-m|mcp_server_time"},
		{"git", pyExe, "python|-m|mcp_server_git"},
	} {
		if got, _ := set.Match(c.exe, args(c.line)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
	var none *Set
	if _, ok := none.Match(pyExe, args("python|-m|mcp_server_git")); ok {
		t.Error("no set matched")
	}
	if _, ok := new(Set).Match(pyExe, args("python|-m|mcp_server_git")); ok {
		t.Error("the zero set matched")
	}
}

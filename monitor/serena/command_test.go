package serena

import (
	"strings"
	"testing"
)

func TestParseCommand(t *testing.T) {
	type want struct {
		ok                          bool
		project, context, transport string
	}
	def := func(project string) want { return want{true, project, "desktop-app", "stdio"} }
	no := want{}
	py := "/usr/bin/python3.11"
	for _, c := range []struct {
		name, exe, line string // line: arguments separated by "|"
		want
	}{
		{"venv script", py, "/v/bin/python3|/v/bin/serena|start-mcp-server|--project|/p/a", def("/p/a")},
		{"equals sign", py, "python3|/v/bin/serena|start-mcp-server|--project=/p/a b|--context=ide", want{true, "/p/a b", "ide", "stdio"}},
		{"no project", py, "python3|/v/bin/serena|start-mcp-server", def("")},
		{"http", py, "python3|/v/bin/serena|start-mcp-server|--transport|streamable-http|--port|0", want{true, "", "desktop-app", "streamable-http"}},
		{"flag without value", py, "python3|/v/bin/serena|start-mcp-server|--project|--context|ide", want{true, "", "ide", "stdio"}},
		{"flag at the end", py, "python3|/v/bin/serena|start-mcp-server|--project", def("")},
		{"project on its own", py, "python3|/v/bin/serena|start-mcp-server|/p/a", def("/p/a")},
		{"project on its own wins", py, "python3|/v/bin/serena|start-mcp-server|--context|ide|/p/a|--tool-timeout|9|--project|/p/b|/p/c", want{true, "/p/a", "ide", "stdio"}},
		{"project behind --", py, "python3|/v/bin/serena|start-mcp-server|--context|ide|--|--odd", want{true, "--odd", "ide", "stdio"}},
		{"project behind a flag of tomorrow", py, "python3|/v/bin/serena|start-mcp-server|--new=1|--other|2|/p/a", def("/p/a")},
		{"no project behind --", py, "python3|/v/bin/serena|start-mcp-server|--project-from-cwd|--", def("")},
		{"module", py, "/usr/bin/python3.11|-m|serena.cli|start-mcp-server", def("")},
		{"module with options", py, "python|-u|-X|utf8|-W|ignore|-P|-m|serena.cli|start-mcp-server", def("")},
		{"joined options", py, "python|-um|serena.cli|start-mcp-server", def("")},
		{"module joined", py, "python|-mserena.cli|start-mcp-server", def("")},
		{"module joined to options", py, "python|-uPmserena.cli|start-mcp-server", def("")},
		{"option value that looks like -m", py, "python|-W|m|/v/bin/serena|start-mcp-server", def("")},
		{"joined option value", py, "python|-Wignore::m|-Xdev|/v/bin/serena|start-mcp-server", def("")},
		{"old module", py, "python|-m|serena.mcp|--project|/p/a", def("/p/a")},
		{"old entry point", py, "/v/bin/python|/v/bin/serena-mcp-server|--project|/p/a", def("/p/a")},
		{"agent entry point", py, "/v/bin/python|/v/bin/serena-agent|start-mcp-server", def("")},
		{"deleted interpreter", "/v/bin/python3.11 (deleted)", "/v/bin/python|/v/bin/serena|start-mcp-server", def("")},
		{"exe unreadable", "", "/v/bin/python|/v/bin/serena|start-mcp-server", def("")},
		{"uv tool on Windows", `C:\Users\a b\AppData\Roaming\uv\tools\serena-agent\Scripts\python.exe`,
			`C:\Users\a b\AppData\Roaming\uv\tools\serena-agent\Scripts\python.exe|C:\Users\a b\.local\bin\serena.exe|start-mcp-server`, def("")},
		{"launcher on Windows", `C:\v\Scripts\serena.exe`, `C:\v\Scripts\serena.exe|start-mcp-server|--project|C:\p`, def(`C:\p`)},
		{"pypy", "/usr/bin/pypy3", "pypy3|/v/bin/serena|start-mcp-server", def("")},
		{"free-threaded", "/usr/bin/python3.13t", "python3.13t|/v/bin/serena|start-mcp-server", def("")},

		{"nothing", py, "", no},
		{"editor", "/usr/bin/vim", "vim|serena|start-mcp-server", no},
		{"grep", "/usr/bin/grep", "grep|-r|serena start-mcp-server|.", no},
		{"argv[0] pretends", "/usr/bin/sleep", "python3|/v/bin/serena|start-mcp-server", no},
		{"argv[0] pretends to be serena", "/usr/bin/sleep", "serena|start-mcp-server", no},
		{"shell", "/usr/bin/bash", "bash|-c|serena start-mcp-server", no},
		{"uvx", "/usr/bin/uvx", "uvx|--from|serena-agent|serena|start-mcp-server", no},
		{"other script", py, "python3|my.py|serena|start-mcp-server", no},
		{"python -c", py, "python3|-c|print(1)|serena|start-mcp-server", no},
		{"python -Ic", py, "python3|-Ic|print(1)|serena|start-mcp-server", no},
		{"python -", py, "python3|-|serena|start-mcp-server", no},
		{"pytest", py, "python3|/v/bin/pytest|serena|start-mcp-server", no},
		{"other module", py, "python3|-m|pytest|serena|start-mcp-server", no},
		{"other subcommand", py, "python3|/v/bin/serena|project|index", no},
		{"help", py, "python3|/v/bin/serena|start-mcp-server|--help", no},
		{"no subcommand", py, "python3|/v/bin/serena", no},
		{"interpreter alone", py, "python3", no},
		{"module flag alone", py, "python3|-m", no},
		{"a path with the name", py, "python3|/home/serena/start-mcp-server", no},
		{"python prefix", "/usr/bin/python-config", "python-config|/v/bin/serena|start-mcp-server", no},
		{"title rewritten to one string", py, "python3 /v/bin/serena start-mcp-server", no},
	} {
		var args []string
		if c.line != "" {
			args = strings.Split(c.line, "|")
		}
		got, ok := ParseCommand(c.exe, args)
		if ok != c.ok || got.Project != c.project || got.Context != c.context || got.Transport != c.transport {
			t.Errorf("%s: got %+v %v, want %+v", c.name, got, ok, c.want)
		}
	}
}

func TestRuns(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "serena": true, `C:\x\Serena.exe start-mcp-server`: true, "/a/serena-mcp-server": true, "serena-agent": true,
		"py -3.12 -m serena.mcp": true, "python3 -P -m serena.cli": true, "python3 /v/bin/serena": true,
		"uvx --from serena-agent serena": true, "uvx serena-agent@latest": true, "uvx --from git+https://github.com/oraios/serena serena": true,
		"uv run --directory /src/serena serena": true, "uv run python -m serena.cli": true, "poetry run serena": true, "bash -c serena": true,
		"uvx mcp-guard serena start-mcp-server": false, "uv run --directory /opt/guard guard.py serena start-mcp-server": false,
		"uv run --script serena": false, "pipx run --path serena": false,
		"python3 -m mcp_server_time": false, "npx -y @modelcontextprotocol/server-memory": false, "node /src/serena/index.js": false, "server": false,
	} {
		if got := Runs(strings.Fields(line)); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}

func TestCommandProjectName(t *testing.T) {
	for project, want := range map[string]string{
		"": "", "/p/alpha": "alpha", "/p/alpha/": "alpha", "alpha": "alpha", `C:\p\alpha`: "alpha", "/": "", ".": "", `C:\`: "",
	} {
		if got := (Command{Project: project}).ProjectName(); got != want {
			t.Errorf("%q: got %q, want %q", project, got, want)
		}
	}
}

func FuzzParseCommand(f *testing.F) {
	f.Add("/usr/bin/python3", "python3\x00/v/bin/serena\x00start-mcp-server\x00--project\x00/p")
	f.Add("", "serena.exe\x00start-mcp-server\x00--mode=x\x00--context")
	f.Fuzz(func(t *testing.T, exe, line string) {
		args := strings.Split(line, "\x00")
		if cmd, ok := ParseCommand(exe, args); ok && len(cmd.Args) >= len(args) {
			t.Fatalf("a server without a program: %q", args)
		}
	})
}

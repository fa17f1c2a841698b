package share

import (
	"slices"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	for _, test := range []struct{ goos, command, program, why string }{
		{"", "serena start-mcp-server --context ide", "serena start-mcp-server", ""},
		{"", "/opt/serena-agent start-mcp-server --context ide", "/opt/serena-agent start-mcp-server", ""},
		{"", "serena-mcp-server --context ide", "serena-mcp-server", ""},
		{"", "python3.13 -m serena.cli start-mcp-server --context ide", "python3.13 -m serena.cli start-mcp-server", ""},
		{"", "python -P /x/serena start-mcp-server --context ide", "python -P /x/serena start-mcp-server", ""},
		{"", "uvx serena start-mcp-server --context ide", "uvx serena start-mcp-server", ""},
		{"", "uvx serena-agent@latest start-mcp-server --context ide", "uvx serena-agent@latest start-mcp-server", ""},
		{"", "uvx -p 3.13 --from git+https://github.com/oraios/serena serena start-mcp-server --context ide", "uvx -p 3.13 --from git+https://github.com/oraios/serena serena start-mcp-server", ""},
		{"", "uv tool run --from serena-agent==2.1.0 serena start-mcp-server", "uv tool run --from serena-agent==2.1.0 serena start-mcp-server", ""},
		{"", "pipx run serena-agent start-mcp-server", "pipx run serena-agent start-mcp-server", ""},
		{"", "pipx run --spec git+https://x/serena serena start-mcp-server", "pipx run --spec git+https://x/serena serena start-mcp-server", ""},
		{"", "uvx --offline -- serena start-mcp-server --context ide", "uvx --offline -- serena start-mcp-server", ""},
		{"", "uv --offline tool run serena start-mcp-server", "uv --offline tool run serena start-mcp-server", ""},
		{"", "uv run serena start-mcp-server", "", fromTheDir},
		{"", "uv --directory . run serena start-mcp-server", "", fromTheDir},
		{"", "uv run --directory . serena start-mcp-server", "", fromTheDir},
		{"", "uv run --directory serena start-mcp-server", "", notSerena},
		// Another program, which is given the command of Serena.
		{"", "uvx mcp-guard serena start-mcp-server --context ide", "", notSerena},
		{"", "uvx --from serena-agent mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx --from mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx --from=git+https://github.com/somebody/guard serena start-mcp-server", "", notSerena},
		{"", "uv tool run --from mcp-guard serena start-mcp-server", "", notSerena},
		{"", "pipx run --spec mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx --option-of-tomorrow value serena start-mcp-server", "", notSerena},
		{"", "uv run --directory /opt/guard guard.py serena start-mcp-server", "", notSerena},
		{"", "uv --directory /opt/guard run guard.py serena start-mcp-server", "", notSerena},
		{"", "uv tool run mcp-guard serena start-mcp-server", "", notSerena},
		{"", "pipx run mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx serena project index start-mcp-server", "", notSerena},
		// A file of that name.
		{"", "uv run --script serena start-mcp-server", "", notSerena},
		{"", "uv run -s --directory /opt serena start-mcp-server", "", notSerena},
		{"", "pipx run --path serena start-mcp-server", "", notSerena},
		{"", "env uvx serena start-mcp-server", "", notSerena},
		{"", "uvx --from", "", notSerena},
		{"", "uv tool", "", notSerena},
		{"", "uv pip serena start-mcp-server", "", notSerena},
		{"", "pipx install serena start-mcp-server", "", notSerena},
		{"", "serena", "", notSerena},
		{"", "serena project index", "", notSerena},
		{"", "serena start-mcp-server --help", "", notSerena},
		{"", "uvx start-mcp-server", "", notSerena},
		{"", "uvx other start-mcp-server", "", notSerena},
		{"", "npx -y @modelcontextprotocol/server-filesystem /x", "", notSerena},
		{"", "python -c code serena start-mcp-server", "", notSerena},
		{"", "bash -c serena start-mcp-server", "", notSerena},
		{"", "echo serena start-mcp-server", "", notSerena},
		{"", "cmd /c serena start-mcp-server", "", notSerena},
		{"windows", "cmd /c serena start-mcp-server --context ide", "serena start-mcp-server", ""},
		{"windows", `C:\Windows\System32\cmd.exe /d /s /C uvx.exe serena start-mcp-server`, "uvx.exe serena start-mcp-server", ""},
		{"windows", "cmd /k serena start-mcp-server", "", notSerena},
		{"windows", "cmd serena start-mcp-server", "", notSerena},
		{"windows", "cmd /c", "", notSerena},
		{"windows", "cmd", "", notSerena},
	} {
		command := strings.Fields(test.command)
		before := slices.Clone(command)
		program, args, why := split(test.goos, command)
		if got := strings.Join(program, " "); got != test.program || why != test.why {
			t.Errorf("%s: %q, %q", test.command, got, why)
		}
		if why == "" && !strings.HasSuffix(test.command, strings.Join(append(slices.Clone(program), args...), " ")) {
			t.Errorf("%s: the arguments are %q", test.command, args)
		}
		if !slices.Equal(command, before) {
			t.Errorf("%s was changed to %q", test.command, command)
		}
	}
	place := t.TempDir()
	for _, words := range [][]string{{"--directory", place}, {"--project=" + place}, {"-p", "3.13", "--project", place}} {
		for _, command := range [][]string{
			slices.Concat([]string{"uv", "run"}, words, []string{"serena", subcommand}),
			slices.Concat([]string{"uv"}, words, []string{"run", "serena", subcommand}),
		} {
			if _, _, why := split("", command); why != "" {
				t.Errorf("%q: %s", command, why)
			}
		}
	}
}

// TestFilesOfLaunchers: what is named from the working directory would be
// another file where a server runs.
func TestFilesOfLaunchers(t *testing.T) {
	m := newMachine(t)
	dir := m.dir("work")
	for _, name := range []string{"work/serena-agent/x", "work/serena/x", "work/req.txt", "work/sub/x"} {
		m.file(name)
	}
	for command, want := range map[string]bool{
		"uvx --from serena-agent serena start-mcp-server":         false,
		"uvx serena start-mcp-server":                             false,
		"uvx serena-agent@latest start-mcp-server":                false,
		"uvx --from ./serena-agent serena start-mcp-server":       true,
		"uvx --from . serena start-mcp-server":                    true,
		"uvx --from=.. serena start-mcp-server":                   true,
		"uvx --with-requirements req.txt serena start-mcp-server": true,
		"uvx --with-requirements=req.txt serena start-mcp-server": true,
		"uvx --env-file nothing serena start-mcp-server":          false,
		"uvx --env-file .env serena start-mcp-server":             true,
		"uvx --with sub serena start-mcp-server":                  false,
		"uvx --with x sub serena start-mcp-server":                true,
		"uvx --with sub/ serena start-mcp-server":                 true,
		"uvx --with-editable serena serena start-mcp-server":      true,
		"uvx --from git+https://x/serena serena start-mcp-server": false,
		"uvx --from " + dir + "/sub serena start-mcp-server":      false,
		"python3 serena start-mcp-server":                         true,
		"python3 /x/serena start-mcp-server":                      false,
		"python3 -m serena.cli start-mcp-server":                  false,
		"serena start-mcp-server":                                 false,
		"serena-mcp-server":                                       false,
	} {
		if got := namesFiles(dir, strings.Fields(command)); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func TestSources(t *testing.T) {
	for from, want := range map[string]bool{
		"serena-agent": true, "serena-agent==2.1.0": true, "serena-agent[dap]>=2": true, "serena-agent@latest": true, "serena-agent @ git+https://x/y": true,
		"git+https://github.com/oraios/serena": true, "git+https://github.com/oraios/serena.git@feature/x#egg=y": true, "git+ssh://git@github.com/oraios/serena": true,
		"/home/alex/serena": true, "/home/alex/serena/": true, `C:\src\serena`: true,
		"": false, "mcp-guard": false, "git+https://github.com/serena/guard": false, "https://serena": false, "/home/serena/guard": false,
	} {
		if isSource(from) != want {
			t.Errorf("%q: %v", from, !want)
		}
	}
}

package share

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	script := filepath.Join(t.TempDir(), "serena")
	for _, test := range []struct {
		goos, command, program string
		why                    error
	}{
		{"", "serena start-mcp-server --context ide", "serena start-mcp-server", nil},
		{"", "/opt/serena-agent start-mcp-server --context ide", "/opt/serena-agent start-mcp-server", nil},
		{"", "serena-mcp-server --context ide", "serena-mcp-server", nil},
		{"", "python3.13 -m serena.cli start-mcp-server --context ide", "python3.13 -m serena.cli start-mcp-server", nil},
		{"", "python -P " + script + " start-mcp-server --context ide", "python -P " + script + " start-mcp-server", nil},
		{"", "uvx serena start-mcp-server --context ide", "uvx serena start-mcp-server", nil},
		{"", "uvx serena-agent@latest start-mcp-server --context ide", "uvx serena-agent@latest start-mcp-server", nil},
		{"", "uvx -p 3.13 --from git+https://github.com/oraios/serena serena start-mcp-server --context ide", "uvx -p 3.13 --from git+https://github.com/oraios/serena serena start-mcp-server", nil},
		{"", "uv tool run --from serena-agent==2.1.0 serena start-mcp-server", "uv tool run --from serena-agent==2.1.0 serena start-mcp-server", nil},
		{"", "pipx run serena-agent start-mcp-server", "pipx run serena-agent start-mcp-server", nil},
		{"", "pipx run --spec git+https://x/serena serena start-mcp-server", "pipx run --spec git+https://x/serena serena start-mcp-server", nil},
		{"", "uvx --offline -- serena start-mcp-server --context ide", "uvx --offline -- serena start-mcp-server", nil},
		{"", "uv --offline tool run serena start-mcp-server", "uv --offline tool run serena start-mcp-server", nil},
		{"", "uv run serena start-mcp-server", "uv run serena start-mcp-server", fromTheDir},
		{"", "uv --directory . run serena start-mcp-server", "uv --directory . run serena start-mcp-server", fromTheDir},
		{"", "uv run --directory . serena start-mcp-server", "uv run --directory . serena start-mcp-server", fromTheDir},
		{"", "uv run --directory serena start-mcp-server", "", notSerena},
		{"", "uvx --from . serena start-mcp-server", "uvx --from . serena start-mcp-server", fromTheDir},
		{"", "uvx --from=.. serena start-mcp-server", "uvx --from=.. serena start-mcp-server", fromTheDir},
		{"", "uvx --with sub/x serena start-mcp-server", "uvx --with sub/x serena start-mcp-server", fromTheDir},
		{"", "uvx --env-file .env serena start-mcp-server", "uvx --env-file .env serena start-mcp-server", fromTheDir},
		{"", "python3 ./serena start-mcp-server", "python3 ./serena start-mcp-server", fromTheDir},
		{"", "./serena start-mcp-server --context ide", "./serena start-mcp-server", nil}, // found where the client is
		// Another program, which is given the command of Serena.
		{"", "uvx mcp-guard serena start-mcp-server --context ide", "", notSerena},
		{"", "uvx --from serena-agent mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx --option-of-tomorrow value serena start-mcp-server", "", notSerena},
		{"", "uvx --from mcp-guard serena start-mcp-server", "", notSerena},
		{"", "uvx --from=git+https://github.com/somebody/guard serena start-mcp-server", "", notSerena},
		{"", "uv tool run --from mcp-guard serena start-mcp-server", "", notSerena},
		{"", "pipx run --spec mcp-guard serena start-mcp-server", "", notSerena},
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
		{"windows", "cmd /c serena start-mcp-server --context ide", "serena start-mcp-server", nil},
		{"windows", `C:\Windows\System32\cmd.exe /d /s /C uvx.exe serena start-mcp-server`, "uvx.exe serena start-mcp-server", nil},
		{"windows", "cmd /k serena start-mcp-server", "", notSerena},
		{"windows", "cmd serena start-mcp-server", "", notSerena},
		{"windows", "cmd /c", "", notSerena},
		{"windows", "cmd", "", notSerena},
	} {
		command := strings.Fields(test.command)
		before := slices.Clone(command)
		w := wish{Request: Request{Command: command}}
		why := w.read(test.goos)
		if got := strings.Join(w.program, " "); got != test.program || why != test.why {
			t.Errorf("%s: %q, %v", test.command, got, why)
		}
		if why == nil && strings.Contains(test.command, "--context ide") != (w.context == "ide") {
			t.Errorf("%s: the context is %q", test.command, w.context)
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
			w := wish{Request: Request{Command: command}}
			if why := w.read(""); why != nil {
				t.Errorf("%q: %v", command, why)
			}
		}
	}
}

func TestSources(t *testing.T) {
	for from, want := range map[string]bool{
		"serena-agent": true, "serena-agent==2.1.0": true, "serena-agent[dap]>=2": true, "serena-agent@latest": true, "serena-agent @ git+https://x/y": true,
		"git+https://github.com/oraios/serena": true, "git+https://github.com/oraios/serena.git@feature/x#egg=y": true, "git+ssh://git@github.com/oraios/serena": true,
		"/home/alex/serena": true, "/home/alex/serena/": true, `C:\src\serena`: true, "/serena": true, "../x": true,
		"": false, "mcp-guard": false, "serena-guard": false, "git+https://github.com/serena/guard": false, "https://serena": false, "/home/serena/guard": false,
		"git+https://x/guard@feature/serena": false, "git+https://x/guard#subdirectory=src/serena": false, "guard @ git+https://x/serena": false,
	} {
		if source.MatchString(from) != want {
			t.Errorf("%q: %v", from, !want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		args, kept, project, why string
	}{
		{"", "--context desktop-app", "", ""},
		{"--project a --context ide", "--context ide", "a", ""},
		{"--project=a --context=ide", "--context ide", "a", ""},
		{"--context ide a --mode planning", "--mode planning --context ide", "a", ""},
		{"--context ide -- -a", "--context ide", "-a", ""},
		{"--project-file a", "--context desktop-app", "a", ""},
		{"--project-from-cwd --context ide", "--context ide", "", ""},
		{"--transport stdio --host 0.0.0.0 --port 9121 --open-web-dashboard true --project a", "--context desktop-app", "a", ""},
		{"--agent-interface tools --project a --log-level INFO --tool-timeout -1", "--agent-interface tools --log-level INFO --tool-timeout -1 --context desktop-app", "a", ""},
		{"--context codex --mode a --context ide --log-level INFO", "--mode a --log-level INFO --context ide", "", ""},
		{"--transport sse", "", "", "it is to speak sse, and not stdio with its client"},
		{"--transport=streamable-http", "", "", "it is to speak streamable-http"},
		{"--transport stdio --transport sse", "", "", "it is to speak sse"},
		{"--help", "", "", "its option --help has no value, or is one that lamplighter does not know"},
		{"--projec a", "", "", "its option --projec has"},
		{"--project-from-cwd=true", "", "", "its option --project-from-cwd has"},
		{"-p a", "", "", "its option -p has"},
		{"--project", "", "", "its option --project has no value"},
		{"--context=", "", "", "its option --context has no value"},
		{"--transport", "", "", "its option --transport has no value"},
		{"--project --context ide", "", "", "its option --project has no value"},
		{"--project a --project b", "", "b", "its project is given twice"},
		{"--project a a", "", "a", "its project is given twice"},
		{"a -- b", "", "b", "its project is given twice"},
		{"--project a --project-from-cwd", "", "", "its project is given twice"},
	} {
		w := wish{Request: Request{Dir: "/dir"}}
		why := w.parse(strings.Fields(test.args))
		if (why == nil) != (test.why == "") || why != nil && !strings.Contains(why.Error(), test.why) {
			t.Errorf("%s: %v", test.args, why)
		}
		if kept := strings.Join(w.words(), " "); kept != test.kept && why == nil {
			t.Errorf("%s: kept %q", test.args, kept)
		}
		if w.project != test.project {
			t.Errorf("%s: project %q", test.args, w.project)
		}
	}
}

func TestModesThatAreFiles(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "x.yml")
	w := wish{Request: Request{Dir: dir}}
	why := w.parse([]string{"--mode", "planning", "--add-mode=my.yml", "--mode", "sub/x", "--mode", elsewhere})
	want := []string{"planning", filepath.Join(dir, "my.yml"), filepath.Join(dir, "sub", "x"), elsewhere}
	if why != nil || !slices.Equal(w.modes, want) {
		t.Errorf("%q, %v", w.modes, why)
	}
	if want := []string{"--mode", want[0], "--add-mode", want[1], "--mode", want[2], "--mode", want[3]}; !slices.Equal(w.kept, want) {
		t.Errorf("%q", w.kept)
	}
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		goos, command string
		want          Reading
	}{
		{"linux", "serena start-mcp-server --context ide --project-from-cwd", Reading{Serena: true}},
		{"linux", "uvx --from serena-agent serena start-mcp-server --context claude-code --project /w", Reading{Serena: true}},
		{"linux", "serena-mcp-server --context codex", Reading{Serena: true}},
		{"linux", "uvx --from git+https://github.com/oraios/serena serena start-mcp-server --context=ide --project /w --open-web-dashboard=False", Reading{Serena: true, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide --project-from-cwd --enable-web-dashboard false --open-web-dashboard true", Reading{Serena: true, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide --project . --open-web-dashboard false --open-web-dashboard true", Reading{Serena: true, Page: "true"}},
		{"linux", "serena start-mcp-server --enable-web-dashboard false --enable-web-dashboard true", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --enable-web-dashboard true --enable-web-dashboard false", Reading{Serena: true, Page: "false"}},
		{"linux", "serena start-mcp-server --log-level=--enable-web-dashboard", Reading{Serena: true}},
		{"linux", "uv run serena start-mcp-server --context ide", Reading{Serena: true, Alone: string(fromTheDir)}},
		{"linux", "uv run serena start-mcp-server --open-web-dashboard false", Reading{Serena: true, Alone: string(fromTheDir), Page: "false"}},
		{"linux", "serena start-mcp-server --context ide -- ./--open-web-dashboard", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide --project ~/w", Reading{Serena: true, Alone: "the project ~/w begins with ~, which nobody replaces by the home directory here (write the whole path)"}},
		{"linux", "serena start-mcp-server --context ide --project ${workspaceFolder}", Reading{Serena: true}}, // which the client replaces
		{"linux", "uvx --from ${HOME}/src/serena serena start-mcp-server", Reading{Serena: true}},
		{"linux", "uvx --from src/serena serena start-mcp-server", Reading{Serena: true, Alone: string(fromTheDir)}},
		{"linux", "serena start-mcp-server --transport sse", Reading{Serena: true, Alone: "it is to speak sse, and not stdio with its client"}},
		{"linux", "bash -c serena", Reading{Alone: string(notSerena)}},
		{"linux", "cmd /c serena start-mcp-server --context ide", Reading{Alone: string(notSerena)}},
		{"windows", "cmd /c serena start-mcp-server --context ide --project-from-cwd", Reading{Serena: true}},
		{"linux", "npx -y @modelcontextprotocol/server-filesystem /", Reading{Alone: string(notSerena)}},
		{"linux", "docker run -i ghcr.io/oraios/serena serena start-mcp-server", Reading{Alone: string(notSerena)}},
	} {
		if got := ReadCommand(test.goos, strings.Fields(test.command)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.command, got, test.want)
		}
	}
	if got := ReadCommand("linux", nil); got.Serena || got.Alone == "" {
		t.Errorf("nothing: %+v", got)
	}
}

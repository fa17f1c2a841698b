package share

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		args, kept, project, why string
	}{
		{"", "", "", ""},
		{"--project a --context ide", "--context ide", "a", ""},
		{"--project=a --context=ide", "--context ide", "a", ""},
		{"--context ide a --mode planning", "--mode planning --context ide", "a", ""},
		{"--context ide -- -a", "--context ide", "-a", ""},
		{"--project-file a", "", "a", ""},
		{"--project-from-cwd --context ide", "--context ide", "", ""},
		{"--transport stdio --host 0.0.0.0 --port 9121 --open-web-dashboard true --project a", "", "a", ""},
		{"--agent-interface tools --project a --log-level INFO --tool-timeout -1", "--agent-interface tools --log-level INFO --tool-timeout -1", "a", ""},
		{"--context codex --mode a --context ide --log-level INFO", "--mode a --log-level INFO --context ide", "", ""},
		{"--transport sse", "", "", "it is to speak sse, and not stdio with its client"},
		{"--transport=streamable-http", "", "", "it is to speak streamable-http"},
		{"--transport stdio --transport sse", "", "", "it is to speak sse"},
		{"--help", "", "", "an option that lamplighter does not know: --help"},
		{"--projec a", "", "a", "does not know: --projec"},
		{"--project-from-cwd=true", "", "", "does not know: --project-from-cwd"},
		{"-p a", "", "a", "does not know: -p"},
		{"--project", "", "", "its option --project has no value"},
		{"--project --context ide", "", "", "its option --project has no value"},
		{"--project a --project b", "", "b", "its project is given twice"},
		{"--project a a", "", "a", "its project is given twice"},
		{"a -- b", "", "b", "its project is given twice"},
		{"--project a --project-from-cwd", "", "a", "both a project and --project-from-cwd"},
	} {
		a, why := parseArguments(strings.Fields(test.args), "/dir")
		if (why == "") != (test.why == "") || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q", test.args, why)
		}
		if kept := strings.Join(a.words(), " "); kept != test.kept && why == "" {
			t.Errorf("%s: kept %q", test.args, kept)
		}
		if a.project != test.project || a.hasProject != (test.project != "") {
			t.Errorf("%s: project %q", test.args, a.project)
		}
	}
}

func TestModesThatAreFiles(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "x.yml")
	a, why := parseArguments([]string{"--mode", "planning", "--add-mode=my.yml", "--mode", "sub/x", "--mode", elsewhere}, dir)
	want := []string{"planning", filepath.Join(dir, "my.yml"), filepath.Join(dir, "sub", "x"), elsewhere}
	if why != "" || !slices.Equal(a.modes, want) {
		t.Errorf("%q, %s", a.modes, why)
	}
	if want := []string{"--mode", want[0], "--add-mode", want[1], "--mode", want[2], "--mode", want[3]}; !slices.Equal(a.kept, want) {
		t.Errorf("%q", a.kept)
	}
}

func TestContexts(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "contexts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"junie", "claude-code"} {
		if err := os.WriteFile(filepath.Join(home, "contexts", name+".yml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"ide": true, "vscode": true, "zcode": true,
		"junie": false, "claude-code": false, "ide-assistant": false, // the old name of a context leads to the user's file of the new one
		"codex": false, "desktop-app": false, "mine": false, "": false, "IDE": false, "ide.yml": false, "./ide": false,
	} {
		if isSingleProject(name, home) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
	if !isSingleProject("ide-assistant", t.TempDir()) {
		t.Error("ide-assistant")
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
		{"linux", "uv run serena start-mcp-server --context ide", Reading{Serena: true, Alone: fromTheDir}},
		{"linux", "uv run serena start-mcp-server --open-web-dashboard false", Reading{Serena: true, Alone: fromTheDir, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide -- ./--open-web-dashboard", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide --project ~/w", Reading{Serena: true, Alone: "the project ~/w begins with ~, which nobody replaces by the home directory here (write the whole path)"}},
		{"linux", "serena start-mcp-server --context ide --project ${workspaceFolder}", Reading{Serena: true}}, // which the client replaces
		{"linux", "serena start-mcp-server --transport sse", Reading{Serena: true, Alone: "it is to speak sse, and not stdio with its client"}},
		{"linux", "bash -c serena", Reading{Alone: notSerena}},
		{"linux", "cmd /c serena start-mcp-server --context ide", Reading{Alone: notSerena}},
		{"windows", "cmd /c serena start-mcp-server --context ide --project-from-cwd", Reading{Serena: true}},
		{"linux", "npx -y @modelcontextprotocol/server-filesystem /", Reading{Alone: notSerena}},
		{"linux", "docker run -i ghcr.io/oraios/serena serena start-mcp-server", Reading{Alone: notSerena}},
	} {
		if got := ReadCommand(test.goos, strings.Fields(test.command)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.command, got, test.want)
		}
	}
	if got := ReadCommand("linux", nil); got.Serena || got.Alone == "" {
		t.Errorf("nothing: %+v", got)
	}
}

package share

import (
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
		{"--projec a", "", "", "does not know: --projec"},
		{"--project-from-cwd=true", "", "", "does not know: --project-from-cwd"},
		{"-p a", "", "", "does not know: -p"},
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
		if kept := strings.Join(a.kept, " "); kept != test.kept && why == "" {
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
	own := func(name string) bool { return name == "junie" }
	for name, want := range map[string]string{
		"ide": "", "claude-code": "", "vscode": "", "zcode": "", "ide-assistant": "",
		"codex": "its context codex can change the project", "desktop-app": "can change", "chatgpt": "can change", "agent": "can change",
		"junie": "one of the user's own", "mine": "is not known", "": "is not known", "IDE": "is not known",
		"ide.yml": "a file of the user", "./ide": "a file of the user", `a\b`: "a file of the user", "x.YAML": "a file of the user",
		"\x1b[31m": "is not known",
	} {
		got := contextAlone(name, own)
		if (got == "") != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q", name, got)
		}
	}
	// The old name of a context leads to the user's file of the new one.
	if contextAlone("ide-assistant", func(name string) bool { return name == "claude-code" }) == "" {
		t.Error("ide-assistant")
	}
}

func TestUseSingleProject(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "--context claude-code",
		"--context ide --mode a":             "--mode a --context ide",
		"--context codex --mode a":           "--mode a --context claude-code",
		"--context ide --mode a --context x": "--mode a --context claude-code",
	} {
		a, why := parseArguments(strings.Fields(args), "/")
		a.useSingleProject()
		if got := strings.Join(a.kept, " "); why != "" || got != want || !slices.Contains(singleProject, a.context) {
			t.Errorf("%q: %q, %s", args, got, a.context)
		}
	}
}

package serenatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEnvironment(t *testing.T) {
	tools, home := filepath.FromSlash("/tools"), filepath.FromSlash("/home/x")
	env := environment([]string{
		"PATH=/bin", "HOME=/root", "SERENA_HOME=/root/.serena", "UV_INDEX=elsewhere", "PYTHONPATH=/p",
		"DISPLAY=:0", "npm_config_cache=/c", "LANG=C.UTF-8", "EMPTY=", "GOMODCACHE=/mod",
	}, tools, home, false)
	for _, want := range []string{
		"PATH=" + strings.Join([]string{filepath.Join(tools, "bin"), filepath.Join(tools, "node", "bin"), "/bin"}, string(os.PathListSeparator)),
		"HOME=" + home, "SERENA_HOME=" + filepath.Join(home, ".serena"),
		"LANG=C.UTF-8", "EMPTY=", "GOMODCACHE=/mod", "UV_OFFLINE=1",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is missing in %q", want, env)
		}
	}
	names := map[string]int{}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		names[name]++
	}
	for _, name := range []string{"UV_INDEX", "PYTHONPATH", "DISPLAY", "npm_config_cache", "UV_CONFIG_FILE", "GOFLAGS"} {
		if names[name] != 0 {
			t.Errorf("%s reaches the server", name)
		}
	}
	for name, n := range names {
		if n > 1 {
			t.Errorf("%s is set %d times", name, n)
		}
	}
}

func TestCommand(t *testing.T) {
	tools := filepath.FromSlash("/tools")
	older := "--open-web-dashboard false"
	defaults := older + " --agent-interface tools"
	for _, c := range []struct {
		name string
		o    Options
		want string // after the program
	}{
		{"zero", Options{}, "start-mcp-server --context desktop-app " + defaults},
		{"project", Options{Project: "/p"}, "start-mcp-server --project /p --context ide " + defaults},
		{"context", Options{Project: "/p", Context: "codex"}, "start-mcp-server --project /p --context codex " + defaults},
		{"http", Options{HTTP: true}, "start-mcp-server --context desktop-app " + defaults + " --transport streamable-http --port 0"},
		{"uvx", Options{UVX: true}, "--python 3.11 --from serena-agent==" + Version + " serena start-mcp-server --context desktop-app " + defaults},
		{"older", Options{Version: Version15, Project: "/p"}, "start-mcp-server --project /p --context ide " + older},
		{"another server", Options{Command: []string{"npx", "-y", "x"}, HTTP: true}, "-y x"},
		{"more", Options{Args: []string{"--log-level", "WARNING"}}, "start-mcp-server --context desktop-app " + defaults + " --log-level WARNING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(c.o.command(tools)[1:], " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	client := Options{Client: []string{"claude", "-x"}}.command(tools)
	if want := []string{"claude", "-x", program(tools, "venv", "serena"), "start-mcp-server"}; !slices.Equal(client[:4], want) {
		t.Errorf("with a client: %q", client)
	}
	if got, want := (Options{Version: Version17}).command(tools)[0], program(tools, "venv-1.7.0", "serena"); got != want {
		t.Errorf("another version: %s, want %s", got, want)
	}
}

func TestInitialiseKeepsSettings(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".serena", "serena_config.yml")
	for _, want := range []string{settings, "mine: true\n"} {
		if err := initialise(home); err != nil {
			t.Fatal(err)
		}
		if want != settings {
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := initialise(home); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("settings are %q (%v), want %q", got, err, want)
		}
	}
}

func TestGoProjectCompiles(t *testing.T) {
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = GoProject(t, "a name with spaces")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

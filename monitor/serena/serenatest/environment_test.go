package serenatest

import (
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
		"PATH=" + strings.Join([]string{filepath.Join(tools, "bin"), filepath.Join(tools, "node", "bin"), "/bin"}, ":"),
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
	for _, name := range []string{"UV_INDEX", "PYTHONPATH", "DISPLAY", "npm_config_cache", "UV_CONFIG_FILE"} {
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

package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLookPath(t *testing.T) {
	home, onPath := t.TempDir(), t.TempDir()
	ending := ""
	if runtime.GOOS == "windows" {
		ending = ".exe"
	}
	tool := filepath.Join(home, ".local", "bin", "only-uv-has-it"+ending)
	both := filepath.Join(onPath, "both"+ending)
	for _, path := range []string{tool, filepath.Join(home, ".local", "bin", "both"+ending), both} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	plain := filepath.Join(onPath, "plain.txt")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": "relative" + string(filepath.ListSeparator) + onPath}
	f := finder{goos: runtime.GOOS, home: home, getenv: func(name string) string { return env[name] }}
	for program, want := range map[string]string{
		"only-uv-has-it": tool, "both": both, tool: tool, "nowhere-at-all": "", filepath.Join(home, "x"): "", "./both": "", home: "", "~/both": "",
	} {
		got, err := f.lookPath(program)
		if got != want || (want == "") != errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %q, %v", program, got, err)
		}
	}
	if _, err := f.lookPath(plain); runtime.GOOS != "windows" && err == nil {
		t.Error("what cannot be run is a program")
	}
	// Every system's own places are absolute on it.
	for _, dir := range f.dirs() {
		if !filepath.IsAbs(dir) {
			t.Error(dir)
		}
	}
}

//go:build unix

package project

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const longPaths = true

var strange = []string{
	"with two  spaces", " lead and trail ", `quo'te"s`, "new\nline", "tab\t", "ünï 街の灯り 🏮", "-rf", "--project", "$HOME `id` $(id)", "{port}", "a;b&c|d",
	`back\slash`, "%41", "\x7f\x1b[31m", "not\xffutf8", "...", "~",
}

// badPaths are those that only Unix has.
func badPaths(t *testing.T, top string) []string {
	t.Helper()
	at := func(name string) string { return filepath.Join(top, name) }
	for name, to := range map[string]string{"dangling": "nowhere", "loop": "loop", "elsewhere": os.TempDir()} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Beyond the link ".." leads elsewhere than it looks.
	return []string{at("dangling"), at("loop"), at("pipe"), at("elsewhere") + "/../" + filepath.Base(top), "/dev/null", "/dev/tty", "/proc/self/fd/0"}
}

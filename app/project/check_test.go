package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Directories of every kind are taken, in their plain spelling, with their
// symbolic links; everything else is refused.
func TestPaths(t *testing.T) {
	top := t.TempDir()
	file := filepath.Join(top, "file")
	deep := top
	for len(deep)+101 < longestPath {
		deep = filepath.Join(deep, strings.Repeat("d", 100))
	}
	make := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	plainDir := make(filepath.Join(top, "plain"))
	good := map[string]string{plainDir: plainDir, plainDir + "/": plainDir, top + "/./plain//": plainDir, plainDir + "/../plain": plainDir}
	for _, name := range strange {
		path := make(filepath.Join(top, name))
		good[path] = path
	}
	if len(deep) < 200 || longPaths {
		good[make(deep)] = deep
	}
	l := &Looks{Limit: time.Minute}
	for path, want := range good {
		if got, err := Check(t.Context(), l, path); err != nil || got != want {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	for _, path := range append(badPaths(t, top),
		"", ".", "..", "plain", "./plain", "~", "$HOME", "file://"+top, " "+top, file, file+"/", filepath.Join(top, "none"), filepath.Join(file, "below"),
		top+"\x00", plainDir+"\x00/..", top+strings.Repeat("/x", longestPath), filepath.Join(top, strings.Repeat("x", 300)), strings.Repeat("/", longestPath+1), "\xff",
	) {
		if got, err := Check(t.Context(), l, path); err == nil || got != "" {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Another taskkill, earlier on PATH, is not run.
func TestTaskkillIsTheSystems(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "taskkill.exe"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if found, err := exec.LookPath("taskkill"); err != nil && !errors.Is(err, exec.ErrDot) || filepath.Dir(found) != dir {
		t.Fatalf("%s, %v", found, err)
	}
	path, err := taskkill()
	if err != nil || !filepath.IsAbs(path) || !strings.EqualFold(filepath.Base(filepath.Dir(path)), "system32") {
		t.Errorf("%s, %v", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

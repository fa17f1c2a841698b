package foreignfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(replacerVariable); path != "" {
		replaceForEver(path)
	}
	goleak.VerifyTestMain(m)
}

// put writes a file and gives it the mode, whatever the umask is.
func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// content is what the file at path holds.
func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names are those of all that lies in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// lies fails unless exactly that lies in a directory.
func lies(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("in %s lies %q, want %q", dir, got, want)
	}
}

// says fails unless err names the path once and says that.
func says(t *testing.T, err error, path, what string) {
	t.Helper()
	if err == nil || strings.Count(err.Error(), path) != 1 || !strings.Contains(err.Error(), what) || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("got %v, want %s: %s", err, path, what)
	}
}

// temporary is a directory whose name has no links in it, which Read would
// follow.
func temporary(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

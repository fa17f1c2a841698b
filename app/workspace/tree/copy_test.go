package tree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCopySmoke(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(from, "a/b/f"), []byte("hello"), 0o640)
	_ = os.Link(filepath.Join(from, "a/b/f"), filepath.Join(from, "a/g"))
	_ = os.Symlink("b/f", filepath.Join(from, "a/l"))
	got, err := Copy(t.Context(), from, to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(got)
	n, err := Measure(t.Context(), to, nil)
	t.Log(n, err)
	id, err := Identity(to)
	t.Log(id, err)
	if err := Remove(t.Context(), to, id, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(to); !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

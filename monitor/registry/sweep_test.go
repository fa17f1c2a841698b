package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lamplighter/monitor/plainfile"
)

// What was left by one that was killed while it wrote does not pile up.
func TestReplaceSweeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "instances.json")
	left := filepath.Join(filepath.Dir(path), ".instances.json.17.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-2*plainfile.Abandoned)); err != nil {
		t.Fatal(err)
	}
	write := func(f *os.File, data []byte) error {
		_, err := f.Write(data)
		return err
	}
	if _, err := replace(path, []byte("{}"), write); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

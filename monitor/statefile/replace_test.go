package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a Replace has left that was killed is removed by a later one, once nobody can
// be writing it any more; nothing else is.
func TestReplaceSweeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "list.json")
	left := map[string]bool{ // whether it stays
		".list.json.1.tmp": false, ".list.json.2.tmp": true, ".other.json.3.tmp": true, ".list.json.4": true, "list.json.5.tmp": true,
	}
	for name := range left {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == ".list.json.2.tmp" {
			continue // somebody is writing it
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*Abandoned)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	for name, stays := range left {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) == stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

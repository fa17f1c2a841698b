//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// On Windows a folder that is watched does not tell that it was renamed; there
// the next heartbeat finds what is new.
func TestMirrorFindsInAnotherFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "serena")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := begin(t, dir, 5*time.Millisecond)
	first := func(pid string) string {
		return `{"instances":{"` + pid + `":{"pid":` + pid + `,"port":24282,"project_name":"a","started_at":1,"last_heartbeat":1}}}`
	}
	write(t, w.file.path, first("8"))
	w.until("found", func() bool { return slices.Equal(w.found, []string{"8 24282 a"}) })
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, w.file.path, first("5"))
	w.until("found in the new one", func() bool { return slices.Contains(w.found, "5 24282 a") })
}

package launch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"lamplighter/app/apptest"
)

func TestVerdictsAreReplacedAlthoughSomebodyReadsThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), verdictsName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	// As a scanner of viruses opens it.
	reader, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	saved := make(chan error)
	go func() {
		saved <- saveVerdicts(path, map[string]remembered{"key": {verdict: Verdict{Candidate: Candidate{Command: []string{"x"}}, OK: true}, at: time.Now()}})
	}()
	apptest.Eventually(t, "the new file is written", func() bool {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
		if err != nil || len(found) == 0 {
			return false
		}
		info, err := os.Stat(found[0])
		return err == nil && info.Size() > 0
	})
	if err := windows.CloseHandle(reader); err != nil {
		t.Error(err)
	}
	if err := <-saved; err != nil {
		t.Error(err)
	}
}

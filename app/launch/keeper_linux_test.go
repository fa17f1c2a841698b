package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
)

// TestKeepersThatCannotBeLookedAt are given up, with the server that they have
// started by then.
func TestKeepersThatCannotBeLookedAt(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, func(l *Launcher) {
		l.look = func(int) (process.Stat, error) {
			apptest.Eventually(t, "the server and its child run", func() bool {
				dirs, err := os.ReadDir(filepath.Join(state, serversDir))
				if err != nil || len(dirs) != 1 {
					return false
				}
				ids, err := process.Marked(launchMark, dirs[0].Name())
				return err == nil && len(ids) == 3
			})
			return process.Stat{}, syscall.EMFILE
		}
	})
	if _, err := l.Launch(t.Context(), order("--ignore", "--child")); err == nil || !strings.Contains(err.Error(), "looking at the keeper") {
		t.Error(err)
	}
	nothingLeft(t, state)
	nobody(t)
}

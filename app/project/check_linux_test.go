package project

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory is refused that may not be read, or not be entered: its files
// could not be reached.
func TestUnreadableDirectories(t *testing.T) {
	for mode := range os.FileMode(8) {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode<<6); err != nil {
			t.Fatal(err)
		}
		unprivileged(t, func() {
			if err := readable(dir); (err == nil) != (mode&5 == 5) {
				t.Errorf("%v: %v", mode<<6, err)
			}
		})
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// unprivileged calls f in a thread of its own without the capabilities of root,
// to which the modes of files mean nothing (capabilities(7)).
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever: the thread ends with this goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capset(&header, &data[0]); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

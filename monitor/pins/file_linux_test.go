package pins

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// obeyModes makes the modes of files count for this test, also when it is run
// by the superuser: a thread has its own capabilities, and ends with the test.
func obeyModes(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
	caps[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Capset(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
}

// An unreadable file is not overwritten before it can be read.
func TestUnreadable(t *testing.T) {
	obeyModes(t)
	w, path := &world{boot: "b1"}, fileIn(t)
	put(t, path, `{"boot":"b1","pins":["1-7"]}`)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	s, said := w.open(path)
	if !strings.Contains(said.String(), "permission denied") || !errors.Is(s.Err(), unix.EACCES) {
		t.Errorf("%v, said %q", s.Err(), said)
	}
	if err := s.Set(who(2), true); !errors.Is(err, unix.EACCES) {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pin(t, s, 2)
	holds(t, s, 1, 2)
	if err := s.Err(); err != nil {
		t.Error(err)
	}

	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err := s.Set(who(3), true)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), dir+": permission denied") {
		t.Errorf("got %v", err)
	}
	holds(t, s, 1, 2)
}

package foreignfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// A file that another program has open, who does not let it be replaced, stays.
func TestHeldOpen(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0o600)
	f := read(t, path)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE // but not FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		t.Fatal(err)
	}
	says(t, f.Replace([]byte("new")), path, "another program has it open")
	lies(t, dir, "settings.json")
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
	if err := windows.CloseHandle(h); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("new")); err != nil || content(t, path) != "new" {
		t.Error(err)
	}
}

// What the system does not let anybody replace is not told as open.
func TestDeniedIsNotHeld(t *testing.T) {
	dir := temporary(t)
	from, to := filepath.Join(dir, "file"), filepath.Join(dir, "directory")
	put(t, from, "new", 0o600)
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	err := rename(from, to, func() error { return nil })
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) || strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
}

func TestFlagsStay(t *testing.T) {
	path := filepath.Join(temporary(t), "settings.json")
	put(t, path, "old", 0o600)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.SetFileAttributes(name, windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_SYSTEM); err != nil {
		t.Fatal(err)
	}
	f := read(t, path)
	backup, err := f.Backup()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, backup} {
		if f := read(t, path); f.kept.flags != windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_SYSTEM {
			t.Errorf("%s: flags %x", path, f.kept.flags)
		}
	}
}

func TestReadDevice(t *testing.T) {
	if _, err := Read("NUL"); err == nil {
		t.Error("a device was read")
	}
}

func TestLockWindows(t *testing.T) {
	path := filepath.Join(temporary(t), "state", "setup.lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockWithin(t.Context(), path, 2*lockEvery); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Lock(gone, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	unlock, err = Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

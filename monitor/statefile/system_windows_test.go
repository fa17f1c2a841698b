package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// Wine makes no symbolic links. That one is not followed is left to the flag
// that says so.

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), os.Mkdir(at("directory"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{at("file"): "", at("directory"): "a directory, not a file", "NUL": "a device, not a file"} {
		f, err := Open(path, os.O_RDONLY, 0)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", path, err, want)
		case err == nil:
			f.Close()
		}
	}
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND} {
		if _, err := Open(at("missing"), flag, 0); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), dir) != 1 {
			t.Errorf("%x: %v", flag, err)
		}
	}
	if _, err := Open(at("file"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

// Whoever reads a file is in nobody's way.
func TestOpenedFilesCanBeRenamedAndRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	shared, err := OpenShared(path)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".old"); err != nil {
		t.Error(err)
	}
}

// Somebody who has the file open and lets nobody rename it is waited for.
func TestAgainWaitsForAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(func() error {
		err := os.Rename(path, path+".old")
		if reader != 0 { // the first time
			if !isHeld(err) {
				t.Errorf("it is open: %v", err)
			}
			if err := windows.CloseHandle(reader); err != nil {
				t.Error(err)
			}
			reader = 0
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

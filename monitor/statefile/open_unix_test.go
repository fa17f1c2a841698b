//go:build unix

package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink(at("file"), at("link")), os.Symlink(at("nothing"), at("dangling")),
		os.Mkdir(at("directory"), 0o700), unix.Mkfifo(at("pipe"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("file"): "", at("link"): "a symbolic link, which is not followed; remove it", at("dangling"): "a symbolic link",
		at("directory"): "a directory, not a file", at("pipe"): "a pipe, not a file", "/dev/null": "a device, not a file",
		at("missing"): "no such file or directory", at("a\x1bb"): "ab: no such file",
	} {
		f, err := Open(path, os.O_RDONLY, 0)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", path, err, want)
		case err == nil:
			f.Close()
		}
	}
	if _, err := Open(at("dangling"), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		t.Error("a file was made behind a link")
	}
	if _, err := Open(at("missing"), os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), dir) != 1 {
		t.Error(err)
	}
	f, err := Open(at("new"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
}

// What is there when it is looked at need not be there when it is opened.
func TestWhatIsOpenedIsChecked(t *testing.T) {
	for _, path := range []string{"/dev/null", "/dev"} {
		f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if plain(path, f.Stat) == nil {
			t.Errorf("%s passes for a file", path)
		}
	}
}

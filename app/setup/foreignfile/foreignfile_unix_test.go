//go:build unix

package foreignfile

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadFollowsLinks(t *testing.T) {
	dir := temporary(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	put(t, at("file"), "text", 0o640)
	err = errors.Join(
		os.Symlink("file", at("link")), os.Symlink(at("link"), at("chain")), os.Symlink("nothing", at("dangling")), os.Symlink("loop", at("loop")),
		os.Mkdir(at("dir"), 0o700), os.Symlink("dir", at("directory")), os.WriteFile(at("dir/in"), []byte("in"), 0o600), os.Symlink("dir", at("to-dir")),
		unix.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("to-pipe")), os.Symlink("/dev/null", at("to-device")), os.WriteFile(at("a\x1bb"), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, target := range map[string]string{"file": "file", "link": "file", "chain": "file", "directory/in": "dir/in"} {
		if f := read(t, at(path)); f.Path != at(path) || f.Target != at(target) || string(f.Content) != content(t, at(target)) {
			t.Errorf("%s: %+v", path, f)
		}
	}
	if f := read(t, at("chain")); f.Mode != 0o640 {
		t.Errorf("its mode is %v", f.Mode)
	}
	for path, c := range map[string]struct {
		is   error
		says string
	}{
		at("dangling"): {fs.ErrNotExist, "a symbolic link that leads nowhere"}, at("loop"): {nil, "too many levels of symbolic links"},
		at("to-dir"): {errNotPlain, "it is a directory, not a file"}, at("pipe"): {errNotPlain, "it is a pipe, not a file"},
		at("to-pipe"): {errNotPlain, "it is a pipe, not a file"}, at("socket"): {errNotPlain, "it is a socket, not a file"},
		at("to-device"): {errNotPlain, "which leads to /dev/null: it is a device, not a file"}, "/dev/zero": {errNotPlain, "it is a device"},
	} {
		_, err := Read(path)
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", path, err)
		}
		says(t, err, path, c.says)
	}
	if err := os.Chmod(at("a\x1bb"), 0o400); err != nil {
		t.Fatal(err)
	}
	says(t, read(t, at("a\x1bb")).Writable(), at("ab"), "read-only")
}

// A link stays one, and what it leads to is replaced, with all that it has.
func TestReplaceBehindLinks(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o200 | 0o444, 0o755, 0o666} {
		home, dots := temporary(t), temporary(t)
		path, target := filepath.Join(home, "settings.json"), filepath.Join(dots, "real.json")
		put(t, target, "old", mode)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		f := read(t, path)
		backup, err := f.Backup()
		if err != nil || backup != target+".lamplighter-backup" {
			t.Fatal(backup, err)
		}
		if err := f.Replace([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if leads, err := os.Readlink(path); err != nil || leads != target || content(t, target) != "new" || content(t, backup) != "old" {
			t.Errorf("%v: leads to %s, %v", mode, leads, err)
		}
		for _, path := range []string{target, backup} {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s: mode %v, not %v, %v", path, info.Mode(), mode, err)
			}
		}
		lies(t, home, "settings.json")
		lies(t, dots, "real.json", "real.json.lamplighter-backup")
	}
}

// What has changed about the file beside its content counts as well.
func TestChangedAround(t *testing.T) {
	for name, change := range map[string]func(link, other string) error{
		"to another file": func(link, other string) error { return errors.Join(os.Remove(link), os.Symlink(other, link)) },
		"nowhere":         func(link, other string) error { return errors.Join(os.Remove(link), os.Symlink(other+"-not", link)) },
		"it is a file": func(link, _ string) error {
			return errors.Join(os.Remove(link), os.WriteFile(link, []byte("old"), 0o600))
		},
		"it is gone": func(link, _ string) error { return os.Remove(link) },
	} {
		dir := temporary(t)
		link, one, other := filepath.Join(dir, "link"), filepath.Join(dir, "one"), filepath.Join(dir, "other")
		put(t, one, "old", 0o600)
		put(t, other, "old", 0o600)
		if err := os.Symlink(one, link); err != nil {
			t.Fatal(err)
		}
		f := read(t, link)
		if err := change(link, other); err != nil {
			t.Fatal(err)
		}
		there := names(t, dir)
		if err := f.Replace([]byte("new")); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if content(t, one) != "old" || content(t, other) != "old" {
			t.Errorf("%s: something was written", name)
		}
		lies(t, dir, there...)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(temporary(t), "state", "setup.lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	_, err = lockWithin(t.Context(), path, 2*lockEvery)
	if !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	says(t, err, path, "another setup")

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Lock(gone, path); !errors.Is(err, context.Canceled) || errors.Is(err, ErrBusy) {
		t.Errorf("whoever gave up waiting gets %v", err)
	}

	// Who waits gets it when it is free.
	got := make(chan error)
	go func() {
		unlock, err := Lock(t.Context(), path)
		if err == nil {
			unlock()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}

	// One that was tidied away is made anew.
	unlock, err = Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := lockWithin(t.Context(), path, lockEvery); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	again()

	for name, lay := range map[string]func(path string) error{
		"a symbolic link": func(path string) error { return os.Symlink(path+".elsewhere", path) },
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":          func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(temporary(t), "setup.lock")
		if err := lay(path); err != nil {
			t.Fatal(err)
		}
		_, err := Lock(t.Context(), path)
		says(t, err, path, name)
	}
	put(t, path+"-file", "", 0o600)
	if _, err := Lock(t.Context(), path+"-file/setup.lock"); err == nil {
		t.Error("there is a lock below a file")
	}
}

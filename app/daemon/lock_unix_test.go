//go:build unix

package daemon

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lamplighter/app/config"
)

// spoiled puts, in the place of a file of ours, something that leads to
// another file, and returns a check that this one was not touched.
func spoiled(t *testing.T, path string) (check func()) {
	t.Helper()
	const text = "precious"
	victim := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.WriteFile(victim, []byte(text), 0o644), os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		got, err := os.ReadFile(victim)
		if err != nil || string(got) != text {
			t.Errorf("what the link leads to is now %q, %v", got, err)
		}
		if info, err := os.Stat(victim); err != nil || info.Mode() != 0o644 {
			t.Errorf("its mode is now %v, %v", info.Mode(), err)
		}
	}
}

func TestLockFollowsNoLink(t *testing.T) {
	places := config.Places{StateDir: t.TempDir()}
	check := spoiled(t, filepath.Join(places.StateDir, lockFile))
	if lock, err := TakeLock(places, true); err == nil || errors.Is(err, errLocked) || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v, %v", lock, err)
	}
	check()
	if pid := readPID(filepath.Join(places.StateDir, lockFile)); pid != 0 {
		t.Errorf("held by %d", pid)
	}
	places.LockFallback = filepath.Join(t.TempDir(), "lock")
	lock, err := TakeLock(places, true)
	if lock == nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("why it is not at its first place: %v", err)
	}
	if lock.Path() != places.LockFallback || readPID(lock.Path()) != os.Getpid() {
		t.Errorf("the lock is %s, held by %d", lock.Path(), readPID(lock.Path()))
	}
}

// The file at the path may be another one than the one that was locked.
func TestPIDGoesIntoTheLockedFileOnly(t *testing.T) {
	places := config.Places{StateDir: t.TempDir()}
	lock, err := TakeLock(places, true)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.Remove(lock.Path()); err != nil {
		t.Fatal(err)
	}
	check := spoiled(t, lock.Path())
	if notePID(lock) == nil {
		t.Error("the pid was written through a link")
	}
	check()
	if err := errors.Join(os.Remove(lock.Path()), os.WriteFile(lock.Path(), []byte("precious"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if notePID(lock) == nil {
		t.Error("the pid was written into another file")
	}
	if got, err := os.ReadFile(lock.Path()); err != nil || string(got) != "precious" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLockWantsAPrivateDirectory(t *testing.T) {
	places := config.Places{StateDir: t.TempDir()}
	if err := os.Chmod(places.StateDir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLock(places, true); !errors.Is(err, config.ErrNotPrivate) || !strings.Contains(err.Error(), "LAMPLIGHTER_STATE_DIR") {
		t.Errorf("got %v", err)
	}
	if err := StateDirectory(places.StateDir); !errors.Is(err, config.ErrNotPrivate) {
		t.Errorf("state directory: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(places.StateDir, lockFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a lock: %v", err)
	}
}

func unexpected(t *testing.T) func(error) {
	return func(err error) { t.Errorf("the log cannot be written: %v", err) }
}

func TestLogFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	check := spoiled(t, filepath.Join(dir, "lamplighter.log"))
	if _, _, err := openLog(dir, slog.LevelInfo, unexpected(t)); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("got %v", err)
	}
	check()
}

// Nothing that lies in the place of a file of ours may make us wait for it.
func TestOnlyFilesAreOpened(t *testing.T) {
	for name, test := range map[string]struct {
		make func(path string) error
		want string
	}{
		"pipe":      {func(path string) error { return unix.Mkfifo(path, 0o600) }, "a pipe, not a file; remove it"},
		"directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "a directory, not a file; remove it"},
		"socket": {func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		}, "a socket, not a file; remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			// A short path, since a socket's path is limited.
			dir, err := os.MkdirTemp("", "lock")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			log, lock := filepath.Join(dir, "lamplighter.log"), filepath.Join(dir, lockFile)
			if err := errors.Join(test.make(log), test.make(lock)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := openLog(dir, slog.LevelInfo, unexpected(t)); err == nil || !strings.Contains(err.Error(), log+": it is "+test.want) {
				t.Errorf("log: %v", err)
			}
			if _, err := TakeLock(config.Places{StateDir: dir}, true); err == nil || !strings.Contains(err.Error(), lock+": it is "+test.want) {
				t.Errorf("lock: %v", err)
			}
			if pid := readPID(lock); pid != 0 {
				t.Errorf("held by %d", pid)
			}
		})
	}
}

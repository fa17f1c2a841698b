//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func TestFollowsLink(t *testing.T) {
	for _, relative := range []bool{false, true} {
		f := open(t, t.TempDir())
		elsewhere := filepath.Join(f.dir(), "dotfiles")
		if err := os.Mkdir(elsewhere, 0o700); err != nil {
			t.Fatal(err)
		}
		real := filepath.Join(elsewhere, "serena.json")
		if to := filepath.Join("dotfiles", "serena.json"); relative {
			link(t, to, f.path)
		} else {
			link(t, real, f.path)
		}
		register(t, f, 7) // what it leads to does not exist yet
		if err := os.Chmod(real, 0o640); err != nil {
			t.Fatal(err)
		}
		register(t, f, 8)
		if info, err := os.Lstat(f.path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
		if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info, err)
		}
		write(t, real, "garbage")
		register(t, f, 9)
		kept := strings.Fields(names(t, elsewhere))
		if len(kept) != 2 || content(t, filepath.Join(elsewhere, kept[1])) != "garbage" {
			t.Errorf("%q", kept)
		}
		if list, err := f.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
}

// TestLinkToNoFile: users who want no registry link it to /dev/null.
func TestLinkToNoFile(t *testing.T) {
	f := open(t, t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, pipe, f.path)
	r := reg(7, 24282)
	if err := put(t.Context(), f, r); !errors.Is(err, errNotRegular) {
		t.Errorf("%v", err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("it was touched: %v, %v", info, err)
	}
}

func TestLinkInACircle(t *testing.T) {
	f := open(t, t.TempDir())
	link(t, f.path, f.path)
	r := reg(7, 24282)
	if err := put(t.Context(), f, r); err == nil {
		t.Error("registered nowhere")
	}
}

// TestPipe: a pipe is not opened, which could wait for ever, but set aside.
func TestPipe(t *testing.T) {
	f := open(t, t.TempDir())
	if err := syscall.Mkfifo(f.path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.List(t.Context()); !errors.Is(err, errCorrupt) {
		t.Errorf("%v", err)
	}
	register(t, f, 7)
	if kept := strings.Fields(names(t, f.dir())); len(kept) != 2 {
		t.Errorf("%q", kept)
	}
}

// TestLockRemoved: Python's filelock removes the file when it lets go, and
// whoever had opened it before locks nobody out.
func TestLockRemoved(t *testing.T) {
	f := open(t, t.TempDir())
	unlock, err := f.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan func())
	go func() {
		unlock, err := f.lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		second <- unlock
	}()
	if err := os.Remove(f.lockPath()); err != nil {
		t.Fatal(err)
	}
	unlock()
	(<-second)()
	if !exists(f.lockPath()) {
		t.Error("what was locked is not at the path")
	}
}

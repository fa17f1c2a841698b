package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullVariable names the directory of a small file system to the test that was
// started in it.
const fullVariable = "LAMPLIGHTER_WORKSPACE_FULL"

// On a full disk nothing can be written down, and removing is what helps.
func TestRemoveOnAFullDisk(t *testing.T) {
	dir := os.Getenv(fullVariable)
	if dir == "" {
		cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "bash", "-c",
			`mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" -test.run='^TestRemoveOnAFullDisk$' -test.v`, "bash", t.TempDir(), os.Args[0])
		cmd.Env = append(os.Environ(), fullVariable+"="+cmd.Args[len(cmd.Args)-2])
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	l := newLab(t)
	l.o.Dir = filepath.Join(dir, "store")
	m := l.manager(nil)
	from := l.source("from", map[string]string{"a": strings.Repeat("x", 200_000)})
	removed, completed, crashed := l.create(m, Request{Kind: Temp, From: from}), l.create(m, Request{Kind: Temp, From: from}), l.create(m, Request{Kind: Temp, From: from})
	fill := func() {
		file, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err = file.Write(make([]byte, 4096)); err != nil {
				break
			}
		}
		if err := errors.Join(file.Close()); err != nil || !errors.Is(m.store.write(l.record(m, crashed.ID)), syscall.ENOSPC) {
			t.Fatal("it is not full", err)
		}
	}
	fill()
	if out, err := m.Remove(t.Context(), removed.ID, Removal{}); err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, removed)
	fill()
	if out, err := m.Complete(t.Context(), completed.ID, "a test"); err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, completed)
	fill()
	func() {
		m.crash = func(point string) {
			if point == "remove: set aside" {
				panic(crash{point})
			}
		}
		defer func() { _ = recover() }()
		_, _ = m.Remove(t.Context(), crashed.ID, Removal{})
	}()
	m = l.manager(nil)
	if _, err := os.Lstat(crashed.Path); !errors.Is(err, os.ErrNotExist) || l.record(m, crashed.ID).Step != nil {
		t.Errorf("it was not set aside without a word: %v", err)
	}
	if _, err := m.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	l.gone(m, crashed)
}

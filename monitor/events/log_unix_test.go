//go:build unix

package events

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// limitFiles makes the system refuse to let any file grow beyond size, in the
// middle of a write, as a full disk does.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	t.Helper()
	signal.Ignore(unix.SIGXFSZ)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	set := func(r unix.Rlimit) {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &r); err != nil {
			t.Fatal(err)
		}
	}
	limited := before
	limited.Cur = size
	set(limited)
	lifted := false
	lift = func() {
		if !lifted {
			lifted = true
			set(before)
			signal.Reset(unix.SIGXFSZ)
		}
	}
	t.Cleanup(lift)
	return lift
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	appendAll(t, l, 1)
	lift := limitFiles(t, uint64(2*len(line(1))+20))
	for n := 2; n <= 5; n++ {
		l.Append(event(n))
	}
	for range 3 {
		if err := l.Flush(); !errors.Is(err, unix.EFBIG) {
			t.Fatalf("on a full disk: %v", err)
		}
	}
	lift()
	if got := said.String(); strings.Count(got, "\n") != 1 || strings.Count(got, dir) != 1 {
		t.Errorf("said %q", got)
	}
	appendAll(t, l, 6)
	if list := all(t, dir); !slices.Equal(pids(list), []int{1, 2, 3, 4, 5, 6}) || list.Skipped != 1 {
		t.Errorf("%v, %d broken", pids(list), list.Skipped)
	}
}

// Others may read a log only as long as we have not written to it.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(path(dir), nil, 0o600), os.Chmod(path(dir), 0o666)); err != nil {
		t.Fatal(err)
	}
	l, _ := logTo(dir)
	l.size = 1
	appendAll(t, l, 1, 2)
	names, err := rotated(dir)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, fileName, lockName) {
		if info, err := os.Stat(in(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestLogFollowsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), in(t.TempDir(), "victim")
	write(t, victim, "precious")
	for _, name := range []string{fileName, lockName} {
		if err := os.Symlink(victim, in(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := logTo(dir)
	l.size = 1
	l.Append(event(1))
	if err := l.Flush(); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
	if _, err := Read(dir, Query{}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
	if err := os.Remove(path(dir)); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 2) // with a lock that is a link, only the rotation fails
	wants(t, dir, 1, 2)
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

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
	lift = func() {
		set(before)
		signal.Reset(unix.SIGXFSZ)
	}
	t.Cleanup(lift)
	return lift
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	appendAll(t, l, event(1))
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
	appendAll(t, l, event(6))
	if list := all(t, dir); !slices.Equal(pids(list), []int{1, 2, 3, 4, 5, 6}) || list.Skipped != 1 {
		t.Errorf("%v, %d broken", pids(list), list.Skipped)
	}
	if info, err := os.Stat(path(dir)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

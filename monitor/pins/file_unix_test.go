//go:build unix

package pins

import (
	"errors"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that is full, in the middle of a write, costs neither the file nor what
// is known.
func TestFullDisk(t *testing.T) {
	w, path := &world{boot: "b1"}, fileIn(t)
	s, _ := w.open(path)
	pin(t, s, 1)
	was := content(t, path)

	signal.Ignore(unix.SIGXFSZ)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = 10
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	err := s.Set(who(2), true)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Reset(unix.SIGXFSZ)

	if !errors.Is(err, unix.EFBIG) || err.Error() != "process 2 was not pinned: "+path+": file too large" {
		t.Errorf("got %v", err)
	}
	if got := names(t, path); content(t, path) != was || len(got) != 1 {
		t.Errorf("the file says %s, beside it %v", content(t, path), got)
	}
	holds(t, s, 1)
	pin(t, s, 2)
	holds(t, s, 1, 2)
}

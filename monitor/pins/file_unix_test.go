//go:build unix

package pins

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLinksAndPipes(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(path string) error
		says string
	}{
		"a link": {func(path string) error { return os.Symlink(path+".elsewhere", path) }, "a symbolic link, which is not followed"},
		"a pipe": {func(path string) error { return unix.Mkfifo(path, 0o600) }, "a pipe, not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			w, path := &world{boot: "b1"}, fileIn(t)
			put(t, path+".elsewhere", `{"boot":"b1","pins":["1-7"]}`)
			before, _ := w.open(path)
			if err := c.lay(path); err != nil {
				t.Fatal(err)
			}
			after, said := w.open(path)
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("said %q", said)
			}
			for _, s := range []*Store{before, after} {
				if err := s.Set(who(2), true); err == nil || !strings.Contains(err.Error(), path+": it is "+c.says+"; remove it") {
					t.Errorf("got %v", err)
				}
				holds(t, s)
			}
			if got := content(t, path+".elsewhere"); got != `{"boot":"b1","pins":["1-7"]}` {
				t.Errorf("what it leads to says %s", got)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			pin(t, after, 3)
			holds(t, after, 3)
		})
	}
}

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

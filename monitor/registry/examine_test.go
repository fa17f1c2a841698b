package registry

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// listing is what lies in a folder, with sizes and times.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(path + " " + info.Mode().String() + " " + strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExamine(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	for name, test := range map[string]struct {
		text string // of the file; "-" for none
		want func(Health) bool
	}{
		"none":    {"-", func(h Health) bool { return !h.Exists && h.Corrupt == nil && h.Err == nil }},
		"empty":   {"", func(h Health) bool { return h.Exists && h.Entries == 0 }},
		"lives":   {`{"instances": {"` + self + `": {"pid": ` + self + `}}}`, func(h Health) bool { return h.Entries == 1 && h.Dead == 0 }},
		"dead":    {`{"instances": {"4194305": {"pid": 4194305, "last_heartbeat": 1700000000.0}}}`, func(h Health) bool { return h.Dead == 1 && h.OldestDead > time.Hour }},
		"strange": {`[{"pid": "x"}, {"pid": ` + self + `}]`, func(h Health) bool { return h.Strange == 1 && h.Entries == 1 }},
		"corrupt": {`{"instances": `, func(h Health) bool { return h.Corrupt != nil }},
	} {
		dir := t.TempDir()
		if test.text != "-" {
			if err := os.WriteFile(filepath.Join(dir, fileName), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := listing(t, dir)
		h := Examine(t.Context(), dir)
		if !test.want(h) || h.Held || h.LockErr != nil {
			t.Errorf("%s: %+v", name, h)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: it was changed:\n%s\n%s", name, before, after)
		}
	}
}

func TestExamineNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if h := Examine(t.Context(), dir); h.Exists || h.LockErr != nil {
		t.Errorf("%+v", h)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the directory was made")
	}
}

// A directory in the place of the file, and of the lock.
func TestExamineFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{fileName, lockName} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if h := Examine(t.Context(), dir); h.Corrupt == nil && h.Err == nil || h.LockErr == nil {
		t.Errorf("%+v", h)
	}
}

// A lock that is held for a moment is nothing, one that is never let go is.
func TestExamineLock(t *testing.T) {
	dir := t.TempDir()
	lock := flock.New(filepath.Join(dir, lockName))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	h := Health{Lock: lock.Path()}
	h.examineLock(t.Context(), 30*time.Millisecond)
	if !h.Held || h.LockErr != nil {
		t.Errorf("held: %+v", h)
	}
	if h.Holder != 0 && h.Holder != os.Getpid() {
		t.Errorf("held by %d, we are %d", h.Holder, os.Getpid())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if other := ExamineLock(ctx, lock.Path()); other != h {
		t.Errorf("by its path: %+v, want %+v", other, h)
	}
	released := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { released <- lock.Unlock() })
	h = Examine(t.Context(), dir)
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if h.Held || h.LockErr != nil {
		t.Errorf("released: %+v", h)
	}
}

//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestJudgeDirectory(t *testing.T) {
	const me, root, other = 7, 0, 8
	for _, test := range []struct {
		owner int
		mode  fs.FileMode
		ours  bool
		want  verdict
	}{
		{me, fs.ModeDir | 0o700, true, keep},
		{me, fs.ModeDir | 0o755, true, tighten},
		{me, fs.ModeDir | 0o777, true, tighten},
		{me, fs.ModeDir | 0o755, false, keep},
		{me, fs.ModeDir | 0o775, false, refuse},
		{me, fs.ModeDir | 0o777, false, refuse},
		{me, fs.ModeDir | fs.ModeSticky | 0o777, false, keep},
		{me, fs.ModeDir | fs.ModeSticky | 0o777, true, keep},
		{root, fs.ModeDir | fs.ModeSticky | 0o777, false, keep}, // /tmp
		{root, fs.ModeDir | 0o755, false, refuse},
		{other, fs.ModeDir | 0o700, true, refuse},
		{other, fs.ModeDir | fs.ModeSticky | 0o777, false, refuse},
		{me, 0o600, true, refuse},
	} {
		if got := judgeDirectory(test.owner, me, test.mode, test.ours); got != test.want {
			t.Errorf("owner %d, %v, ours %v: got %d, want %d", test.owner, test.mode, test.ours, got, test.want)
		}
	}
}

func TestMakePrivate(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	err := MakePrivate(open, "VARIABLE")
	if !errors.Is(err, ErrNotPrivate) || !strings.Contains(err.Error(), "chmod go-w on it, or set VARIABLE to another place") {
		t.Errorf("writable by others: %v", err)
	}
	mine := filepath.Join(open, "a", "lamplighter")
	if err := MakePrivate(mine, "VARIABLE"); err != nil {
		t.Fatal(err)
	}
	if err := makePrivate(mine, "VARIABLE", os.Getuid()+1); !errors.Is(err, ErrNotPrivate) || !strings.Contains(err.Error(), "belongs to user id") {
		t.Errorf("another's: %v", err)
	}
	if err := os.Chmod(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(mine, "VARIABLE"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("not tightened: %v, %v", info.Mode(), err)
	}
}

// linked is a symbolic link, or a directory, of some user.
type linked struct {
	fs.FileInfo
	mode fs.FileMode
	uid  uint32
}

func (l linked) Mode() fs.FileMode { return l.mode }
func (l linked) Sys() any          { return &syscall.Stat_t{Uid: l.uid} }

func TestForeignLink(t *testing.T) {
	const me, root, other = 7, 0, 8
	for _, test := range []struct {
		mode fs.FileMode
		uid  uint32
		want int
	}{
		{fs.ModeSymlink | 0o777, me, -1},
		{fs.ModeSymlink | 0o777, root, -1}, // /tmp of macOS
		{fs.ModeSymlink | 0o777, other, other},
		{fs.ModeDir | 0o700, other, -1}, // whose directory it is, is judged elsewhere
	} {
		if got := foreignLink(linked{mode: test.mode, uid: test.uid}, me); got != test.want {
			t.Errorf("%v of %d: %d, want %d", test.mode, test.uid, got, test.want)
		}
	}
}

// A link is judged by whose it is, whatever it leads to.
func TestMakePrivateBehindALink(t *testing.T) {
	dir := t.TempDir()
	own, link := filepath.Join(dir, "own"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(own, 0o700), os.Symlink(own, link)); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(link, "VARIABLE"); err != nil {
		t.Errorf("a link of one's own: %v", err)
	}
	info, err := os.Lstat(link)
	if err != nil {
		t.Fatal(err)
	}
	if info.Sys().(*syscall.Stat_t).Uid == 0 {
		// Only root may give it away, and only where there are other users.
		if err := os.Lchown(link, 1, 1); err != nil {
			return
		}
	}
	err = makePrivate(link, "VARIABLE", os.Getuid()+2)
	if os.Getuid() == 0 {
		err = MakePrivate(link, "VARIABLE")
	}
	if !errors.Is(err, ErrNotPrivate) || !strings.Contains(err.Error(), "symbolic link of user id") {
		t.Errorf("a link of another user: %v", err)
	}
}

//go:build real

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mount mounts something at a directory of the lab until the test ends. The test
// has to run where it may do that: build/isolated.sh.
func (l *lab) mount(source, at, kind string, flags uintptr, options string) {
	l.t.Helper()
	if err := unix.Mount(source, at, kind, flags, options); err != nil {
		l.t.Fatalf("mounting %s at %s, which is possible in build/isolated.sh: %v", kind, at, err)
	}
	l.t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			l.t.Error(err)
		}
	})
}

// A disk that is full ends a creation, and has all its room again after that.
func TestRealCreateOnAFullDisk(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"big": strings.Repeat("x", 3<<20), "more/big": strings.Repeat("y", 3<<20)}
	in := l.source("in", nil)
	l.mount("none", in, "tmpfs", 0, "size=4m")
	for _, q := range []Request{{From: l.source("from", files)}, {From: l.repository("repo", files)}} {
		q.Kind, q.Job, q.In = Temp, "job", in
		_, err := m.Create(t.Context(), q, nil)
		if err == nil || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("%v", err)
		}
		l.clean(m, 0)
		if left := names(t, in); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
		var room unix.Statfs_t
		if err := unix.Statfs(in, &room); err != nil || room.Bfree != room.Blocks {
			t.Errorf("%d blocks are free of %d, %v", room.Bfree, room.Blocks, err)
		}
		if git := filepath.Join(q.From, ".git", "worktrees"); len(names(t, git)) != 0 {
			t.Errorf("left: %q", names(t, git))
		}
	}
}

// A store on a disk that is full makes nothing, and takes it away as well.
func TestRealCreateWhereTheStoreIsFull(t *testing.T) {
	l := newLab(t)
	if err := os.Mkdir(l.o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.mount("none", l.o.Dir, "tmpfs", 0, "size=512k")
	m := l.manager(nil)
	first := l.create(m, Request{Job: "first"})
	filler := filepath.Join(l.o.Dir, "filler")
	for _, point := range []string{"create: written down", "create: directory made", "create: directory written down", "create: filled", "create: environment written"} {
		m.crash = func(at string) {
			if at == point {
				_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600) // until nothing more fits
			}
		}
		_, err := m.Create(t.Context(), Request{Kind: Temp, Job: "second", In: l.source("in", nil)}, nil)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", point, err)
		}
		l.clean(m, 1)
		if left := names(t, l.path("in")); len(left) != 0 {
			t.Errorf("%s: left %q", point, left)
		}
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
	m.crash = nil
	if w, err := m.Find(t.Context(), first.ID); err != nil || w.Job != "first" {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestRealCreateOnAReadOnlyDisk(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("in", nil)
	l.mount("none", in, "tmpfs", unix.MS_RDONLY, "")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: in}, nil); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
	l.clean(m, 0)

	from := l.source("from", map[string]string{"a": "a"})
	l.mount(from, from, "", unix.MS_BIND, "")
	if err := unix.Mount("", from, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if w := l.create(m, Request{From: from, Share: []string{l.source("share", nil)}}); content(t, w.Path)["a"] != "a" {
		t.Errorf("a source that cannot be written: %q", content(t, w.Path))
	}
}

// A directory that is seen at two places is one, however it is called.
func TestRealPlacesBehindMounts(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	from := l.source("from", map[string]string{"a": "a", "deep/b": "b"})
	again := l.source("again", nil)
	l.mount(from, again, "", unix.MS_BIND, "")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", From: from, In: filepath.Join(again, "deep")}, nil); !errors.Is(err, ErrBadRequest) {
		t.Errorf("in its source: %v", err)
	}
	// Of a directory below it nothing tells that it is in the source.
	deep := l.source("mounted", nil)
	l.mount(filepath.Join(from, "deep"), deep, "", unix.MS_BIND, "")
	w := l.create(m, Request{From: from, In: deep})
	if got := content(t, w.Path); len(got) != 2 || got["deep/b"] != "b" {
		t.Errorf("%q", got)
	}
	inside := l.source("inside", nil)
	l.mount(w.Path, inside, "", unix.MS_BIND, "")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: inside}, nil); !errors.Is(err, ErrBadRequest) {
		t.Errorf("in another workspace: %v", err)
	}
	if left := names(t, w.Path); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}

//go:build unix

package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestListFollowsLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "serena.json")
	path := filepath.Join(dir, FileName)
	write(t, elsewhere, foreign)
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if list, err := List(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(t.TempDir(), path)); err != nil {
		t.Fatal(err)
	}
	if _, err := List(dir); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
}

func TestMirrorFollowsLinks(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "serena.json")
	mirrored(t, t.TempDir, func(w *world) {
		// To what is not there yet.
		if err := os.Symlink(elsewhere, w.path); err != nil {
			t.Fatal(err)
		}
		w.shows(instance(7))
		w.wants(7)
		// Programs of other users may read it.
		if err := os.Chmod(elsewhere, 0o640); err != nil {
			t.Fatal(err)
		}
		w.shows(instance(7), instance(8))
		w.wants(7, 8)
		if info, err := os.Stat(elsewhere); err != nil || info.Mode() != 0o640 {
			t.Errorf("its mode is %v, %v", info.Mode(), err)
		}
		if info, err := os.Lstat(w.path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
	})
}

// Users who want no registry link it to /dev/null.
func TestMirrorIsOff(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		if err := os.Symlink(t.TempDir(), w.path); err != nil {
			t.Fatal(err)
		}
		w.shows(instance(7))
		w.after(beatEvery)
		if names := w.names(); len(names) != 1 || exists(filepath.Join(w.dir, LockName)) || len(w.warned) > 0 {
			t.Errorf("%v, warned %q", names, w.warned)
		}
	})
}

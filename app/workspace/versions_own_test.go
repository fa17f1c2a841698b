package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Versions are not written to where a link leads.
func TestVersionsBehindALink(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	l.keeps(m, w, "one")
	dir, elsewhere := m.versionsPath(w.ID), l.source("elsewhere", nil)
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Keep(t.Context(), w.ID, "two", nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrState) {
		t.Error(err)
	}
	if got := names(t, elsewhere); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	l.keeps(m, w, "two")
	l.sound(m)
}

// What a job has put in the place of a share is in its versions.
func TestVersionHasWhatReplacedAShare(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	share := l.source("share", map[string]string{"x": "x"})
	w := l.create(m, Request{Share: []string{share}})
	if v := l.keeps(m, w, "a link"); v.Files != 0 {
		t.Errorf("%+v", v)
	}
	place := filepath.Join(w.Path, "share")
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	r := l.record(m, w.ID)
	if changed, err := m.changed(t.Context(), r); err != nil || changed {
		t.Errorf("without its link: %t, %v", changed, err)
	}
	write(t, place, map[string]string{"own": "own"})
	if changed, err := m.changed(t.Context(), r); err != nil || !changed {
		t.Errorf("%t, %v", changed, err)
	}
	l.keeps(m, w, "its own")
	change(t, place, "own", "changed")
	l.restores(m, w, 2)
	if got := content(t, w.Path); !maps.Equal(got, map[string]string{"share/own": "own"}) {
		t.Errorf("%q", got)
	}
	l.restores(m, w, 1)
	if to, err := os.Readlink(place); runtime.GOOS != "windows" && (err != nil || to != share) {
		t.Errorf("%s, %v", to, err)
	}
	if _, err := os.Lstat(filepath.Join(share, "own")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

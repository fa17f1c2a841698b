package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"lamplighter/app/workspace/tree"
)

// Versions without a tree are archived, and come back.
func TestArchiveOfAnEndedOne(t *testing.T) {
	for version := range 3 {
		l := newLab(t)
		m := l.manager(nil)
		w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"}), Kind: Hybrid})
		l.keeps(m, w, "one")
		write(t, w.Path, map[string]string{"b": "b"})
		l.keeps(m, w, "two")
		l.ends(m, w)
		l.archives(m, w)
		l.sound(m)
		if err := tree.Remove(t.Context(), m.store.path(dataDir, w.ID, packedFacts), "", nil); err != nil {
			t.Fatal(err)
		}
		l.restores(m, w, version)
		want := map[string]string{"a": "a", "b": "b"}
		if version == 1 {
			delete(want, "b")
		}
		if got := content(t, w.Path); !maps.Equal(got, want) {
			t.Errorf("%d: %q", version, got)
		}
		l.sound(m)
	}
}

func TestRestoreArchivedVersion(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	l.keeps(m, w, "one")
	write(t, w.Path, map[string]string{"b": "b"})
	l.archives(m, w)
	l.restores(m, w, 1)
	if got := content(t, w.Path); !maps.Equal(got, map[string]string{"a": "a"}) {
		t.Errorf("%q", got)
	}
	if list, err := m.versions(w.ID); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What a job has put in the place of a share is its own.
func TestArchiveHasWhatReplacedAShare(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	share := l.source("share", map[string]string{"x": "x"})
	w := l.create(m, Request{Share: []string{share}})
	place := filepath.Join(w.Path, "share")
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	write(t, place, map[string]string{"own": "own"})
	l.archives(m, w)
	l.restores(m, w, 0)
	if got := content(t, w.Path); !maps.Equal(got, map[string]string{"share/own": "own"}) {
		t.Errorf("%q", got)
	}
}

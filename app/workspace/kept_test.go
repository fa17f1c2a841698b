package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a job has put in the place of a share is work like any other.
func TestRemoveOfWhatReplacedAShare(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	share := l.source("share", map[string]string{"x": "x"})
	for name, q := range map[string]Request{
		"worktree":  {Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"}), Share: []string{share}},
		"directory": {Kind: Persistent, Share: []string{share}},
	} {
		w := l.create(m, q)
		if out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true}); err != nil || out.Why != "" {
			t.Errorf("%s: the link itself is no work: %+v, %v", name, out, err)
		}
		place := filepath.Join(w.Path, "share")
		if err := os.Remove(place); err != nil {
			t.Fatal(err)
		}
		write(t, place, map[string]string{"own": "own"})
		if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
			t.Errorf("%s: %v", name, err)
		}
		l.stays(m, w, content(t, w.Path))
	}
}

// A link that a job has made in the place of a share comes back as it was kept.
func TestArchiveHasALinkInThePlaceOfAShare(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	share := l.source("share", map[string]string{"x": "x"})
	w := l.create(m, Request{Share: []string{share}})
	place := filepath.Join(w.Path, "share")
	if err := errors.Join(os.Remove(place), os.Symlink("elsewhere", place)); err != nil {
		t.Fatal(err)
	}
	l.archives(m, w)
	l.restores(m, w, 0)
	if to, err := os.Readlink(place); err != nil || to != "elsewhere" {
		t.Errorf("%s, %v", to, err)
	}
}

// A worktree that somebody has taken away and that git was told to keep is not made
// again over what git remembers of it.
func TestRestoreOfALockedWorktreeThatHasGone(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Hybrid, From: repo})
	l.keeps(m, w, "one")
	git(t, repo, "worktree", "lock", w.Path)
	away := w.Path + "-away"
	if err := os.Rename(w.Path, away); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Restore(t.Context(), w.ID, 1, nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v", err)
	}
	if err := os.Rename(away, w.Path); err != nil {
		t.Fatal(err)
	}
	l.stays(m, w, map[string]string{"a": "a"})
}

// What git has kept of submodules, and could not be given back, is asked for.
func TestRemoveOfSubmodulesPutAside(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"})})
	write(t, filepath.Join(m.store.data(w.ID), keptModules, "lib"), map[string]string{"HEAD": "x"})
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) || out.Loss == nil || len(out.Loss.Submodules) != 1 || out.Loss.Submodules[0] != "lib" {
		t.Errorf("%+v, %v", out, err)
	}
}

// An archived workspace whose directory has gone can be removed.
func TestRemoveOfAnArchivedOneWithoutItsDirectory(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	in := l.path("in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	w := l.create(m, Request{In: in})
	write(t, w.Path, map[string]string{"a": "a"})
	l.archives(m, w)
	if err := os.RemoveAll(in); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	if list, err := m.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was kept goes when that was said, and never by itself.
func TestRemoveKept(t *testing.T) {
	for words, make := range map[string]func(l *lab, m *Manager, w Workspace) error{
		"1 kept version": func(l *lab, m *Manager, w Workspace) error {
			_, err := m.Keep(l.t.Context(), w.ID, "one", nil)
			return err
		},
		"2 kept versions": func(l *lab, m *Manager, w Workspace) error {
			for range 2 {
				write(l.t, w.Path, map[string]string{l.clock().Wall.Format("05"): "x"})
				if _, err := m.Keep(l.t.Context(), w.ID, "one", nil); err != nil {
					return err
				}
				l.passes(time.Second)
			}
			return nil
		},
		"its archive": func(l *lab, m *Manager, w Workspace) error {
			_, err := m.Archive(l.t.Context(), w.ID, nil)
			return err
		},
	} {
		t.Run(words, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{Kind: Hybrid, From: l.source("from", map[string]string{"a": "a"})})
			if err := make(l, m, w); err != nil {
				t.Fatal(err)
			}
			out, err := m.Remove(t.Context(), w.ID, Removal{})
			if !errors.Is(err, ErrLoss) || out.Loss == nil || out.Loss.Words != words {
				t.Errorf("%+v, %v", out.Loss, err)
			}
			l.passes(30 * 24 * time.Hour)
			l.sweeps(m, tries{})
			if state := l.is(m, w); state == Removed {
				t.Error("it has gone by itself")
			}
			if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
				t.Error(err)
			}
			if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
				t.Error(err)
			}
			l.gone(m, w)
		})
	}
}

// A worktree that was moved has commits that its repository alone remembers.
func TestRemoveMovedWorktree(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"})})
	git(t, w.Path, "checkout", "-q", "--detach")
	git(t, w.Path, "commit", "-q", "--allow-empty", "-m", "work")
	if err := os.Rename(w.Path, l.path("moved")); err != nil {
		t.Fatal(err)
	}
	l.passes(25 * time.Hour)
	l.sweeps(m, tries{})
	if _, err := os.Stat(w.Source.Admin); err != nil || l.is(m, w) != Ready {
		t.Errorf("it was taken away: %v", err)
	}
	out, err := m.Remove(t.Context(), w.ID, Removal{})
	if !errors.Is(err, ErrLoss) || len(out.Loss.Commits) != 1 {
		t.Errorf("%+v, %v", out.Loss, err)
	}
}

// The place of a drive that is not there now is empty.
func TestRemoveOnAnotherDrive(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	drive := l.source("drive", nil)
	w := l.create(m, Request{Kind: Hybrid, In: drive})
	write(t, w.Path, map[string]string{"final": "x"})
	if err := os.Rename(drive, drive+"-away"); err != nil {
		t.Fatal(err)
	}
	write(t, drive, nil)
	l.passes(25 * time.Hour)
	l.sweeps(m, tries{})
	if l.is(m, w) != Ready {
		t.Errorf("it is %s, and its tree is on the drive", l.is(m, w))
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) || !strings.Contains(out.Loss.Unknown, "drive") {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	if err := os.Remove(drive); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(drive+"-away", drive); err != nil {
		t.Fatal(err)
	}
	l.stays(m, w, map[string]string{"final": "x"})
}

// The branch stays when the tree of a hybrid ends, with its commits.
func TestEndWithCommits(t *testing.T) {
	t.Parallel()
	for _, detached := range []bool{false, true} {
		l := newLab(t)
		m := l.manager(nil)
		repo := l.repository("repo", map[string]string{"a": "a"})
		w := l.create(m, Request{Kind: Hybrid, From: repo})
		if detached {
			git(t, w.Path, "checkout", "-q", "--detach")
		}
		git(t, w.Path, "commit", "-q", "--allow-empty", "-m", "work")
		if _, err := m.Keep(t.Context(), w.ID, "final", nil); err != nil {
			t.Fatal(err)
		}
		l.passes(time.Second)
		out, err := m.Complete(t.Context(), w.ID, "")
		if err != nil || out.Done == detached {
			t.Errorf("detached %v: %+v, %v", detached, out, err)
		}
		if got := git(t, repo, "log", "-1", "--format=%s", w.Source.Branch); !detached && got != "work" {
			t.Errorf("the commit is lost: %q", got)
		}
	}
}

// What keeps a workspace where it is does so with --force too.
func TestRemoveBarred(t *testing.T) {
	t.Parallel()
	for words, bar := range map[string]func(l *lab, m *Manager, w Workspace) (undo func()){
		"git worktree unlock": func(l *lab, m *Manager, w Workspace) func() {
			git(l.t, w.Path, "worktree", "lock", w.Path)
			return func() { git(l.t, w.Path, "worktree", "unlock", w.Path) }
		},
		"another-job": func(l *lab, m *Manager, w Workspace) func() {
			in := filepath.Join(w.Path, "ignored")
			write(l.t, in, nil)
			other := l.create(m, Request{Kind: Temp, Project: "another"})
			r := l.record(m, other.ID) // somebody has moved it there
			r.Path, r.Around = filepath.Join(in, r.Name), ""
			if err := errors.Join(os.Rename(other.Path, r.Path), m.store.write(r)); err != nil {
				l.t.Fatal(err)
			}
			return func() {
				if _, err := m.Remove(l.t.Context(), other.ID, Removal{}); err != nil {
					l.t.Error(err)
				}
			}
		},
	} {
		t.Run(words, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a", ".gitignore": "ignored\n"})})
			undo := bar(l, m, w)
			for _, force := range []bool{false, true} {
				if out, err := m.Remove(t.Context(), w.ID, Removal{Force: force}); !errors.Is(err, ErrState) || !strings.Contains(out.Why, words) {
					t.Errorf("%+v, %v", out, err)
				}
				if out, err := m.Remove(t.Context(), w.ID, Removal{Force: force, DryRun: true}); err != nil || !strings.Contains(out.Why, words) {
					t.Errorf("%+v, %v", out, err)
				}
			}
			if out, err := m.Complete(t.Context(), w.ID, ""); err != nil || leftKind(out.Workspace.Problem) != leftBarred {
				t.Errorf("%+v, %v", out, err)
			}
			if _, err := os.Stat(filepath.Join(w.Path, "a")); err != nil {
				t.Error(err)
			}
			undo()
			if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
				t.Error(err)
			}
			l.gone(m, w)
		})
	}
}

// git says nothing of what lies in an ignored directory.
func TestRemoveNestedWork(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a", ".gitignore": "ignored\n"})})
	other := filepath.Join(w.Path, "ignored", "clone")
	write(t, other, map[string]string{"work": "hours"})
	git(t, other, "init", "-q")
	out, err := m.Remove(t.Context(), w.ID, Removal{})
	if !errors.Is(err, ErrLoss) || len(out.Loss.Nested) != 1 || !strings.Contains(out.Loss.Words, "ignored/clone") {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

package workspace

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestCrashRemove(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "a", "b/c": "c"}
	removed := func(l *lab, m *Manager, w Workspace, crashed string) {
		l.removeAgain(m, w, crashed)
		l.gone(m, w)
		if got := l.whats(m, w.ID); got[len(got)-1] != "removed" {
			l.t.Errorf("%q", got)
		}
	}
	t.Run("directory", func(t *testing.T) {
		crashAtEach(t, crashCase{
			before: func(l *lab, m *Manager) Workspace {
				return l.create(m, Request{Kind: Temp, From: l.source("from", files)})
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Remove(ctx, w.ID, Removal{})
				return err
			},
			after: removed,
		})
	})
	t.Run("git, forced", func(t *testing.T) {
		crashAtEach(t, crashCase{
			shallow: true,
			before: func(l *lab, m *Manager) Workspace {
				w := l.create(m, Request{Kind: Temp, From: l.repository("repo", files)})
				write(t, w.Path, map[string]string{"a": "other", "new": "x"})
				git(t, w.Path, "commit", "--all", "--message=work")
				return w
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Remove(ctx, w.ID, Removal{Force: true})
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				removed(l, m, w, crashed)
				repo := w.Source.From
				if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
					t.Errorf("worktrees: %s", got)
				}
				if got := git(t, repo, "log", "-1", "--format=%s", w.Source.Branch); got != "work" {
					t.Errorf("the commit is lost: %q", got)
				}
			},
		})
	})
	t.Run("complete", func(t *testing.T) {
		crashAtEach(t, crashCase{
			before: func(l *lab, m *Manager) Workspace {
				return l.create(m, Request{Kind: Temp, From: l.source("from", files)})
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Complete(ctx, w.ID, "a test")
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				if _, err := m.Sweep(t.Context()); err != nil { // it may have been noted only
					t.Error(err)
				}
				removed(l, m, w, crashed)
			},
		})
	})
	t.Run("end", func(t *testing.T) {
		crashAtEach(t, crashCase{
			shallow: true,
			before: func(l *lab, m *Manager) Workspace {
				w := l.create(m, Request{Kind: Hybrid, From: l.source("from", files)})
				if _, err := m.Keep(t.Context(), w.ID, "final", nil); err != nil {
					t.Fatal(err)
				}
				return w
			},
			do: func(ctx context.Context, m *Manager, w Workspace) error {
				_, err := m.Complete(ctx, w.ID, "a test")
				return err
			},
			after: func(l *lab, m *Manager, w Workspace, crashed string) {
				if _, err := m.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
				l.sound(m)
				list, err := m.Versions(t.Context(), w.ID)
				if err != nil || len(list) != 1 || content(t, list[0].Path)["b/c"] != "c" || l.record(m, w.ID).State != Ended {
					t.Errorf("%+v, %v", list, err)
				}
			},
		})
	})
}

// A removal that a crash has interrupted before it was decided is given up where
// something stands against it by now.
func TestRecoverGivesUp(t *testing.T) {
	for _, point := range []string{"remove: begun", "remove: set aside"} {
		for _, now := range []string{"in use", "lost"} {
			if point == "remove: set aside" && now == "lost" {
				continue // nobody can write into it any more
			}
			t.Run(point+" "+now, func(t *testing.T) {
				l := newLab(t)
				repo := l.repository("repo", map[string]string{"a": "a"})
				w := l.create(l.manager(nil), Request{Kind: Temp, From: repo})
				m := l.manager(nil)
				m.crash = func(at string) {
					if at == point {
						panic(crash{at})
					}
				}
				func() {
					defer func() { _ = recover() }()
					_, _ = m.Remove(t.Context(), w.ID, Removal{})
				}()
				m = l.manager(nil)
				want := map[string]string{"a": "a"}
				if now == "lost" {
					want["new"] = "x"
					write(t, w.Path, map[string]string{"new": "x"})
				} else {
					l.works(w.Path, shell)
					l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
				}
				if err := m.Recover(t.Context()); err != nil {
					t.Error(err)
				}
				l.stays(m, w, want)
				if r := l.record(m, w.ID); leftKind(r.Problem) == "" && point != "remove: begun" {
					t.Errorf("%q", r.Problem)
				}
			})
		}
	}
}

// While a disk is full nothing can be written down: what was set aside is found by
// its name.
func TestFinishAside(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "a"})})
	if err := os.Rename(w.Path, m.trash(l.record(m, w.ID), stepRemove)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

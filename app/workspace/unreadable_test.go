package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoilt makes a workspace whose record cannot be read.
func (l *lab) spoilt(m *Manager, q Request) Workspace {
	l.t.Helper()
	w := l.create(m, q)
	write(l.t, w.Path, map[string]string{"mine": "work"})
	if err := os.WriteFile(m.store.recordPath(w.ID), []byte("{"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return w
}

// A record that cannot be read keeps no other workspace from being removed.
func TestRemoveBesideUnreadable(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(l *lab) Request{
		"empty":     func(*lab) Request { return Request{Kind: Persistent} },
		"temporary": func(*lab) Request { return Request{Kind: Temp} },
		"worktree":  func(l *lab) Request { return Request{Kind: Temp, From: l.path("repo")} },
		// With what the repository remembers of the other one's worktree.
		"copy": func(l *lab) Request { return Request{Kind: Temp, From: l.path("repo"), Copy: true} },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			l.repository("repo", map[string]string{"a": "a"})
			other := l.spoilt(m, Request{From: l.path("repo")})
			w := l.create(m, request(l))
			out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true})
			if err != nil || out.Why != "" {
				t.Errorf("%+v, %v", out, err)
			}
			out, err = m.Remove(t.Context(), w.ID, Removal{})
			if err != nil || !out.Done || isDir(w.Path) {
				t.Errorf("%+v, %v", out, err)
			}
			if got := content(t, other.Path); got["mine"] != "work" {
				t.Errorf("of the other one is left %q", got)
			}
		})
	}
}

// What may be the tree of a record that cannot be read goes with no other one, also
// by force.
func TestRemoveAroundUnreadable(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]bool{"temporary": false, "worktree": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			q := Request{Kind: Temp}
			if from {
				q.From = l.repository("repo", map[string]string{"a": "a", ".gitignore": "deep/\n"})
			}
			w := l.create(m, q)
			other := l.spoilt(m, Request{Kind: Persistent})
			inside := filepath.Join(w.Path, "deep", "er", other.Name)
			write(t, filepath.Dir(inside), nil)
			if err := os.Rename(other.Path, inside); err != nil {
				t.Fatal(err)
			}
			for _, force := range []bool{false, true} {
				out, err := m.Remove(t.Context(), w.ID, Removal{Force: force})
				if !errors.Is(err, ErrState) || out.Done || !strings.Contains(out.Why, inside+" may be a workspace") || !strings.Contains(out.Why, m.store.recordPath(other.ID)) {
					t.Errorf("%+v, %v", out, err)
				}
			}
			if got := content(t, inside); got["mine"] != "work" {
				t.Errorf("left is %q", got)
			}
			// The one that it belongs to is forgotten.
			if err := os.Remove(m.store.recordPath(other.ID)); err != nil {
				t.Fatal(err)
			}
			if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil || !out.Done {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// A worktree of somebody else's is none of ours, unless it is called so.
func TestRemoveStaleBesideUnreadable(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	other := l.spoilt(m, Request{Kind: Persistent})
	clean, claimed := l.path("clean"), l.path("odd-"+other.ID[len(other.ID)-shortest:])
	git(t, repo, "worktree", "add", "--quiet", "-b", "one", clean)
	git(t, repo, "worktree", "add", "--quiet", "-b", "two", claimed)
	if out, err := m.RemoveStale(t.Context(), claimed, Removal{Force: true}); !errors.Is(err, ErrState) || out.Done || !isDir(claimed) {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := m.RemoveStale(t.Context(), clean, Removal{}); err != nil || !out.Done || isDir(clean) {
		t.Errorf("%+v, %v", out, err)
	}
}

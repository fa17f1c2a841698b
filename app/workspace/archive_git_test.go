package workspace

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArchiveOfAWorktree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(t *testing.T, w Workspace, repo string) // in the tree
		away func(t *testing.T, w Workspace, repo string) // while it is archived
		back func(t *testing.T, w Workspace, repo string) // when it is back
		head bool                                         // it is at the same commit
	}{
		"as it was made": {head: true},
		"own commits, and changes": {head: true, work: func(t *testing.T, w Workspace, _ string) {
			write(t, w.Path, map[string]string{"new": "new"})
			git(t, w.Path, "add", "new")
			git(t, w.Path, "commit", "--quiet", "--message=mine")
			write(t, w.Path, map[string]string{"untracked": "u"})
			change(t, w.Path, "a", "changed")
			if err := os.Remove(filepath.Join(w.Path, "b")); err != nil {
				t.Fatal(err)
			}
		}, back: func(t *testing.T, w Workspace, _ string) {
			if got := git(t, w.Path, "branch", "--show-current"); got != w.Source.Branch {
				t.Errorf("it is on %s", got)
			}
		}},
		"detached beyond its branch": {head: true, work: func(t *testing.T, w Workspace, _ string) {
			git(t, w.Path, "checkout", "--quiet", "--detach")
			change(t, w.Path, "a", "detached")
			git(t, w.Path, "commit", "--quiet", "--all", "--message=detached")
		}},
		"detached beside its branch": {head: true, work: func(t *testing.T, w Workspace, _ string) {
			change(t, w.Path, "a", "one")
			git(t, w.Path, "commit", "--quiet", "--all", "--message=one")
			git(t, w.Path, "checkout", "--quiet", "--detach", "HEAD~1")
			change(t, w.Path, "a", "two")
			git(t, w.Path, "commit", "--quiet", "--all", "--message=two")
		}, away: func(t *testing.T, _ Workspace, repo string) {
			git(t, repo, "reflog", "expire", "--expire=now", "--all")
			git(t, repo, "gc", "--quiet", "--prune=now")
		}, back: func(t *testing.T, _ Workspace, repo string) {
			if got := git(t, repo, "for-each-ref", "refs/lamplighter"); got != "" {
				t.Errorf("left: %s", got)
			}
		}},
		"its branch was removed": {head: true, away: func(t *testing.T, w Workspace, repo string) {
			git(t, repo, "branch", "--delete", "--force", w.Source.Branch)
		}},
		"its branch went on": {head: true, away: func(t *testing.T, w Workspace, repo string) {
			git(t, repo, "checkout", "--quiet", w.Source.Branch)
			git(t, repo, "commit", "--quiet", "--allow-empty", "--message=theirs")
			git(t, repo, "checkout", "--quiet", "main")
		}},
		"its branch is checked out elsewhere": {head: true, away: func(t *testing.T, w Workspace, repo string) {
			git(t, repo, "checkout", "--quiet", w.Source.Branch)
		}},
		"its repository has gone": {away: func(t *testing.T, _ Workspace, repo string) {
			if err := os.RemoveAll(filepath.Join(repo, ".git")); err != nil {
				t.Fatal(err)
			}
		}, back: func(t *testing.T, w Workspace, _ string) {
			if w.Source.Kind != FromDirectory || !strings.Contains(w.Problem, "without git") {
				t.Errorf("%+v", w)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			repo := l.repository("repo", map[string]string{"a": "a", "b": "b", ".gitignore": "ignored\n"})
			w := l.create(m, Request{From: repo})
			write(t, w.Path, map[string]string{"ignored": "i"})
			if c.work != nil {
				c.work(t, w, repo)
			}
			files, head, status := content(t, w.Path), git(t, w.Path, "rev-parse", "HEAD"), git(t, w.Path, "status", "--porcelain")
			a := l.archives(m, w)
			if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
				t.Errorf("git remembers %s", got)
			}
			if c.away != nil {
				c.away(t, a, repo)
			}
			b := l.restores(m, a, 0)
			l.sound(m)
			if got := content(t, w.Path); !maps.Equal(got, files) {
				t.Errorf("%q, not %q", got, files)
			}
			if c.head {
				if got := git(t, w.Path, "rev-parse", "HEAD"); got != head {
					t.Errorf("it is at %s, not at %s", got, head)
				}
				if got := git(t, w.Path, "status", "--porcelain"); got != status {
					t.Errorf("git says %q, not %q", got, status)
				}
				if b.Problem != "" || b.Source.Admin == "" {
					t.Errorf("%+v", b)
				}
			}
			if c.back != nil {
				c.back(t, b, repo)
			}
		})
	}
}

// change writes a file that is there.
func change(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What git is in the middle of is not in an archive.
func TestArchiveRefusesAWorktree(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	for name, c := range map[string]struct {
		do   func(w Workspace)
		want string
	}{
		"merge": {func(w Workspace) {
			git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=mine")
			git(t, repo, "commit", "--quiet", "--allow-empty", "--message=theirs")
			git(t, w.Path, "merge", "--quiet", "--no-commit", "--no-ff", "main")
		}, "merge"},
		"locked": {func(w Workspace) { git(t, w.Path, "worktree", "lock", "--reason=mine", w.Path) }, "mine"},
	} {
		w := l.create(m, Request{From: repo, Job: name})
		c.do(w)
		if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		l.sound(m)
	}
}

// submodule makes a worktree of repo whose submodule, at lib, has a commit of its
// own, at head.
func (l *lab) submodule(m *Manager) (repo string, w Workspace, lib, head string) {
	l.t.Helper()
	sub := l.repository("sub", map[string]string{"s": "s"})
	repo = l.repository("repo", map[string]string{"a": "a"})
	git(l.t, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "lib")
	git(l.t, repo, "commit", "--quiet", "--message=sub")
	w = l.create(m, Request{From: repo})
	git(l.t, w.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	lib = filepath.Join(w.Path, "lib")
	git(l.t, lib, "commit", "--quiet", "--allow-empty", "--message=mine")
	return repo, w, lib, git(l.t, lib, "rev-parse", "HEAD")
}

// The submodules of a worktree have their repositories in it: they come back.
func TestArchiveOfSubmodules(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	_, w, lib, head := l.submodule(m)
	l.archives(m, w)
	l.restores(m, w, 0)
	if got := git(t, lib, "rev-parse", "HEAD"); got != head {
		t.Errorf("it is at %s, not at %s", got, head)
	}
	if got := git(t, w.Path, "status", "--porcelain"); got != "M lib" {
		t.Errorf("%q", got)
	}
}

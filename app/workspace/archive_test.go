package workspace

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace/inuse"
)

// archives archives a workspace, which has to work.
func (l *lab) archives(m *Manager, w Workspace) Workspace {
	l.t.Helper()
	w, err := m.Archive(l.t.Context(), w.ID, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

// restores restores a workspace, which has to work.
func (l *lab) restores(m *Manager, w Workspace, version int) Workspace {
	l.t.Helper()
	w, err := m.Restore(l.t.Context(), w.ID, version, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

func TestArchiveAndRestore(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"a": "a", "b/c": "c", "empty/": "", ".git/config": "nested"}
	share := l.source("share", map[string]string{"x": "x"})
	w := l.create(m, Request{From: l.source("from", files), Kind: Hybrid, Share: []string{share}})
	l.keeps(m, w, "one")
	if err := os.Chmod(filepath.Join(w.Path, "a"), 0o750); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{"d": "d"})
	l.keeps(m, w, "two")
	write(t, w.Path, map[string]string{"not kept": "x"})
	if err := os.WriteFile(filepath.Join(m.tempDir(w.ID), "t"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := content(t, w.Path)

	a := l.archives(m, w)
	if a.State != Archived || a.Archive == nil || filepath.Base(a.Archive.Path) != w.Name+archiveSuffix || a.Versions != 2 || a.Problem != "" {
		t.Errorf("%+v", a)
	}
	if info, err := os.Lstat(a.Archive.Path); err != nil || info.Size() != a.Archive.Bytes || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, %+v", info, err, a.Archive)
	}
	if got := content(t, share); !maps.Equal(got, map[string]string{"x": "x"}) {
		t.Errorf("what was shared is %q", got)
	}
	l.sound(m)
	list, err := m.Versions(t.Context(), w.ID)
	if err != nil || len(list) != 2 || list[0].Message != "one" || list[0].Path != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrState) {
		t.Error(err)
	}
	if _, err := m.Keep(t.Context(), w.ID, "m", nil); !errors.Is(err, ErrState) {
		t.Error(err)
	}

	b := l.restores(m, w, 0)
	if b.State != Ready || b.Path != w.Path || b.Archive != nil || b.Versions != 2 || b.DoneAt != nil {
		t.Errorf("%+v", b)
	}
	if got := content(t, b.Path); !maps.Equal(got, before) {
		t.Errorf("%q, not %q", got, before)
	}
	if data, err := os.ReadFile(filepath.Join(b.Path, ".git", "config")); err != nil || string(data) != "nested" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Lstat(filepath.Join(b.Path, "a")); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o750) {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Lstat(a.Archive.Path); err == nil {
		t.Error("the archive is there")
	}
	if _, err := os.Lstat(m.tempDir(w.ID)); err != nil {
		t.Error(err)
	}
	l.sound(m)
	if v := l.keeps(m, w, "three"); v.Number != 3 {
		t.Errorf("%+v", v)
	}
	var told []string
	for _, h := range l.record(m, w.ID).History {
		told = append(told, h.What)
	}
	if want := []string{"created", "kept", "kept", "archived", "restored", "kept"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// Nobody is archived, or another tree put under him, while he works.
func TestNobodyIsDisturbed(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	l.keeps(m, w, "one")
	write(t, w.Path, map[string]string{"b": "b"})
	before := content(t, w.Path)
	try := func(what string, want ...string) {
		t.Helper()
		for name, do := range map[string]func() error{
			"archive": func() error { _, err := m.Archive(t.Context(), w.ID, nil); return err },
			"restore": func() error { _, err := m.Restore(t.Context(), w.ID, 1, nil); return err },
		} {
			err := do()
			if !errors.Is(err, ErrInUse) {
				t.Errorf("%s, %s: %v", what, name, err)
				continue
			}
			apptest.Contains(t, err.Error(), want...)
			if got := content(t, w.Path); !maps.Equal(got, before) {
				t.Errorf("%s, %s: the tree is %q", what, name, got)
			}
			l.sound(m)
		}
	}
	editor := inuse.Process{PID: 12, Name: "vi\x1bm", How: "works in it"}
	l.works(w.Path, editor)
	try("in the tree", "vim (12) works in it")
	l.works(w.Path)
	l.works(m.tempDir(w.ID), editor)
	try("in the temporary files", "vim (12) works in it")
	l.works(m.tempDir(w.ID))
	for _, point := range []string{"archive: packed", "put: filled"} {
		m.crash = func(at string) {
			if at == point {
				l.works(w.Path, editor)
			}
		}
		do := m.Archive
		if point == "put: filled" {
			do = func(ctx context.Context, id string, tell func(Progress)) (Workspace, error) {
				return m.Restore(ctx, id, 1, tell)
			}
		}
		if _, err := do(t.Context(), w.ID, nil); !errors.Is(err, ErrInUse) {
			t.Errorf("since %q: %v", point, err)
		}
		l.works(w.Path)
		m.crash = nil
		l.sound(m)
		if got := content(t, w.Path); !maps.Equal(got, before) {
			t.Errorf("since %q: %q", point, got)
		}
	}
	m = l.manager(func(o *Options) {
		o.InUse = func(context.Context, string) ([]inuse.Process, error) { return nil, errors.New("nobody can look") }
	})
	try("when nobody can look", "nobody can look")
}

// Who writes while it is packed, or a version is put into its place, loses nothing.
func TestNothingWrittenMeanwhileIsLost(t *testing.T) {
	for _, point := range []string{
		"archive: facts", "archive: packed", "archive: written down", "archive: taken out",
		"keep: in place", "put: filled", "put: begun", "put: old tree aside",
	} {
		t.Run(point, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a", "d/b": "b"})})
			l.keeps(m, w, "one")
			write(t, w.Path, map[string]string{"x": "x"})
			before := content(t, w.Path)
			wrote := false
			m.crash = func(at string) {
				if at != point || wrote {
					return
				}
				wrote = true
				in := w.Path
				if _, err := os.Lstat(in); err != nil {
					in = beside(w.Path, trashSuffix)
				}
				write(t, in, map[string]string{"d/late": "late"})
			}
			var err error
			if strings.HasPrefix(point, "archive") {
				_, err = m.Archive(t.Context(), w.ID, nil)
			} else {
				_, err = m.Restore(t.Context(), w.ID, 1, nil)
			}
			m.crash = nil
			if !wrote {
				t.Fatal("it did not come there")
			}
			if err == nil && strings.HasPrefix(point, "archive") {
				l.restores(m, w, 0) // it was packed, too
			} else if !errors.Is(err, ErrInUse) {
				t.Errorf("%v", err)
			}
			before["d/late"] = "late"
			if got := content(t, w.Path); !maps.Equal(got, before) {
				t.Errorf("%q, not %q", got, before)
			}
			l.sound(m)
		})
	}
}

func TestArchiveOfAWorktree(t *testing.T) {
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

// The submodules of a worktree have their repositories in it: they come back.
func TestArchiveOfSubmodules(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	sub := l.repository("sub", map[string]string{"s": "s"})
	repo := l.repository("repo", map[string]string{"a": "a"})
	git(t, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "lib")
	git(t, repo, "commit", "--quiet", "--message=sub")
	w := l.create(m, Request{From: repo})
	git(t, w.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	lib := filepath.Join(w.Path, "lib")
	git(t, lib, "commit", "--quiet", "--allow-empty", "--message=mine")
	head := git(t, lib, "rev-parse", "HEAD")
	l.archives(m, w)
	l.restores(m, w, 0)
	if got := git(t, lib, "rev-parse", "HEAD"); got != head {
		t.Errorf("it is at %s, not at %s", got, head)
	}
	if got := git(t, w.Path, "status", "--porcelain"); got != "M lib" {
		t.Errorf("%q", got)
	}
}

// What lies where an archive is to be stays.
func TestArchiveOverwritesNothing(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	theirs := m.store.path(archivesDir, w.Name+archiveSuffix)
	if err := os.WriteFile(theirs, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	trash := beside(w.Path, trashSuffix)
	write(t, trash, map[string]string{"theirs": "x"})
	if _, err := m.Archive(t.Context(), w.ID, nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), trash) {
		t.Error(err)
	}
	if err := os.RemoveAll(trash); err != nil {
		t.Fatal(err)
	}
	a := l.archives(m, w)
	if a.Archive.Path == theirs {
		t.Error("it is in the place of another one")
	}
	l.restores(m, w, 0)
	if data, err := os.ReadFile(theirs); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestCrashArchive(t *testing.T) {
	for _, c := range []struct {
		name    string
		shallow bool
		make    func(l *lab, m *Manager) Workspace
	}{
		{"directory", false, func(l *lab, m *Manager) Workspace {
			w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a", "b/c": "c"})})
			l.keeps(m, w, "one")
			write(l.t, w.Path, map[string]string{"d": "d"})
			l.keeps(m, w, "two")
			return w
		}},
		{"git", true, func(l *lab, m *Manager) Workspace {
			w := l.create(m, Request{From: l.repository("repo", map[string]string{"a": "a"})})
			write(l.t, w.Path, map[string]string{"d": "d"})
			return w
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var before map[string]string
			crashAtEach(t, crashCase{
				shallow: c.shallow,
				before: func(l *lab, m *Manager) Workspace {
					w := c.make(l, m)
					before = content(l.t, w.Path)
					return w
				},
				do: func(ctx context.Context, m *Manager, w Workspace) error {
					_, err := m.Archive(ctx, w.ID, nil)
					return err
				},
				after: func(l *lab, m *Manager, w Workspace, crashed string) {
					now, err := m.Find(t.Context(), w.ID)
					if err != nil {
						t.Fatal(err)
					}
					if now.Versions != w.Versions && now.Versions != 2 && c.name == "directory" {
						t.Errorf("%d versions", now.Versions)
					}
					if now.State == Archived {
						l.restores(m, w, 0)
					} else if now.State != Ready || crashed == "" {
						t.Errorf("after %q it is %s", crashed, now.State)
					}
					l.sound(m)
					if got := content(t, w.Path); !maps.Equal(got, before) {
						t.Errorf("after %q: %q, not %q", crashed, got, before)
					}
					if c.name == "git" {
						if got := git(t, w.Path, "status", "--porcelain"); got != "?? d" {
							t.Errorf("git says %q", got)
						}
					}
				},
			})
		})
	}
}

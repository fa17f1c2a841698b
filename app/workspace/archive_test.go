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
	t.Parallel()
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

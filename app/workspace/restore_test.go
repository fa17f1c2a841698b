package workspace

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ends ends the tree of a hybrid workspace, whose job is done.
func (l *lab) ends(m *Manager, w Workspace) Workspace {
	l.t.Helper()
	out, err := m.Complete(l.t.Context(), w.ID, "")
	if err != nil || out.Workspace.State != Ended {
		l.t.Fatalf("%+v, %v", out, err)
	}
	return out.Workspace
}

func TestRestoreVersion(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	share := l.source("share", map[string]string{"x": "x"})
	first := map[string]string{"a": "a", "b/c": "c", "empty/": ""}
	w := l.create(m, Request{From: l.source("from", first), Share: []string{share}})
	perm := os.FileMode(0o640)
	if err := os.Chmod(filepath.Join(w.Path, "a"), perm); err != nil {
		t.Fatal(err)
	}
	l.keeps(m, w, "one")
	if err := os.RemoveAll(filepath.Join(w.Path, "b")); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{"b": "a file now"})
	second := content(t, w.Path)
	root := l.record(m, w.ID).Root

	l.restores(m, w, 1)
	got := content(t, w.Path)
	delete(got, "share")
	if !maps.Equal(got, first) {
		t.Errorf("%q", got)
	}
	if to, err := os.Readlink(filepath.Join(w.Path, "share")); runtime.GOOS != "windows" && (err != nil || to != share) {
		t.Errorf("%s, %v", to, err)
	}
	if info, err := os.Lstat(filepath.Join(w.Path, "a")); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != perm) {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Lstat(w.Path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o700) {
		t.Errorf("%v, %v", info, err)
	}
	change(t, w.Path, "a", "can be written")
	list, err := m.versions(w.ID)
	if err != nil || len(list) != 2 || list[1].Message != "before restoring version 1" {
		t.Fatalf("%+v, %v", list, err)
	}
	if r := l.record(m, w.ID); r.Root == root || r.State != Ready {
		t.Errorf("%+v", r)
	}
	l.sound(m)

	l.restores(m, w, 2)
	if got := content(t, w.Path); !maps.Equal(got, second) {
		t.Errorf("%q", got)
	}
	l.restores(m, w, 1)
	l.restores(m, w, 1)
	// The third has what was written since, and the fourth is the second again: only
	// the last version is compared with.
	if list, err := m.versions(w.ID); err != nil || len(list) != 5 {
		t.Errorf("%+v, %v", list, err)
	}
}

// In a worktree files change, and nothing of git's.
func TestRestoreVersionOfAWorktree(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.repository("repo", map[string]string{"a": "a"})})
	change(t, w.Path, "a", "one")
	l.keeps(m, w, "one")
	git(t, w.Path, "commit", "--quiet", "--all", "--message=one")
	change(t, w.Path, "a", "two")
	write(t, w.Path, map[string]string{"new": "new"})
	head := git(t, w.Path, "rev-parse", "HEAD")
	l.restores(m, w, 1)
	if got := git(t, w.Path, "status", "--porcelain"); got != "" {
		t.Errorf("%q", got)
	}
	if got := git(t, w.Path, "rev-parse", "HEAD"); got != head {
		t.Errorf("%s, not %s", got, head)
	}
	l.restores(m, w, 2)
	if got := git(t, w.Path, "status", "--porcelain"); got != "M a\n?? new" {
		t.Errorf("%q", got)
	}
	l.sound(m)
}

func TestRestoreEnded(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(l *lab) string{
		"directory": func(l *lab) string { return l.source("from", map[string]string{"a": "a"}) },
		"git":       func(l *lab) string { return l.repository("repo", map[string]string{"a": "a"}) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{From: from(l), Kind: Hybrid})
			write(t, w.Path, map[string]string{"b": "b"})
			l.keeps(m, w, "one")
			write(t, w.Path, map[string]string{"c": "c"})
			l.keeps(m, w, "two")
			git := func(args ...string) string {
				if name == "git" {
					return git(t, w.Path, args...)
				}
				return ""
			}
			if name == "git" { // its loss is git's
				git("add", "--all")
				git("commit", "--quiet", "--message=mine")
				git("push", "--quiet", l.path("repo"), "HEAD:refs/heads/elsewhere")
			}
			two := content(t, w.Path)
			l.ends(m, w)
			l.sound(m)
			b := l.restores(m, w, 0)
			if got := content(t, w.Path); !maps.Equal(got, two) || b.State != Ready || b.DoneAt != nil {
				t.Errorf("%q, %+v", got, b)
			}
			if got := git("status", "--porcelain"); got != "" {
				t.Errorf("%q", got)
			}
			l.ends(m, w)
			l.restores(m, w, 1)
			if got := content(t, w.Path); !maps.Equal(got, map[string]string{"a": "a", "b": "b"}) {
				t.Errorf("%q", got)
			}
			if got := git("status", "--porcelain"); name == "git" && got != "D c" {
				t.Errorf("%q", got)
			}
			l.sound(m)
		})
	}
}

func TestRestoreRefuses(t *testing.T) {
	l := newLab(t)
	m := l.manager(func(o *Options) { o.Limit = 2 })
	temp := l.create(m, Request{Kind: Temp})
	in := l.source("in", nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"}), In: in, Job: "other"})
	for _, c := range []struct {
		id      string
		version int
		want    error
		says    string
	}{
		{temp.ID, 1, ErrBadRequest, "none at all"},
		{temp.ID, 0, ErrState, "--version"},
		{w.ID, 0, ErrState, "--version"},
		{w.ID, 1, ErrBadRequest, "no version 1"},
		{w.ID, -1, ErrBadRequest, "from 1"},
		{"nobody", 0, ErrUnknown, "nobody"},
	} {
		if _, err := m.Restore(t.Context(), c.id, c.version, nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	l.keeps(m, w, "one")
	a := l.archives(m, w)
	refused := func(what string, want error, says string) {
		t.Helper()
		_, err := m.Restore(t.Context(), w.ID, 0, nil)
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
		l.sound(m)
		if w, err := m.Find(t.Context(), w.ID); err != nil || w.State != Archived {
			t.Errorf("%s: %+v, %v", what, w, err)
		}
	}
	if _, err := m.Restore(t.Context(), w.ID, 5, nil); !errors.Is(err, ErrBadRequest) {
		t.Error(err)
	}
	third := l.create(m, Request{Kind: Temp, Job: "third"})
	_, err := m.Restore(t.Context(), w.ID, 0, nil)
	var full *TooMany
	if !errors.As(err, &full) || len(full.Holders) != 2 {
		t.Errorf("%v", err)
	}
	l.sound(m)
	if _, err := m.Remove(t.Context(), third.ID, Removal{}); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{"theirs": "x"})
	if _, err := m.Restore(t.Context(), w.ID, 0, nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "move that away") {
		t.Errorf("a place that is taken: %v", err)
	}
	if got := content(t, w.Path); !maps.Equal(got, map[string]string{"theirs": "x"}) {
		t.Errorf("%q", got)
	}
	if err := os.RemoveAll(in); err != nil {
		t.Fatal(err)
	}
	refused("a directory that has gone", ErrState, "make it again")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(a.Archive.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range [][]byte{nil, data[:len(data)/2], data[:len(data)-1], append([]byte("x"), data...)} {
		if err := os.WriteFile(a.Archive.Path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		refused("a damaged archive", nil, "unpacking")
	}
	if err := os.Remove(a.Archive.Path); err != nil {
		t.Fatal(err)
	}
	r := l.record(m, w.ID)
	if _, err := m.Restore(t.Context(), w.ID, 0, nil); !errors.Is(err, ErrState) || l.record(m, w.ID).Step != nil || r.State != Archived {
		t.Errorf("an archive that has gone: %v", err)
	}
	if err := os.WriteFile(a.Archive.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l.restores(m, w, 0)
	l.sound(m)
}

func TestRemedyFor(t *testing.T) {
	for _, c := range []struct {
		state   State
		step    step
		inPlace bool
		want    remedy
	}{
		{Archived, step{Staging: "s", Trash: "a"}, false, takeBack},
		{Archived, step{Staging: "s", Trash: "a"}, true, goOn},
		{Ready, step{Staging: "s", Trash: "a"}, true, goOn},
		{Archived, step{Staging: "u", Trash: "a"}, false, takeBack},
		{Archived, step{Trash: "a"}, false, goOn},
		{Ended, step{Trash: "a"}, false, goOn},
		{Ended, step{Staging: "s", Version: 1}, false, takeBack},
		{Ended, step{Staging: "s", Version: 1}, true, goOn},
		{Ready, step{Staging: "s", Version: 1}, true, goOn},
		{Ready, step{Staging: "s", Trash: "t", Version: 1}, true, settlePutting},
		{Ended, step{Staging: "s", Trash: "t", Version: 1}, false, settlePutting},
	} {
		if got := remedyFor(c.state, c.step, c.inPlace); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestCrashRestore(t *testing.T) {
	t.Parallel()
	one := map[string]string{"a": "a", "b/c": "c"}
	two := map[string]string{"a": "a", "b/c": "c", "d": "d"}
	make := func(l *lab, m *Manager, from string) Workspace {
		w := l.create(m, Request{From: from, Kind: Hybrid})
		l.keeps(m, w, "one")
		write(l.t, w.Path, map[string]string{"d": "d"})
		return w
	}
	directory := func(l *lab) string { return l.source("from", one) }
	for _, c := range []struct {
		name    string
		shallow bool
		version int
		make    func(l *lab, m *Manager) Workspace
		want    map[string]string // when it is done
	}{
		{"archived", false, 0, func(l *lab, m *Manager) Workspace { return l.archives(m, make(l, m, directory(l))) }, two},
		{"archived worktree", true, 0, func(l *lab, m *Manager) Workspace {
			return l.archives(m, make(l, m, l.repository("repo", one)))
		}, two},
		{"archived and ended", true, 0, func(l *lab, m *Manager) Workspace {
			w := make(l, m, directory(l))
			l.keeps(m, w, "two")
			return l.archives(m, l.ends(m, w))
		}, two},
		{"ended", false, 1, func(l *lab, m *Manager) Workspace {
			w := make(l, m, directory(l))
			l.keeps(m, w, "two")
			return l.ends(m, w)
		}, one},
		{"ready", false, 1, func(l *lab, m *Manager) Workspace { return make(l, m, directory(l)) }, one},
		{"ready worktree", true, 1, func(l *lab, m *Manager) Workspace { return make(l, m, l.repository("repo", one)) }, one},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			crashAtEach(t, crashCase{
				shallow: c.shallow, before: c.make,
				do: func(ctx context.Context, m *Manager, w Workspace) error {
					_, err := m.Restore(ctx, w.ID, c.version, nil)
					return err
				},
				after: func(l *lab, m *Manager, w Workspace, crashed string) {
					r := l.record(m, w.ID)
					if crashed == "" && r.State != Ready {
						t.Errorf("it is %s", r.State)
					}
					if r.State == Ready && c.name != "ready" && c.name != "ready worktree" {
						if got := content(t, w.Path); !maps.Equal(got, c.want) {
							t.Errorf("after %q: %q", crashed, got)
						}
					}
					if got := content(t, w.Path); r.State == Ready && !maps.Equal(got, c.want) && !maps.Equal(got, two) {
						t.Errorf("after %q: %q", crashed, got)
					}
					if r.State != Ready || crashed != "" && !maps.Equal(content(t, w.Path), c.want) {
						l.restores(m, w, c.version)
					}
					l.sound(m)
					if got := content(t, w.Path); !maps.Equal(got, c.want) {
						t.Errorf("after %q, again: %q", crashed, got)
					}
					if r.Source.Kind == FromGit {
						want := "?? d"
						if c.version == 1 {
							want = ""
						}
						if got := git(t, w.Path, "status", "--porcelain"); got != want {
							t.Errorf("git says %q", got)
						}
					}
					list, err := m.versions(w.ID)
					if err != nil || len(list) == 0 || !maps.Equal(content(t, list[0].Path), one) {
						t.Errorf("after %q: %+v, %v", crashed, list, err)
					}
					if c.version == 1 && (len(list) < 2 || !maps.Equal(content(t, list[1].Path), two)) {
						t.Errorf("after %q: what was in the tree is lost: %+v", crashed, list)
					}
				},
			})
		})
	}
}

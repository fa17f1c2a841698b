package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/workspace/inuse"
)

var shell = inuse.Process{PID: 4711, Name: "bash", How: "works in it"}

// whats are the kinds of happenings of a workspace.
func (l *lab) whats(m *Manager, id string) []string {
	l.t.Helper()
	var list []string
	for _, h := range l.record(m, id).History {
		list = append(list, h.What)
	}
	return list
}

// gone checks that nothing is left of a workspace but its record.
func (l *lab) gone(m *Manager, w Workspace) {
	l.t.Helper()
	l.sound(m)
	if r := l.record(m, w.ID); r.State != Removed || r.Step != nil {
		l.t.Errorf("%s is %s with the step %+v", w.Name, r.State, r.Step)
	}
	for _, path := range []string{w.Path, m.store.data(w.ID)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			l.t.Errorf("%s is left: %v", path, err)
		}
	}
	for _, name := range names(l.t, filepath.Dir(w.Path)) {
		if strings.Contains(name, w.Name) {
			l.t.Errorf("%s is left", name)
		}
	}
	if _, err := m.Find(l.t.Context(), w.ID); !errors.Is(err, ErrUnknown) {
		l.t.Errorf("it is found: %v", err)
	}
}

// stays checks that a workspace is as it was.
func (l *lab) stays(m *Manager, w Workspace, files map[string]string) {
	l.t.Helper()
	l.sound(m)
	now, err := m.Find(l.t.Context(), w.ID)
	if err != nil || now.State != Ready {
		l.t.Fatalf("%+v, %v", now, err)
	}
	got := content(l.t, w.Path)
	if len(got) != len(files) {
		l.t.Errorf("%q, want %q", got, files)
	}
	for name, text := range files {
		if got[name] != text {
			l.t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
}

// removeAgain removes what stays because the first removal was interrupted before
// anything was moved.
func (l *lab) removeAgain(m *Manager, w Workspace, crashed string) {
	l.t.Helper()
	if crashed != "remove: begun" || l.record(m, w.ID).State != Ready {
		return
	}
	if _, err := m.Remove(l.t.Context(), w.ID, Removal{Force: true}); err != nil {
		l.t.Error(err)
	}
}

func TestRemove(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"a": "text", "b/c": "more"}
	w := l.create(m, Request{Kind: Temp, From: l.source("from", files)})
	out, err := m.Remove(t.Context(), w.ID, Removal{DryRun: true})
	if err != nil || out.Done || !out.DryRun || out.What != "would be removed" || out.Why != "" || out.Freed <= 0 || out.InUse == nil {
		t.Errorf("%+v, %v", out, err)
	}
	l.stays(m, w, files)
	out, err = m.Remove(t.Context(), w.ID, Removal{By: "a test"})
	if err != nil || !out.Done || out.What != "removed" || out.Loss == nil || out.Loss.Words != "" || out.Freed <= 0 || out.Workspace.State != Removed {
		t.Errorf("%+v, %v", out, err)
	}
	l.gone(m, w)
	if got := l.whats(m, w.ID); !slices.Equal(got, []string{"created", "removed"}) {
		t.Errorf("%q", got)
	}
	for _, name := range []string{w.ID, "none", ""} {
		if _, err := m.Remove(t.Context(), name, Removal{Force: true}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := m.Remove(t.Context(), name, Removal{DryRun: true}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := m.Complete(t.Context(), name, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRemoveInUse(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	l.works(w.Path, shell)
	for _, force := range []bool{false, true} {
		out, err := m.Remove(t.Context(), w.ID, Removal{Force: force})
		if !errors.Is(err, ErrInUse) || out.Done || len(out.InUse) != 1 || out.InUse[0].PID != 4711 || !strings.Contains(err.Error(), "bash (4711) works in it") {
			t.Errorf("%+v, %v", out, err)
		}
		out, err = m.Remove(t.Context(), w.ID, Removal{Force: force, DryRun: true})
		if err != nil || out.What != "would not be removed" || !strings.Contains(out.Why, "4711") {
			t.Errorf("%+v, %v", out, err)
		}
	}
	l.stays(m, w, nil)
	l.works(w.Path)
	// What uses its temporary files works in it too.
	write(t, w.TempDir, map[string]string{"socket": ""})
	l.works(w.TempDir, shell)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	l.works(w.TempDir)
	broken := l.manager(func(o *Options) {
		o.InUse = func(context.Context, string) ([]inuse.Process, error) { return nil, errors.New("nobody can look") }
	})
	if out, err := broken.Remove(t.Context(), w.ID, Removal{Force: true}); err == nil || out.Done {
		t.Errorf("%+v", out)
	}
	l.stays(m, w, nil)
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

// Whoever comes in after it was looked, and before the tree is set aside, keeps it
// where it is.
func TestRemoveSomebodyComesIn(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp, From: l.source("from", map[string]string{"a": "a"})})
	m.crash = func(point string) {
		if point == "remove: set aside" {
			l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
		}
	}
	out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
	if !errors.Is(err, ErrInUse) || len(out.InUse) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	l.stays(m, w, map[string]string{"a": "a"})
	// Where something else lies in its place by then, both stay until that is gone.
	m.crash = func(point string) {
		if point == "remove: set aside" {
			l.works(m.trash(l.record(m, w.ID), stepRemove), shell)
			write(t, w.Path, map[string]string{"theirs": "x"})
		}
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	m.crash = nil
	trash := m.trash(l.record(m, w.ID), stepRemove)
	if content(t, w.Path)["theirs"] != "x" || content(t, trash)["a"] != "a" {
		t.Errorf("%q, %q", content(t, w.Path), content(t, trash))
	}
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	l.stays(m, w, map[string]string{"a": "a"})
	l.works(trash)
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

// A share is a link of ours, and no work of the job; what it leads to stays.
func TestRemoveLeavesShares(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a", ".gitignore": "node_modules/\n"})
	write(t, repo, map[string]string{"node_modules/x": "x"})
	w := l.create(m, Request{Kind: Temp, From: repo, Share: []string{"node_modules"}})
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	l.gone(m, w)
	if content(t, repo)["node_modules/x"] != "x" {
		t.Error("what was shared has gone")
	}
}

// What lies where the tree was, and is not that, is left alone.
func TestRemoveReplaced(t *testing.T) {
	for name, put := range map[string]func(l *lab, w Workspace){
		"another directory": func(l *lab, w Workspace) { write(l.t, w.Path, map[string]string{"theirs": "x"}) },
		"a file":            func(l *lab, w Workspace) { write(l.t, filepath.Dir(w.Path), map[string]string{w.Name: "theirs"}) },
		"a link": func(l *lab, w Workspace) {
			write(l.t, filepath.Dir(w.Path), map[string]string{w.Name: "-> " + l.source("home", map[string]string{"theirs": "x"})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link" && runtime.GOOS == "windows" {
				return // who may make one there is a matter of rights
			}
			l := newLab(t)
			m := l.manager(nil)
			in := l.source("in", nil)
			w := l.create(m, Request{Kind: Temp, In: in})
			if err := os.Rename(w.Path, l.path("away")); err != nil {
				t.Fatal(err)
			}
			put(l, w)
			out, err := m.Remove(t.Context(), w.ID, Removal{})
			if !errors.Is(err, ErrLoss) || out.Loss == nil || out.Loss.Unknown == "" {
				t.Errorf("%+v, %v", out.Loss, err)
			}
			l.passes(25 * time.Hour)
			if _, err := m.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			if r := l.record(m, w.ID); r.State != Ready || leftKind(r.Problem) != leftLoss {
				t.Errorf("%s, %q", r.State, r.Problem)
			}
			out, err = m.Remove(t.Context(), w.ID, Removal{Force: true})
			if err != nil || !out.Done || !strings.Contains(out.Kept, "not made there") {
				t.Errorf("%+v, %v", out, err)
			}
			if _, err := os.Lstat(w.Path); err != nil {
				t.Errorf("it has gone: %v", err)
			}
			if name == "a link" && content(t, l.path("home"))["theirs"] != "x" {
				t.Error("what it leads to has gone")
			}
		})
	}
}

func TestRemoveTreeHasGone(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	in := l.source("in", nil)
	for _, q := range []Request{{Kind: Temp, From: repo}, {Kind: Temp, In: in}} {
		w := l.create(m, q)
		if err := os.RemoveAll(w.Path); err != nil {
			t.Fatal(err)
		}
		if out, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil || !out.Done {
			t.Errorf("%+v, %v", out, err)
		}
		l.gone(m, w)
	}
	if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("worktrees: %s", got)
	}
	// Where the directory around it has gone too, it may be on a drive that is not
	// there now.
	w := l.create(m, Request{Kind: Temp, In: in})
	if err := os.Rename(in, l.path("away")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
		t.Error(err)
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil || !strings.Contains(out.Kept, "cannot be looked at") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(l.path("away"), w.Name)); err != nil {
		t.Error(err)
	}
}

func TestLossWords(t *testing.T) {
	for want, loss := range map[string]Loss{
		"":                            {},
		"1 file is not committed (a)": {Uncommitted: []string{"a"}},
		"5 files are not committed (a, b, c, …)":                                                    {Uncommitted: []string{"a", "b", "c", "d"}, More: 1},
		"2 commits are on no other branch and no remote (x, y)":                                     {Commits: []string{"x", "y"}},
		"25 commits are on no other branch and no remote (x, y, z, …)":                              {Commits: []string{"x", "y", "z", "w"}, MoreCommits: 21},
		"1 submodule has work of its own (lib)":                                                     {Submodules: []string{"lib"}},
		"it differs from its last version, or has none":                                             {Changed: true},
		"1 file is not committed (a), what would be lost could not be found out: git cannot be run": {Uncommitted: []string{"a"}, Unknown: "git cannot be run"},
	} {
		if got := lossWords(loss, ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := lossWords(Loss{}, "rebase"); got != "a rebase is going on" {
		t.Errorf("%q", got)
	}
}

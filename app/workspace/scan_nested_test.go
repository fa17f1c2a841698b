package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/workspace/inuse"
)

// What lies in a directory that git ignores is not lost with a worktree.
func TestRemoveStaleWithOthersInIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	top := l.repository("shop", map[string]string{"a": "a", ".gitignore": "built\n"})
	add := func(path string) string {
		path = l.path(path)
		git(t, top, "worktree", "add", "--quiet", "-b", strings.ReplaceAll(path[len(l.dir)+1:], string(filepath.Separator), "-"), path)
		return path
	}
	for _, name := range []string{"files", "commits", "own", "odd", "clean"} {
		add(name)
	}
	write(t, add("files/built/inner"), map[string]string{"new": "x"})
	inner := add("commits/built/inner")
	git(t, inner, "checkout", "--quiet", "--detach")
	git(t, inner, "commit", "--quiet", "--allow-empty", "--message=mine")
	write(t, l.repository("own/built/deep/inner", map[string]string{"a": "a"}), map[string]string{"b": "b"})
	write(t, l.path("odd/built"), map[string]string{"inner/.git": "nothing\n"})
	add("clean/built/inner")
	scan, _ := l.scanned(m, "shop")
	for name, path := range map[string]string{"files": "built/inner", "commits": "built/inner", "own": "built/deep/inner", "odd": "built/inner"} {
		if s := scan[name]; s.Removable || len(s.Loss.Nested) != 1 || !strings.Contains(s.Why, path) {
			t.Errorf("%s: %+v", name, s)
		}
		for _, dry := range []bool{true, false} {
			out, err := m.RemoveStale(t.Context(), l.path(name), Removal{DryRun: dry})
			if !errors.Is(err, ErrLoss) || !strings.Contains(out.Why, path) || !isDir(l.path(name)) {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		}
		if out, err := m.RemoveStale(t.Context(), l.path(name), Removal{Force: true}); err != nil || !out.Done {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if s := scan["clean"]; !s.Removable || !strings.Contains(s.Why, "built/inner") {
		t.Errorf("%+v", s)
	}
	if out, err := m.RemoveStale(t.Context(), l.path("clean"), Removal{}); err != nil || !out.Done || !strings.Contains(out.What, "built/inner") {
		t.Errorf("%+v, %v", out, err)
	}
}

// A workspace goes only when it is named itself.
func TestRemoveStaleWithOursInIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	top := l.repository("shop", map[string]string{"a": "a", ".gitignore": "built\n"})
	git(t, top, "worktree", "add", "--quiet", "-b", "plain", l.path("plain"))
	git(t, top, "worktree", "add", "--quiet", "-b", "git", l.path("git"))
	plain := l.create(m, Request{Kind: Persistent, Job: "j", In: l.source("plain/built", nil)})
	of := l.create(m, Request{Kind: Temp, From: top, Job: "k", In: l.source("git/built", nil)})
	scan, _ := l.scanned(m, "shop")
	for name, w := range map[string]Workspace{"plain": plain, "git": of} {
		if s := scan[name]; s.Removable || !strings.Contains(s.Why, w.Name) {
			t.Errorf("%s: %+v", name, s)
		}
		for _, q := range []Removal{{DryRun: true}, {}, {Force: true}, {Force: true, DryRun: true}} {
			out, err := m.RemoveStale(t.Context(), l.path(name), q)
			if !errors.Is(err, ErrState) || !strings.Contains(out.Why, w.Name) || !isDir(w.Path) {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		}
	}
}

// What scan says and what rm does are one.
func TestScanOfALinkInTheWay(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	top := l.shop()
	at := filepath.Join(top, ".claude", "worktrees", "clean")
	if err := os.Rename(at, l.path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(l.path("moved"), at); err != nil {
		t.Fatal(err)
	}
	scan, _ := l.scanned(m, "projects")
	if s := scan["clean"]; s.Removable || !strings.Contains(s.Why, "link") {
		t.Errorf("%+v", s)
	}
}

// Whoever comes while a worktree is looked at is seen, and so is what is committed.
func TestRemoveStaleThatChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(l *lab, path string)
		want      error
	}{
		"used":     {func(l *lab, path string) { l.works(path, inuse.Process{PID: 7, Name: "node", How: "works in it"}) }, ErrInUse},
		"commit":   {func(l *lab, path string) { git(l.t, path, "commit", "--quiet", "--allow-empty", "--message=late") }, ErrState},
		"locked":   {func(l *lab, path string) { git(l.t, path, "worktree", "lock", path) }, ErrState},
		"detached": {func(l *lab, path string) { git(l.t, path, "checkout", "--quiet", "--detach") }, ErrState},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			top := l.shop()
			path := filepath.Join(top, ".claude", "worktrees", "clean")
			looks := 0
			m := l.manager(func(o *Options) {
				o.InUse = func(ctx context.Context, dir string) ([]inuse.Process, error) {
					if looks++; looks == 1 {
						defer test.meanwhile(l, path)
					}
					return l.inUse(ctx, dir)
				}
			})
			out, err := m.RemoveStale(t.Context(), path, Removal{Force: true})
			if !errors.Is(err, test.want) || out.Done || out.Why == "" || out.Freed != 0 || !isDir(path) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

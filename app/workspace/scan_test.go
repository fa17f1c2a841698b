package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/inuse"
)

// scanned scans a directory of the lab; what is found is by the base of its path.
func (l *lab) scanned(m *Manager, dirs ...string) (map[string]Stale, Scanned) {
	l.t.Helper()
	for i := range dirs {
		dirs[i] = l.path(dirs[i])
	}
	result, err := m.scan(l.t.Context(), dirs, []string{l.path("tmp"), l.path("none")}, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	found := map[string]Stale{}
	for _, s := range result.Worktrees {
		found[filepath.Base(s.Path)] = s
	}
	return found, result
}

// shop is a repository with worktrees in all states.
func (l *lab) shop() string {
	l.t.Helper()
	top := l.repository("projects/deep/shop", map[string]string{"a": "a", "b": "b", ".gitignore": "built\n.claude\n"})
	add := func(path, branch string) string {
		path = filepath.Join(top, filepath.FromSlash(path))
		git(l.t, top, "worktree", "add", "--quiet", "-b", branch, path)
		return path
	}
	add(".claude/worktrees/clean", "worktree-clean")
	write(l.t, add("../dirty", "dirty"), map[string]string{"new": "x", "a": "changed"})
	git(l.t, add("../../../tmp/ahead", "codex/ahead"), "commit", "--quiet", "--allow-empty", "--message=mine")
	write(l.t, add("../large", "large"), map[string]string{"built/large": strings.Repeat("x", 1<<20)})
	git(l.t, top, "worktree", "lock", "--reason=on a stick", add("../locked", "locked"))
	if err := os.RemoveAll(add("../../../away/missing", "missing")); err != nil {
		l.t.Fatal(err)
	}
	detached := add("../detached", "was")
	git(l.t, detached, "checkout", "--quiet", "--detach")
	git(l.t, detached, "commit", "--quiet", "--allow-empty", "--message=loose")
	return top
}

func TestScan(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	top := l.shop()
	l.set(func(now *Stamp) { now.Wall = time.Now().Add(48 * time.Hour) })
	l.works(l.path("projects/deep/large"), inuse.Process{PID: 7, Name: "node", How: "works in it"})
	before := content(t, l.path("projects"))
	found, result := l.scanned(m, "projects")
	if len(result.Worktrees) != 7 || len(result.Problems) > 0 {
		t.Fatalf("%+v", result)
	}
	if got := content(t, l.path("projects")); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Error("scanning has changed something")
	}
	for name, want := range map[string]Stale{
		"clean":    {Branch: "worktree-clean", MadeBy: "Claude Code", Merged: true, Removable: true},
		"dirty":    {Branch: "dirty", Merged: true, Dirty: true},
		"ahead":    {Branch: "codex/ahead", MadeBy: "Codex"},
		"large":    {Branch: "large", Merged: true},
		"locked":   {Branch: "locked", Merged: true, Locked: true, LockedWhy: "on a stick"},
		"missing":  {Branch: "missing", Merged: true, Missing: true, Removable: true},
		"detached": {},
	} {
		s := found[name]
		if s.Branch != want.Branch || s.MadeBy != want.MadeBy || s.Merged != want.Merged || s.Dirty != want.Dirty ||
			s.Locked != want.Locked || s.LockedWhy != want.LockedWhy || s.Missing != want.Missing || s.Removable != want.Removable {
			t.Errorf("%s: %+v", name, s)
		}
		if s.Project != "shop" || s.Repository != filepath.Join(top, ".git") || s.Pushed || s.Head == "" || s.Why == "" || s.WorkspaceID != "" || s.InUse == nil {
			t.Errorf("%s: %+v", name, s)
		}
		if age := time.Since(s.UsedAt); age < 0 || age > time.Hour {
			t.Errorf("%s was used %v ago", name, age)
		}
		if (s.SizeBytes > 0) == want.Missing {
			t.Errorf("%s has %d bytes", name, s.SizeBytes)
		}
	}
	if s := result.Worktrees[0]; filepath.Base(s.Path) != "large" || s.SizeBytes < 1<<20 || len(s.InUse) != 1 || !strings.Contains(s.Why, "node") {
		t.Errorf("%+v", s)
	}
	if s := found["ahead"]; len(s.Loss.Commits) != 1 || !strings.Contains(s.Why, "mine") {
		t.Errorf("%+v", s)
	}
	if s := found["detached"]; len(s.Loss.Commits) != 1 {
		t.Errorf("%+v", s)
	}
	// From inside a worktree all of its repository are found, and once each.
	inside, _ := l.scanned(m, "tmp/ahead", "projects/deep/shop/.claude/worktrees")
	if len(inside) != 7 {
		t.Errorf("%+v", inside)
	}
}

func TestScanOfBareAndOthers(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	shop := l.repository("shop", map[string]string{"a": "a"})
	git(t, shop, "clone", "--quiet", "--bare", shop, l.path("all/shop.git"))
	git(t, l.path("all/shop.git"), "worktree", "add", "--quiet", "-b", "x", l.path("tmp/of bare"))
	write(t, l.path("all"), map[string]string{
		"loop/again":             "-> ..",
		"node_modules/x/.git":    "gitdir: /nowhere\n",
		"orphan/.git":            "gitdir: " + l.path("gone/.git/worktrees/orphan") + "\n",
		"odd/.git":               "nothing\n",
		"empty repository/.git/": "",
	})
	// A tree that git has forgotten, where temporary files are.
	git(t, l.path("all/shop.git"), "worktree", "add", "--quiet", "-b", "y", l.path("tmp/forgotten"))
	admin, err := gitwork.Leads(l.path("tmp/forgotten"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(admin); err != nil {
		t.Fatal(err)
	}
	write(t, l.path("tmp"), map[string]string{"somebody else's/.git": "gitdir: /nowhere/.git/worktrees/x\n"})
	found, result := l.scanned(m, "all")
	if len(found) != 2 || !found["of bare"].Removable {
		t.Errorf("%+v", result)
	}
	if s := found["forgotten"]; s.Removable || s.Loss.Unknown == "" || s.SizeBytes == 0 || s.Project != "shop" {
		t.Errorf("%+v", s)
	}
	if len(result.Problems) != 2 || !strings.Contains(result.Problems[0], "odd") || !strings.Contains(result.Problems[1], "orphan") {
		t.Errorf("%q", result.Problems)
	}
	if _, err := m.RemoveStale(t.Context(), l.path("tmp/forgotten"), Removal{Force: true}); !errors.Is(err, ErrBadRequest) {
		t.Error(err)
	}
	if len(content(t, l.path("tmp/forgotten"))) == 0 {
		t.Error("it was removed")
	}
}

func TestScanOfNothing(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	write(t, l.dir, map[string]string{"file": "", "dir/sub/": ""})
	if _, err := m.Scan(t.Context(), nil, nil); !errors.Is(err, ErrBadRequest) {
		t.Error(err)
	}
	if result, err := m.Scan(t.Context(), []string{l.path("nowhere"), l.path("file")}, nil); !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), "nowhere") || len(result.Problems) != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	_, result := l.scanned(m, "dir", "nowhere", "file")
	if len(result.Problems) != 2 || result.Worktrees == nil || len(result.Worktrees) > 0 {
		t.Errorf("%+v", result)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Scan(ctx, []string{l.path("dir")}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	t.Setenv("PATH", l.path("dir"))
	if _, err := m.Scan(t.Context(), []string{l.path("dir")}, nil); !errors.Is(err, gitwork.ErrNoGit) {
		t.Error(err)
	}
}

func TestScanGivenUp(t *testing.T) {
	l := newLab(t)
	l.shop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found := 0
	_, err := l.manager(nil).scan(ctx, []string{l.path("projects")}, nil, func(n int, at string) {
		if found = n; n > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || found == 0 {
		t.Error(found, err)
	}
}

// What is bounded is said, and what is near was looked at.
func TestEachDir(t *testing.T) {
	l := newLab(t)
	files := map[string]string{"near/.git/x": "", "near/node_modules/x": ""}
	for i := range 20 {
		files[fmt.Sprintf("a/b/%d/c/d/", i)] = ""
	}
	write(t, l.path("top"), files)
	walk := func(depth, most int) (seen []string, left int) {
		left = most
		err := eachDir(t.Context(), l.path("top"), depth, &left, t.Errorf, func(path string, _ []os.DirEntry) error {
			name, err := filepath.Rel(l.path("top"), path)
			seen = append(seen, filepath.ToSlash(name))
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return seen, left
	}
	if seen, _ := walk(1, 100); !slices.Equal(seen, []string{".", "a", "near"}) {
		t.Errorf("%q", seen)
	}
	if seen, left := walk(8, 100); len(seen) != 64 || left != 36 {
		t.Errorf("%d, %d left", len(seen), left)
	}
	if seen, left := walk(8, 10); len(seen) != 10 || left >= 0 || !slices.Contains(seen, "near") {
		t.Errorf("%q, %d left", seen, left)
	}
}

func TestRemoveStale(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	top := l.shop()
	l.works(l.path("projects/deep/large"), inuse.Process{PID: 7, Name: "node", How: "works in it"})
	for _, test := range []struct {
		path string
		want error
	}{
		{"projects/deep/dirty", ErrLoss}, {"tmp/ahead", ErrLoss}, {"projects/deep/detached", ErrLoss}, {"projects/deep/large", ErrInUse},
		{"projects/deep/locked", ErrState}, {"projects/deep/shop", ErrBadRequest}, {"projects/deep/shop/.git", ErrBadRequest},
		{"projects/deep/dirty/a", ErrBadRequest}, {"projects/deep", ErrBadRequest}, {"nowhere", ErrBadRequest}, {"away/missing", ErrBadRequest},
	} {
		for _, dry := range []bool{true, false} {
			out, err := m.RemoveStale(t.Context(), l.path(test.path), Removal{DryRun: dry})
			if !errors.Is(err, test.want) || out.Done {
				t.Errorf("%s: %+v, %v", test.path, out, err)
			}
			if test.want != ErrBadRequest && (out.Why == "" || out.Loss == nil || out.DryRun != dry || out.Workspace.Path != l.path(test.path)) {
				t.Errorf("%s: %+v", test.path, out)
			}
		}
	}
	for _, path := range []string{"projects/deep/large", "projects/deep/locked", "projects/deep/shop"} {
		if out, err := m.RemoveStale(t.Context(), l.path(path), Removal{Force: true}); err == nil || out.Done {
			t.Errorf("%s: %+v", path, out)
		}
	}
	clean := filepath.Join(top, ".claude", "worktrees", "clean")
	out, err := m.RemoveStale(t.Context(), clean, Removal{DryRun: true})
	if err != nil || out.Done || out.What != "would be removed" || out.Freed <= 0 || !strings.Contains(out.Kept, "worktree-clean") || !isDir(clean) {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = m.RemoveStale(t.Context(), clean, Removal{})
	if err != nil || !out.Done || out.What != "removed" || out.Freed <= 0 || !strings.Contains(out.Kept, "worktree-clean") || isDir(clean) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, path := range []string{"projects/deep/dirty", "tmp/ahead"} {
		if out, err := m.RemoveStale(t.Context(), l.path(path), Removal{Force: true}); err != nil || !out.Done || isDir(l.path(path)) {
			t.Errorf("%s: %+v, %v", path, out, err)
		}
	}
	// Where it was is known once it has been found.
	l.scanned(m, "projects")
	if out, err := m.RemoveStale(t.Context(), l.path("away/missing"), Removal{}); err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	left, _ := l.scanned(m, "projects")
	if len(left) != 3 || left["large"].Path == "" || left["locked"].Path == "" || left["detached"].Path == "" {
		t.Errorf("%+v", left)
	}
	if got := git(t, top, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"); got != "codex/ahead\ndirty\nlarge\nlocked\nmain\nmissing\nwas\nworktree-clean" {
		t.Error(got)
	}
}

// Commits that are on no branch get one, also by force.
func TestRemoveStaleDetached(t *testing.T) {
	t.Parallel()
	for _, missing := range []bool{false, true} {
		l := newLab(t)
		m := l.manager(nil)
		top := l.shop()
		path := l.path("projects/deep/detached")
		head := git(t, path, "rev-parse", "HEAD")
		if missing {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			l.scanned(m, "projects")
		}
		if _, err := m.RemoveStale(t.Context(), path, Removal{}); !errors.Is(err, ErrLoss) {
			t.Error(err)
		}
		out, err := m.RemoveStale(t.Context(), path, Removal{Force: true})
		if err != nil || !out.Done || isDir(path) {
			t.Errorf("%+v, %v", out, err)
		}
		branch := strings.TrimPrefix(out.Kept, "its commits, on the new branch ")
		if got := git(t, top, "rev-parse", "--verify", "refs/heads/"+branch); got != head {
			t.Errorf("%+v", out)
		}
	}
}

// One with submodules git removes only when it is forced to.
func TestRemoveStaleWithSubmodules(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	lib := l.repository("lib", map[string]string{"lib": "x"})
	top := l.repository("shop", map[string]string{"a": "a"})
	git(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	git(t, top, "commit", "--quiet", "--message=with a library")
	for _, name := range []string{"clean", "work"} {
		path := l.path(name)
		git(t, top, "worktree", "add", "--quiet", "-b", name, path)
		git(t, path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	}
	git(t, l.path("work/lib"), "commit", "--quiet", "--allow-empty", "--message=mine")
	git(t, l.path("work/lib"), "branch", "mine")
	git(t, l.path("work"), "submodule", "--quiet", "update")
	if out, err := m.RemoveStale(t.Context(), l.path("clean"), Removal{}); err != nil || !out.Done || isDir(l.path("clean")) {
		t.Errorf("%+v, %v", out, err)
	}
	out, err := m.RemoveStale(t.Context(), l.path("work"), Removal{})
	if !errors.Is(err, ErrLoss) || len(out.Loss.Submodules) != 1 || !isDir(l.path("work")) {
		t.Errorf("%+v, %v", out, err)
	}
}

// Ours is removed as any of ours, wherever it is found.
func TestRemoveStaleOfOurs(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	top := l.repository("projects/shop", map[string]string{"a": "a"})
	w := l.create(m, Request{From: top, Kind: Temp, Job: "fix it", In: l.source("in", nil)})
	found, _ := l.scanned(m, "projects")
	if s := found[w.Name]; s.WorkspaceID != w.ID || s.MadeBy != "lamplighter" || s.Removable || !strings.Contains(s.Why, "fix it") {
		t.Errorf("%+v", s)
	}
	write(t, w.Path, map[string]string{"new": "x"})
	if _, err := m.RemoveStale(t.Context(), w.Path, Removal{}); !errors.Is(err, ErrLoss) {
		t.Error(err)
	}
	out, err := m.RemoveStale(t.Context(), w.Path, Removal{Force: true})
	if err != nil || !out.Done || out.Workspace.ID != w.ID || isDir(w.Path) {
		t.Errorf("%+v, %v", out, err)
	}
	if found, _ := l.scanned(m, "projects"); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// A link in the place of a worktree is not followed.
func TestRemoveStaleThroughALink(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	top := l.shop()
	link := l.path("link")
	if err := os.Symlink(filepath.Join(top, ".claude", "worktrees", "clean"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := m.RemoveStale(t.Context(), link, Removal{Force: true}); !errors.Is(err, ErrBadRequest) {
		t.Error(err)
	}
	if !isDir(filepath.Join(top, ".claude", "worktrees", "clean")) {
		t.Error("it was removed")
	}
}

package workspace

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What somebody else puts where a restore works stays, whatever becomes of that.
func TestRestoreLeavesWhatIsNotOurs(t *testing.T) {
	theirs := map[string]string{"theirs": "x"}
	for _, c := range []struct {
		point   string
		version int
		places  []string // beside the tree
		crash   bool
		ended   bool
	}{
		{"put: step", 1, []string{partSuffix, trashSuffix}, false, false},
		{"put: step", 1, []string{partSuffix, trashSuffix}, true, false},
		{"put: filled", 1, []string{trashSuffix}, false, false},
		{"put: filled", 1, []string{trashSuffix}, true, false},
		{"restore: step", 1, []string{partSuffix}, false, true},
		{"restore: step", 1, []string{partSuffix}, true, true},
	} {
		l := newLab(t)
		m := l.manager(nil)
		w := l.create(m, Request{Kind: Hybrid, From: l.source("from", map[string]string{"a": "a"})})
		l.keeps(m, w, "one")
		if c.ended {
			l.ends(m, w)
		}
		before, came := content(t, w.Path), false
		m.crash = func(at string) {
			if at != c.point {
				return
			}
			came = true
			for _, suffix := range c.places {
				write(t, beside(w.Path, suffix), theirs)
			}
			if c.crash {
				panic(crash{at})
			}
		}
		crashed := interrupted(func() {
			if _, err := m.Restore(t.Context(), w.ID, c.version, nil); err == nil {
				t.Errorf("%+v: it is restored", c)
			}
		})
		m = l.manager(nil)
		if err := m.Recover(t.Context()); err != nil || crashed != c.crash || !came {
			t.Errorf("%+v: %v", c, err)
		}
		for _, suffix := range c.places {
			if got := content(t, beside(w.Path, suffix)); !maps.Equal(got, theirs) {
				t.Errorf("%+v: at %s there is %q", c, suffix, got)
			}
			if err := os.RemoveAll(beside(w.Path, suffix)); err != nil {
				t.Error(err)
			}
		}
		if got := content(t, w.Path); !maps.Equal(got, before) {
			t.Errorf("%+v: %q", c, got)
		}
		l.sound(m)
		l.restores(m, w, c.version)
	}
}

// What lies where the tree is to be set aside does not keep an archive from being
// taken back.
func TestArchiveMeetsWhatIsNotOurs(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	trash := beside(w.Path, trashSuffix)
	m.crash = func(at string) {
		if at == "archive: written down" {
			write(t, trash, map[string]string{"theirs": "x"})
		}
	}
	if _, err := m.Archive(t.Context(), w.ID, nil); err == nil {
		t.Error("it is archived")
	}
	m.crash = nil
	if got := content(t, trash); got["theirs"] != "x" {
		t.Errorf("%q", got)
	}
	if err := os.RemoveAll(trash); err != nil {
		t.Fatal(err)
	}
	l.sound(m)
	l.archives(m, w)
}

// The commits of submodules are in the archive alone: they stay somewhere.
func TestSubmodulesWithoutTheirWorktree(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(t *testing.T, m *Manager, repo string){
		"its repository is away": func(t *testing.T, _ *Manager, repo string) {
			if err := os.Rename(repo, repo+"-away"); err != nil {
				t.Fatal(err)
			}
		},
		"something is in the way": func(t *testing.T, m *Manager, repo string) {
			m.crash = func(at string) {
				if at != "restore: modules" {
					return
				}
				admins, err := filepath.Glob(filepath.Join(repo, ".git", "worktrees", "*"))
				if err != nil || len(admins) != 1 {
					t.Errorf("%q, %v", admins, err)
				}
				write(t, filepath.Join(admins[0], packedModules), nil)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			repo, w, _, head := l.submodule(m)
			l.archives(m, w)
			hinder(t, m, repo)
			b := l.restores(m, w, 0)
			m.crash = nil
			kept := m.store.path(dataDir, w.ID, keptModules)
			if !strings.Contains(b.Problem, kept) {
				t.Errorf("%q", b.Problem)
			}
			if _, err := os.Lstat(filepath.Join(kept, "lib", "objects", head[:2], head[2:])); err != nil {
				t.Error(err)
			}
		})
	}
}

// What was not committed in a temporary worktree is not lost because its repository
// has gone.
func TestPlainTempIsKept(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Temp, From: repo})
	write(t, w.Path, map[string]string{"work": "hours"})
	l.archives(m, w)
	if err := os.Rename(repo, repo+"-away"); err != nil {
		t.Fatal(err)
	}
	b := l.restores(m, w, 0)
	if b.Kind != Persistent || b.Cleanup != ByHand || !strings.Contains(b.Problem, "without git") {
		t.Errorf("%+v", b)
	}
	l.passes(1000 * time.Hour)
	if _, err := m.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) {
		t.Errorf("removed without force: %v", err)
	}
	if got := content(t, w.Path); got["work"] != "hours" {
		t.Errorf("%q", got)
	}
	l.keeps(m, w, "it can be kept now")
}

// A tree that somebody has removed is made again from a version.
func TestRestoreWhatWasRemoved(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(func(o *Options) { o.Limit = 1 })
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{From: repo})
	remove := func() {
		t.Helper()
		if err := os.RemoveAll(w.Path); err != nil {
			t.Fatal(err)
		}
	}
	write(t, w.Path, map[string]string{"b": "b"})
	one := content(t, w.Path)
	l.keeps(m, w, "one")
	write(t, w.Path, map[string]string{"c": "c"})
	two := content(t, w.Path)
	l.keeps(m, w, "two")
	git(t, w.Path, "checkout", "--quiet", "--detach")
	git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=detached")
	head := git(t, w.Path, "rev-parse", "HEAD")
	for version, want := range map[int]map[string]string{0: two, 1: one, 2: two} {
		remove()
		if b := l.restores(m, w, version); b.State != Ready || b.Path != w.Path {
			t.Errorf("%d: %+v", version, b)
		}
		if got := content(t, w.Path); !maps.Equal(got, want) {
			t.Errorf("%d: %q", version, got)
		}
		l.sound(m)
	}
	if got := git(t, repo, "for-each-ref", "--contains="+head, "--format=%(refname)"); got == "" {
		t.Error("what was committed in it is on no branch")
	}
	if got := git(t, w.Path, "status", "--porcelain"); got != "?? b\n?? c" && got != "?? b" {
		t.Errorf("%q", got)
	}
	remove()
	if _, err := m.Restore(t.Context(), w.ID, 3, nil); !errors.Is(err, ErrBadRequest) {
		t.Error(err)
	}
	staging := beside(w.Path, partSuffix) // it fails, and the tree may come back
	write(t, staging, map[string]string{"theirs": "x"})
	if _, err := m.Restore(t.Context(), w.ID, 1, nil); !errors.Is(err, ErrState) || l.record(m, w.ID).State != Ready || l.record(m, w.ID).Root == "" {
		t.Errorf("%v, %+v", err, l.record(m, w.ID))
	}
	if err := os.RemoveAll(staging); err != nil {
		t.Fatal(err)
	}
	l.restores(m, w, 1)
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Fatal(err)
	}
	temp := l.create(m, Request{Kind: Temp})
	if err := os.RemoveAll(temp.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Restore(t.Context(), temp.ID, 0, nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "no version") {
		t.Error(err)
	}
}

// What was interrupted is finished by whoever asks for it again, who is told that it
// is done.
func TestAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		verb, point string
		want        State
	}{
		{"archive", "archive: in place", Archived},
		{"archive", "archive: decided", Archived},
		{"restore", "restore: filled", Ready},
		{"restore", "restore: in place", Ready},
		{"restore", "restore: written down", Ready},
		{"back", "archive: written down", Ready}, // of one that is listed as archived
	} {
		l := newLab(t)
		m := l.manager(nil)
		w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
		before := content(t, w.Path)
		do := func(m *Manager) error { _, err := m.Archive(t.Context(), w.ID, nil); return err }
		again := do
		if c.verb != "archive" {
			again = func(m *Manager) error { _, err := m.Restore(t.Context(), w.ID, 0, nil); return err }
		}
		if c.verb == "restore" {
			l.archives(m, w)
			do = again
		}
		m.crash = func(at string) {
			if at == c.point {
				panic(crash{at})
			}
		}
		if !interrupted(func() { _ = do(m) }) {
			t.Errorf("%+v: it did not come there", c)
		}
		m = l.manager(nil)
		if err := again(m); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if r := l.record(m, w.ID); r.State != c.want {
			t.Errorf("%+v: it is %s", c, r.State)
		}
		if got := content(t, w.Path); c.want == Ready && !maps.Equal(got, before) {
			t.Errorf("%+v: %q", c, got)
		}
		l.sound(m)
	}
}

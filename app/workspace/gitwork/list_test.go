package gitwork

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestList(t *testing.T) {
	r := repository(t)
	head := run(t, r.Top, "rev-parse", "HEAD")
	add(t, r, "locked", "a")
	run(t, r.Top, "worktree", "lock", "--reason", "on a stick", "../locked")
	add(t, r, "missing", "b")
	run(t, r.Top, "worktree", "add", "-q", "--detach", "../detached")
	add(t, r, "bare of git", "c")
	add(t, r, "unborn", "d")
	run(t, filepath.Join(r.Top, "..", "unborn"), "checkout", "-q", "--orphan", "new")
	for _, name := range []string{"missing", "bare of git/.git"} {
		if err := os.RemoveAll(filepath.Join(r.Top, "..", name)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 6 || !list[0].Main || list[0].Path != r.Top || list[0].Admin != r.Common || list[0].Branch != "main" {
		t.Fatalf("%+v", list)
	}
	for _, w := range list[1:] {
		name := filepath.Base(w.Path)
		if w.Main || filepath.Dir(w.Admin) != filepath.Join(r.Common, "worktrees") {
			t.Errorf("%+v", w)
		}
		if w.Locked != (name == "locked") || w.Locked && w.LockedWhy != "on a stick" {
			t.Errorf("%+v", w)
		}
		if (w.Prunable != "") != (name == "missing" || name == "bare of git") {
			t.Errorf("%+v", w)
		}
		if want := map[string]string{"locked": "a", "missing": "b", "bare of git": "c", "unborn": "new"}[name]; w.Branch != want {
			t.Errorf("%+v", w)
		}
		if (w.Head == head) != (name != "unborn") || name == "unborn" && w.Head != "" {
			t.Errorf("%+v", w)
		}
	}
}

func TestParseList(t *testing.T) {
	head := strings.Repeat("a", 40)
	want := []Worktree{
		{Path: filepath.FromSlash("/r/one"), Head: head, Branch: "main"},
		{Path: filepath.FromSlash("/r/two words"), Head: head, Prunable: "gone away"},
		{Path: filepath.FromSlash("/r/new"), Branch: "b/c", Prunable: "git does not say why"},
		{Path: filepath.FromSlash("/r/bare"), Bare: true},
	}
	lines := []string{
		"worktree /r/one", "HEAD " + head, "branch refs/heads/main", "",
		"worktree /r/two words", "HEAD " + head, "detached", "prunable gone away", "what is new", "",
		"worktree /r/new", "HEAD " + noHash(head), "branch refs/heads/b/c", "locked", "prunable", "",
		"worktree /r/bare", "bare", "", "",
	}
	for _, end := range []string{"\x00", "\n"} {
		if got := parseList(strings.Join(lines, end), end); !slices.Equal(got, want) {
			t.Errorf("%q: %+v", end, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("worktree /r/one\x00HEAD " + strings.Repeat("a", 40) + "\x00branch refs/heads/main\x00\x00worktree /r/two\x00bare\x00\x00")
	f.Add("# branch.oid x\x001 .M N... 100644 100644 100644 a b c d\x00? x\x002 R. N... 1 2 3 a b R100 new\x00old\x00u UU N... 1 2 3 4 a b c p\x00! i\x00")
	f.Add("100644 a 0\tx\x00160000 b 0\tlib\x00160000 b 1\t../out\x00")
	f.Fuzz(func(t *testing.T, text string) {
		for _, end := range []string{"\x00", "\n"} {
			for _, w := range parseList(text, end) {
				if w.Path == "" || w.Head != "" && !isHash(w.Head) || w.Main || w.Locked {
					t.Errorf("%+v", w)
				}
			}
		}
		for _, path := range parseStatus(text) {
			if path == "" || strings.Contains(path, "\x00") || !strings.Contains(text, path) {
				t.Errorf("%q", path)
			}
		}
		for _, path := range parseLinks(text) {
			if !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q", path)
			}
		}
	})
}

func TestParseStatus(t *testing.T) {
	text := "# branch.oid x\x00# stash 2\x001 .M N... 100644 100644 100644 a b changed file\x00" +
		"2 R. N... 100644 100644 100644 a b R100 new name\x00? old name\x00u UU N... 1 2 3 4 a b c both\x00? un\ntracked\x00! ignored\x00? -\xff\x00"
	want := []string{"changed file", "new name", "both", "un\ntracked", "-\xff"}
	if got := parseStatus(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestForget(t *testing.T) {
	r := repository(t)
	w, other := add(t, r, "tree", "x"), add(t, r, "other", "y")
	run(t, r.Top, "worktree", "lock", w.Path)
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing
		if err := r.Forget(t.Context(), w.Admin, w.Path); err != nil {
			t.Error(err)
		}
	}
	gone(t, w.Admin)
	if got := trees(t, r); !slices.Equal(got, []string{"other"}) {
		t.Error(got)
	}
	// Also by its path alone, and with its tree, which stays.
	if err := r.Forget(t.Context(), "", other.Path); err != nil {
		t.Error(err)
	}
	if err := r.Forget(t.Context(), "", other.Path); err != nil {
		t.Error(err)
	}
	gone(t, filepath.Join(r.Common, "worktrees"))
	if _, err := os.Stat(filepath.Join(other.Path, "read me.txt")); err != nil {
		t.Error(err)
	}
	if got := branches(t, r); !slices.Equal(got, []string{"main", "x", "y"}) {
		t.Error(got)
	}
}

func TestForgetAnothers(t *testing.T) {
	r, far := repository(t), repository(t)
	w, theirs := add(t, r, "tree", "x"), add(t, far, "theirs", "x")
	// Its name has become another worktree's.
	if err := r.Forget(t.Context(), w.Admin, w.Path+"2"); err != nil {
		t.Error(err)
	}
	outside := filepath.Join(temp(t), "outside")
	write(t, filepath.Join(outside, "gitdir"), filepath.Join(w.Path, ".git")+"\n")
	for _, admin := range []string{
		theirs.Admin, outside, r.Common, r.Top, filepath.Join(r.Common, "worktrees"), filepath.Join(r.Common, "refs"),
		filepath.Join(w.Admin, "logs"), w.Admin + "/..", "worktrees/tree",
	} {
		if err := r.Forget(t.Context(), admin, w.Path); err == nil {
			t.Errorf("%s was forgotten", admin)
		}
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(r.Common, "worktrees", "link")
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		if err := r.Forget(t.Context(), link, w.Path); err == nil {
			t.Error("a link was followed")
		}
	}
	for _, path := range []string{filepath.Join(outside, "gitdir"), filepath.Join(theirs.Admin, "HEAD"), filepath.Join(r.Common, "HEAD")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if s := status(t, r, w); len(s.Uncommitted) > 0 {
		t.Errorf("%+v", s)
	}
}

// What a crash leaves of forgetting is forgotten the next time.
func TestForgetHalfForgotten(t *testing.T) {
	for _, left := range [][]string{{"gitdir"}, {}, {"gitdir", "HEAD"}} {
		r := repository(t)
		w := add(t, r, "tree", "x")
		entries, err := os.ReadDir(w.Admin)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if slices.Contains(left, entry.Name()) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(w.Admin, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
		if len(left) == 0 { // as one is that git has just made for somebody else
			if err := r.Forget(t.Context(), w.Admin, w.Path); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(w.Admin); err != nil {
				t.Error(err)
			}
			before := time.Now().Add(-2 * newTime)
			if err := os.Chtimes(w.Admin, before, before); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Forget(t.Context(), w.Admin, w.Path); err != nil {
			t.Error(left, err)
		}
		gone(t, w.Admin)
		if _, err := r.List(t.Context()); err != nil {
			t.Error(left, err)
		}
	}
}

package gitwork

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNested(t *testing.T) {
	r := repository(t)
	w := add(t, r, "outer", "outer")
	for path, text := range map[string]string{
		"ignored/odd/.git":        "nothing\n",
		"ignored/deep/a/b/c/file": "x",
		"plain/file":              "x",
	} {
		write(t, filepath.Join(w.Path, filepath.FromSlash(path)), text)
	}
	run(t, w.Path, "worktree", "add", "-q", "-b", "inner", "ignored/inner")
	run(t, w.Path, "init", "-q", "ignored/deep/own")
	if err := os.Symlink(r.Top, filepath.Join(w.Path, "ignored", "link")); err != nil {
		t.Fatal(err)
	}
	found, err := Nested(t.Context(), w.Path)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range []string{"ignored/deep/own", "ignored/inner", "ignored/odd"} {
		want = append(want, filepath.Join(w.Path, filepath.FromSlash(path)))
	}
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	if found, err = Nested(t.Context(), filepath.Join(w.Path, "plain")); err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
	if _, err = Nested(t.Context(), filepath.Join(w.Path, "none")); err == nil {
		t.Error("it has looked at nothing")
	}
}

func TestNestedSubmodules(t *testing.T) {
	library, r := repository(t), repository(t)
	run(t, r.Top, "submodule", "add", "-q", library.Top, "lib")
	commit(t, r.Top, "a submodule")
	w := add(t, r, "outer", "outer")
	run(t, w.Path, "submodule", "update", "-q", "--init")
	found, err := Nested(t.Context(), w.Path)
	if err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
	// What lies in it counts, and so does what only looks like a submodule.
	inner := filepath.Join(w.Path, "lib", "ignored", "own")
	run(t, filepath.Join(w.Path, "lib"), "init", "-q", inner)
	if found, err = Nested(t.Context(), w.Path); err != nil || !slices.Equal(found, []string{inner}) {
		t.Errorf("%q %v", found, err)
	}
	lib := filepath.Join(w.Path, "lib")
	if err := os.RemoveAll(lib); err != nil {
		t.Fatal(err)
	}
	run(t, w.Path, "init", "-q", lib)
	if found, err = Nested(t.Context(), w.Path); err != nil || !slices.Equal(found, []string{lib}) {
		t.Errorf("%q %v", found, err)
	}
}

func TestNestedIsBounded(t *testing.T) {
	dir := temp(t)
	write(t, filepath.Join(dir, "a", "b"), "x")
	n := &nester{left: 1}
	if err := n.tree(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "more than 200000") {
		t.Error(err)
	}
}

func TestWork(t *testing.T) {
	r := repository(t)
	dir := filepath.Dir(r.Top)
	clone := func(name string) string {
		path := filepath.Join(dir, name)
		run(t, dir, "clone", "-q", r.Top, path)
		return path
	}
	clean, dirty, ahead, branch, stash, others := clone("clean"), clone("dirty"), clone("ahead"), clone("branch"), clone("stash"), clone("others")
	write(t, filepath.Join(dirty, "new"), "x")
	commit(t, ahead, "mine")
	run(t, branch, "checkout", "-q", "-b", "side")
	commit(t, branch, "mine")
	run(t, branch, "checkout", "-q", "main")
	write(t, filepath.Join(stash, "read me.txt"), "x")
	run(t, stash, "stash", "-q")
	run(t, others, "worktree", "add", "-q", "-b", "x", filepath.Join(dir, "of others"))
	tree, changed, detached, own := add(t, r, "tree", "tree"), add(t, r, "changed", "changed"), add(t, r, "detached", "detached"), filepath.Join(dir, "own")
	write(t, filepath.Join(changed.Path, "new"), "x")
	run(t, detached.Path, "checkout", "-q", "--detach")
	commit(t, detached.Path, "mine")
	run(t, dir, "init", "-q", own)
	commit(t, own, "never pushed")
	locked := add(t, r, "locked", "locked")
	run(t, r.Top, "worktree", "lock", locked.Path)
	for path, want := range map[string]string{
		locked.Path: "lock", clean: "", dirty: "changes", ahead: "commits", branch: "commits", stash: "commits", others: "worktrees", own: "commits",
		tree.Path: "", changed.Path: "not committed", detached.Path: "no other branch",
	} {
		words, err := Work(t.Context(), path)
		if err != nil || (words == "") != (want == "") || !strings.Contains(words, want) {
			t.Errorf("%s: %q, %v", path, words, err)
		}
	}
	write(t, filepath.Join(dir, "odd", ".git"), "nothing\n")
	write(t, filepath.Join(dir, "lost", ".git"), "gitdir: /nowhere/.git/worktrees/x\n")
	write(t, filepath.Join(dir, "empty", ".git", "x"), "")
	for _, name := range []string{"odd", "lost", "empty", "none"} {
		if words, err := Work(t.Context(), filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: %q", name, words)
		}
	}
}

package gitwork

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestDropBranch(t *testing.T) {
	r := repository(t)
	run(t, r.Top, "checkout", "-q", "-b", "mine")
	tip := commit(t, r.Top, "mine")
	run(t, r.Top, "branch", "same")
	run(t, r.Top, "checkout", "-q", "main")
	run(t, r.Top, "branch", "a(b)")
	run(t, r.Top, "branch", "old")
	run(t, r.Top, "symbolic-ref", "refs/heads/alias", "refs/heads/same")
	drop := func(branch string, want bool) {
		t.Helper()
		if got, err := r.DropBranch(t.Context(), branch); err != nil || got != want {
			t.Errorf("%s: %v, %v", branch, got, err)
		}
	}
	drop("old", true)
	drop("old", true) // it is gone
	drop("a(b)", true)
	drop("main", false) // checked out
	drop("mine", true)  // "same" has its commits
	run(t, r.Top, "symbolic-ref", "-d", "refs/heads/alias")
	drop("same", false)
	run(t, r.Top, "tag", "kept", tip)
	drop("same", true)
	run(t, r.Top, "branch", "same", "kept")
	run(t, r.Top, "tag", "-d", "kept")
	drop("same", false)
	run(t, r.Top, "update-ref", "refs/remotes/origin/same", tip)
	drop("same", true)
	w := add(t, r, "tree", "elsewhere")
	drop("elsewhere", false)
	if err := r.Remove(t.Context(), w.Path, false); err != nil {
		t.Error(err)
	}
	drop("elsewhere", true)
	for _, branch := range []string{"", "-D", "a b", "HEAD", "*"} {
		if dropped, err := r.DropBranch(t.Context(), branch); err == nil || dropped {
			t.Errorf("%q: %v", branch, dropped)
		}
	}
	if got := branches(t, r); !slices.Equal(got, []string{"main"}) {
		t.Error(got)
	}
}

// Branches that have each other's commits cannot all go, however they race.
func TestDropBranchesAtOnce(t *testing.T) {
	r := repository(t)
	run(t, r.Top, "checkout", "-q", "--detach")
	tip := commit(t, r.Top, "mine")
	run(t, r.Top, "checkout", "-q", "main")
	const jobs = 4
	for i := range jobs {
		run(t, r.Top, "branch", fmt.Sprint("job", i), tip)
	}
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() { _, _ = r.DropBranch(t.Context(), fmt.Sprint("job", i)) })
	}
	all.Wait()
	if got := branches(t, r); len(got) < 2 {
		t.Errorf("the commit is on no branch any more: %q", got)
	}
	for i := range jobs {
		if _, err := r.DropBranch(t.Context(), fmt.Sprint("job", i)); err != nil {
			t.Error(err)
		}
	}
	if got := branches(t, r); len(got) != 2 {
		t.Error(got)
	}
}

func TestRemove(t *testing.T) {
	r := repository(t)
	clean, dirty, locked := add(t, r, "clean", "a"), add(t, r, "dirty", "b"), add(t, r, "locked", "c")
	write(t, filepath.Join(dirty.Path, "new"), "")
	run(t, r.Top, "worktree", "lock", "--reason", "on a stick", locked.Path)
	if err := r.Remove(t.Context(), clean.Path, false); err != nil {
		t.Error(err)
	}
	if err := r.Remove(t.Context(), dirty.Path, false); err == nil {
		t.Error("changes were removed")
	}
	for _, force := range []bool{false, true} {
		if err := r.Remove(t.Context(), locked.Path, force); err == nil || !strings.Contains(err.Error(), "on a stick") {
			t.Error(err)
		}
		for _, path := range []string{r.Top, r.Common, filepath.Dir(r.Top), filepath.Join(locked.Path, "src"), clean.Path, "dirty"} {
			if err := r.Remove(t.Context(), path, force); err == nil {
				t.Errorf("%s was removed", path)
			}
		}
	}
	if err := r.Remove(t.Context(), dirty.Path, true); err != nil {
		t.Error(err)
	}
	gone(t, clean.Path)
	gone(t, dirty.Path)
	if got := trees(t, r); !slices.Equal(got, []string{"locked"}) {
		t.Error(got)
	}
	if got := branches(t, r); !slices.Equal(got, []string{"a", "b", "c", "main"}) {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(r.Top, "src", "a.go")); err != nil {
		t.Error(err)
	}
}

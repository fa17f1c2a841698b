package gitwork

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// uprooted is a tree of a branch without its .git and without what git remembers
// of it, as out of an archive.
func uprooted(t *testing.T, r Repo) string {
	t.Helper()
	w := add(t, r, "tree", "x")
	commit(t, w.Path, "mine")
	if err := os.Remove(filepath.Join(w.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := r.Forget(t.Context(), w.Admin, w.Path); err != nil {
		t.Fatal(err)
	}
	return w.Path
}

func TestAdopt(t *testing.T) {
	r := repository(t)
	path := uprooted(t, r)
	write(t, filepath.Join(path, "read me.txt"), "changed\n")
	write(t, filepath.Join(path, "new"), "")
	if err := os.Remove(filepath.Join(path, "src", "a.go")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(path, ".gitignore"), old, old); err != nil {
		t.Fatal(err)
	}
	w, err := r.Adopt(t.Context(), path, "x")
	if err != nil {
		t.Fatal(err)
	}
	s := status(t, r, w)
	slices.Sort(s.Uncommitted)
	if want := []string{"new", "read me.txt", "src/a.go"}; !slices.Equal(s.Uncommitted, want) || len(s.Commits) != 1 {
		t.Errorf("%+v", s)
	}
	if data, err := os.ReadFile(filepath.Join(path, "read me.txt")); err != nil || string(data) != "changed\n" {
		t.Error(string(data), err)
	}
	if info, err := os.Stat(filepath.Join(path, ".gitignore")); err != nil || !info.ModTime().Equal(old) {
		t.Error(info, err)
	}
	if list, err := r.List(t.Context()); err != nil || len(list) != 2 || list[1] != w {
		t.Errorf("%+v, %v", list, err)
	}
	if got := filepath.Base(w.Admin); got != "tree" {
		t.Error(got)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2 {
		t.Error(entries, err)
	}
	// git itself takes it for a worktree.
	run(t, path, "commit", "-q", "-a", "-m", "more")
	run(t, r.Top, "worktree", "prune")
	run(t, r.Top, "worktree", "remove", "--force", path)
}

func TestAdoptRefuses(t *testing.T) {
	r := repository(t)
	path := uprooted(t, r)
	living := add(t, r, "living", "y")
	own := filepath.Join(temp(t), "own")
	run(t, filepath.Dir(own), "init", "-q", own)
	// A branch of a remote is none of ours.
	run(t, r.Top, "update-ref", "refs/remotes/origin/theirs", "HEAD")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx          context.Context
		path, branch string
	}{
		{t.Context(), path, "none"}, {t.Context(), path, "theirs"}, {t.Context(), path, "main"}, {t.Context(), path, "-f"}, {t.Context(), path, "y"}, {ctx, path, "x"},
		{t.Context(), living.Path, "x"}, {t.Context(), own, "x"}, {t.Context(), path + "2", "x"}, {t.Context(), filepath.Join(path, "read me.txt"), "x"}, {t.Context(), "tree", "x"},
	} {
		if w, err := r.Adopt(test.ctx, test.path, test.branch); err == nil {
			t.Errorf("%q %q: %+v", test.path, test.branch, w)
		}
	}
	gone(t, filepath.Join(path, ".git"))
	if got := trees(t, r); !slices.Equal(got, []string{"living"}) {
		t.Error(got)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 3 {
		t.Error(entries, err)
	}
	if s := status(t, r, living); len(s.Uncommitted) > 0 {
		t.Errorf("%+v", s)
	}
}

// A .git that leads to nothing is what an older tree of the same place has left.
func TestAdoptOverADeadLink(t *testing.T) {
	r := repository(t)
	path := uprooted(t, r)
	write(t, filepath.Join(path, ".git"), "gitdir: "+filepath.Join(r.Common, "worktrees", "tree")+"\n")
	w, err := r.Adopt(t.Context(), path, "x")
	if err != nil {
		t.Fatal(err)
	}
	if s := status(t, r, w); len(s.Uncommitted) > 0 {
		t.Errorf("%+v", s)
	}
}

// What a crash leaves of adopting is cleared away by the next try.
func TestAdoptAgain(t *testing.T) {
	for name, crash := range map[string]func(t *testing.T, r Repo, path, side string){
		"directory": func(t *testing.T, _ Repo, _, side string) {
			if err := os.Mkdir(filepath.Dir(side), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"worktree": func(t *testing.T, r Repo, _, side string) {
			run(t, r.Top, "worktree", "add", "-q", "--no-checkout", side, "x")
		},
		"led": func(t *testing.T, r Repo, path, side string) {
			run(t, r.Top, "worktree", "add", "-q", "--no-checkout", side, "x")
			admin, err := leadsTo(side)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(admin, gitdirFile), filepath.Join(path, gitFile)+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := repository(t)
			path := uprooted(t, r)
			crash(t, r, path, beside(path))
			w, err := r.Adopt(t.Context(), path, "x")
			if err != nil {
				t.Fatal(err)
			}
			if s := status(t, r, w); len(s.Uncommitted) > 0 {
				t.Errorf("%+v", s)
			}
			if got := trees(t, r); !slices.Equal(got, []string{"tree"}) {
				t.Error(got)
			}
			gone(t, filepath.Dir(beside(path)))
		})
	}
}

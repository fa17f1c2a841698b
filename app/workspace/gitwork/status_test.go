package gitwork

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestStatusUncommitted(t *testing.T) {
	odd := []string{"with space", "-dash", "é", `"quoted"`, "a\tb"}
	if runtime.GOOS == "linux" {
		odd = append(odd, "line\nend", "bytes\xff")
	}
	if runtime.GOOS == "windows" {
		odd = odd[:3]
	}
	for _, test := range []struct {
		name string
		do   func(t *testing.T, tree string)
		want []string
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"changed", func(t *testing.T, tree string) { write(t, filepath.Join(tree, "read me.txt"), "two\n") }, []string{"read me.txt"}},
		{"staged", func(t *testing.T, tree string) {
			write(t, filepath.Join(tree, "read me.txt"), "two\n")
			run(t, tree, "add", "-A")
			write(t, filepath.Join(tree, "read me.txt"), "one\n")
		}, []string{"read me.txt"}},
		{"removed", func(t *testing.T, tree string) {
			if err := os.Remove(filepath.Join(tree, "src", "a.go")); err != nil {
				t.Fatal(err)
			}
		}, []string{"src/a.go"}},
		{"renamed", func(t *testing.T, tree string) { run(t, tree, "mv", "src/a.go", "b.go") }, []string{"b.go", "src/a.go"}},
		{"untracked", func(t *testing.T, tree string) { write(t, filepath.Join(tree, "dir", "new"), "") }, []string{"dir/"}},
		{"ignored", func(t *testing.T, tree string) { write(t, filepath.Join(tree, "ignored"), "") }, nil},
		{"odd names", func(t *testing.T, tree string) {
			for _, name := range odd {
				write(t, filepath.Join(tree, name), "")
			}
		}, odd},
		{"nested repository", func(t *testing.T, tree string) {
			run(t, tree, "init", "-q", "nested")
			write(t, filepath.Join(tree, "nested", "file"), "")
			commit(t, filepath.Join(tree, "nested"), "nested")
		}, []string{"nested/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := repository(t)
			run(t, r.Top, "config", "status.showUntrackedFiles", "no")
			w := add(t, r, "tree", "x")
			test.do(t, w.Path)
			s := status(t, r, w)
			slices.Sort(s.Uncommitted)
			slices.Sort(test.want)
			if !slices.Equal(s.Uncommitted, test.want) || s.More != 0 {
				t.Errorf("%q and %d, not %q", s.Uncommitted, s.More, test.want)
			}
		})
	}
}

func TestStatusOfMuch(t *testing.T) {
	r := repository(t)
	w := add(t, r, "tree", "x")
	for i := range 30 {
		commit(t, w.Path, fmt.Sprint("commit ", i))
		write(t, filepath.Join(w.Path, fmt.Sprint("new", i)), "")
		if i < 29 {
			continue
		}
		run(t, w.Path, "reset", "-q", "--soft", "HEAD")
	}
	for i := range 30 {
		write(t, filepath.Join(w.Path, fmt.Sprint("newer", i)), "")
	}
	s := status(t, r, w)
	if len(s.Uncommitted) != mostShown || s.More != 11 || len(s.Commits) != mostShown || s.MoreCommits != 10 {
		t.Errorf("%d and %d, %d and %d", len(s.Uncommitted), s.More, len(s.Commits), s.MoreCommits)
	}
	if _, subject, _ := strings.Cut(s.Commits[0], " "); subject != "commit 29" {
		t.Error(s.Commits[0])
	}
}

func TestStatusCommits(t *testing.T) {
	for _, test := range []struct {
		name           string
		do             func(t *testing.T, r Repo, w Worktree)
		commits        int
		merged, pushed bool
	}{
		{"none", func(*testing.T, Repo, Worktree) {}, 0, true, false},
		{"mine", func(t *testing.T, _ Repo, w Worktree) { commit(t, w.Path, "mine"); commit(t, w.Path, "too") }, 2, false, false},
		{"merged", func(t *testing.T, r Repo, w Worktree) {
			commit(t, w.Path, "mine")
			run(t, r.Top, "merge", "-q", "x")
		}, 0, true, false},
		{"of another branch", func(t *testing.T, r Repo, w Worktree) {
			commit(t, w.Path, "mine")
			run(t, r.Top, "branch", "xx", "x") // its name begins with that of its own
		}, 0, true, false},
		{"tagged", func(t *testing.T, _ Repo, w Worktree) { commit(t, w.Path, "mine"); run(t, w.Path, "tag", "v") }, 0, true, false},
		{"pushed", func(t *testing.T, r Repo, w Worktree) {
			origin(t, r)
			commit(t, w.Path, "mine")
			run(t, w.Path, "push", "-q", "origin", "x")
		}, 0, true, true},
		{"pushed in part", func(t *testing.T, r Repo, w Worktree) {
			origin(t, r)
			commit(t, w.Path, "mine")
			run(t, w.Path, "push", "-q", "origin", "x")
			commit(t, w.Path, "too")
		}, 1, false, false},
		{"detached", func(t *testing.T, _ Repo, w Worktree) {
			run(t, w.Path, "checkout", "-q", "--detach")
			commit(t, w.Path, "mine")
		}, 1, false, false},
		{"detached with nothing", func(t *testing.T, _ Repo, w Worktree) { run(t, w.Path, "checkout", "-q", "--detach") }, 0, true, false},
		{"stashed", func(t *testing.T, _ Repo, w Worktree) {
			write(t, filepath.Join(w.Path, "read me.txt"), "two\n")
			run(t, w.Path, "stash", "-q")
		}, 0, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := repository(t)
			w := add(t, r, "tree", "x")
			test.do(t, r, w)
			s := status(t, r, w)
			if len(s.Commits) != test.commits || s.Merged != test.merged || s.Pushed != test.pushed || len(s.Uncommitted) > 0 {
				t.Errorf("%+v", s)
			}
			// The same is known when the tree has gone.
			if err := os.RemoveAll(w.Path); err != nil {
				t.Fatal(err)
			}
			got, err := r.Remembered(t.Context(), w)
			if err != nil || !slices.Equal(got.Commits, s.Commits) || got.Merged != s.Merged || got.Pushed != s.Pushed || got.HeadAt != s.HeadAt {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestStatusUnborn(t *testing.T) {
	r := repository(t)
	w := add(t, r, "tree", "x")
	run(t, w.Path, "checkout", "-q", "--orphan", "new")
	s := status(t, r, w)
	if len(s.Uncommitted) != 3 || len(s.Commits) != 0 || !s.HeadAt.IsZero() {
		t.Errorf("%+v", s)
	}
	// That is no branch without a commit, but something broken.
	write(t, filepath.Join(w.Admin, "HEAD"), strings.Repeat("1", 40)+"\n")
	if s, err := r.Status(t.Context(), w.Path, w.Admin); err == nil {
		t.Errorf("%+v", s)
	}
}

func TestStatusBusy(t *testing.T) {
	for what, args := range map[string][]string{
		"rebase":      {"rebase", "main"},
		"am":          {"am", "patch"},
		"merge":       {"merge", "main"},
		"cherry-pick": {"cherry-pick", "main"},
		"revert":      {"revert", "--no-edit", "HEAD~1"},
		"bisect":      {"bisect", "start"},
	} {
		t.Run(what, func(t *testing.T) {
			r := repository(t)
			w := add(t, r, "tree", "x")
			write(t, filepath.Join(r.Top, "read me.txt"), "theirs\n")
			commit(t, r.Top, "theirs")
			for _, text := range []string{"mine\n", "mine too\n"} {
				write(t, filepath.Join(w.Path, "read me.txt"), text)
				commit(t, w.Path, "mine")
			}
			patch := run(t, r.Top, "format-patch", "-1", "--stdout")
			write(t, filepath.Join(w.Path, "patch"), patch+"\n")
			if s := status(t, r, w); s.Busy != "" {
				t.Fatalf("%+v", s)
			}
			cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
			cmd.Dir = w.Path
			_, _ = cmd.CombinedOutput() // it stops at what cannot be merged
			if s := status(t, r, w); s.Busy != what {
				t.Errorf("%+v", s)
			}
		})
	}
}

// library is a repository to be a submodule.
func library(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(temp(t), "lib")
	write(t, filepath.Join(dir, "lib.go"), "package lib\n")
	run(t, filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	commit(t, dir, "lib")
	return dir
}

func TestStatusSubmodules(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, r Repo, tree, sub string)
		want []string
	}{
		{"not checked out", nil, nil},
		{"clean", func(*testing.T, Repo, string, string) {}, nil},
		{"changed", func(t *testing.T, _ Repo, _, sub string) { write(t, filepath.Join(sub, "lib.go"), "") }, []string{"third party/lib"}},
		{"untracked", func(t *testing.T, _ Repo, _, sub string) { write(t, filepath.Join(sub, "new"), "") }, []string{"third party/lib"}},
		{"committed and put back", func(t *testing.T, _ Repo, _, sub string) {
			run(t, sub, "checkout", "-q", "-b", "topic")
			commit(t, sub, "mine")
			run(t, sub, "checkout", "-q", "--detach", "origin/main")
		}, []string{"third party/lib"}},
		{"stashed", func(t *testing.T, _ Repo, _, sub string) {
			write(t, filepath.Join(sub, "lib.go"), "")
			run(t, sub, "stash", "-q")
		}, []string{"third party/lib"}},
		{"taken out again", func(t *testing.T, _ Repo, tree, sub string) {
			run(t, sub, "checkout", "-q", "-b", "topic")
			commit(t, sub, "mine")
			run(t, sub, "checkout", "-q", "--detach", "origin/main")
			run(t, tree, "submodule", "--quiet", "deinit", "-f", "third party/lib")
		}, []string{"third party/lib"}},
		{"a repository of its own", func(t *testing.T, _ Repo, _, sub string) {
			if err := os.RemoveAll(sub); err != nil {
				t.Fatal(err)
			}
			run(t, filepath.Dir(sub), "clone", "-q", library(t), sub)
		}, []string{"third party/lib"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := repository(t)
			run(t, r.Top, "submodule", "--quiet", "add", library(t), "third party/lib")
			commit(t, r.Top, "with a library")
			w := add(t, r, "tree", "x")
			sub := filepath.Join(w.Path, "third party", "lib")
			if test.do != nil {
				run(t, w.Path, "submodule", "--quiet", "update", "--init")
				test.do(t, r, w.Path, sub)
			}
			s := status(t, r, w)
			if !slices.Equal(s.Submodules, test.want) || !s.HasSubmodules {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestStatusOfWhatIsNoWorktree(t *testing.T) {
	r, far := repository(t), repository(t)
	w, theirs := add(t, r, "tree", "x"), add(t, far, "theirs", "x")
	moved := w.Path + " moved"
	other := add(t, r, "other", "y")
	if err := os.Rename(other.Path, moved); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, admin string }{
		{theirs.Path, ""}, {theirs.Path, theirs.Admin}, {far.Top, ""}, {w.Path, theirs.Admin}, {w.Path, other.Admin}, {w.Path, r.Common},
		{filepath.Join(w.Path, "src"), ""}, {temp(t), ""}, {w.Path + "none", ""}, {"tree", ""}, {moved, ""}, {other.Path, other.Admin},
	} {
		if s, err := r.Status(t.Context(), test.path, test.admin); err == nil {
			t.Errorf("%q: %+v", test, s)
		}
	}
	for _, path := range []string{r.Top, w.Path} {
		if _, err := r.Status(t.Context(), path, ""); err != nil {
			t.Error(err)
		}
	}
}

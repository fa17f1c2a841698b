package gitwork

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Of whoever runs the tests nothing counts.
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// run runs git as people do, with a name and nothing else of theirs, and returns
// what it answers.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(environment(os.Environ()),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// write writes a file and the directories above it.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// temp is a directory, without links above it.
func temp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// repository makes one with a commit on main, and opens it.
func repository(t testing.TB) Repo {
	t.Helper()
	top := filepath.Join(temp(t), "shop")
	write(t, filepath.Join(top, "read me.txt"), "one\n")
	write(t, filepath.Join(top, "src", "a.go"), "package a\n")
	write(t, filepath.Join(top, ".gitignore"), "ignored\n")
	run(t, top, "init", "-q", "-b", "main")
	run(t, top, "add", "-A")
	run(t, top, "commit", "-q", "-m", "first")
	r, err := Open(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// commit commits all there is in a tree.
func commit(t testing.TB, tree, message string) string {
	t.Helper()
	run(t, tree, "add", "-A")
	run(t, tree, "commit", "-q", "--allow-empty", "-m", message)
	return run(t, tree, "rev-parse", "HEAD")
}

// add makes a worktree beside the repository.
func add(t testing.TB, r Repo, name, branch string) Worktree {
	t.Helper()
	head, err := r.Resolve(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Add(t.Context(), filepath.Join(filepath.Dir(r.Top), name), branch, head, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// gone checks that nothing is at a path.
func gone(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}

// trees are the names of the worktrees besides the main one, and branches those
// of the branches.
func trees(t testing.TB, r Repo) []string {
	t.Helper()
	list, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, w := range list[1:] {
		names = append(names, filepath.Base(w.Path))
	}
	slices.Sort(names)
	return names
}

func branches(t testing.TB, r Repo) []string {
	t.Helper()
	return strings.Fields(run(t, r.Common, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"))
}

// origin gives a repository a remote that has its main branch.
func origin(t testing.TB, r Repo) string {
	t.Helper()
	bare := filepath.Join(temp(t), "origin.git")
	run(t, r.Top, "clone", "-q", "--bare", r.Top, bare)
	run(t, r.Top, "remote", "add", "origin", bare)
	run(t, r.Top, "fetch", "-q", "origin")
	return bare
}

func status(t testing.TB, r Repo, w Worktree) Status {
	t.Helper()
	s, err := r.Status(t.Context(), w.Path, w.Admin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

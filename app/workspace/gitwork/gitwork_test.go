package gitwork

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOpen(t *testing.T) {
	r := repository(t)
	if r.Top == "" || r.Common != filepath.Join(r.Top, ".git") || r.Name != "shop" {
		t.Errorf("%+v", r)
	}
	w := add(t, r, "tree", "x")
	bare := filepath.Join(temp(t), "far.git")
	run(t, r.Top, "clone", "-q", "--bare", r.Top, bare)
	for _, test := range []struct {
		dir  string
		want Repo
	}{
		{r.Top, r},
		{filepath.Join(r.Top, "src"), r},
		{w.Path, Repo{Common: r.Common, Top: w.Path, Name: "shop"}},
		{filepath.Join(w.Path, "src"), Repo{Common: r.Common, Top: w.Path, Name: "shop"}},
		{r.Common, Repo{Common: r.Common, Name: "shop"}},
		{bare, Repo{Common: bare, Name: "far"}},
	} {
		if got, err := Open(t.Context(), test.dir); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.dir, got, err)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	dir := temp(t)
	write(t, filepath.Join(dir, "file"), "")
	write(t, filepath.Join(dir, "odd", ".git"), "gitdir: /nowhere/at/all\n")
	for _, test := range []struct {
		dir  string
		want error
	}{
		{dir, ErrNoRepo}, {filepath.Join(dir, "file"), ErrNoRepo}, {filepath.Join(dir, "none"), fs.ErrNotExist}, {filepath.Join(dir, "odd"), ErrNoRepo},
	} {
		if r, err := Open(t.Context(), test.dir); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", test.dir, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	t.Setenv("PATH", dir)
	if _, err := Open(t.Context(), dir); !errors.Is(err, ErrNoGit) {
		t.Error(err)
	}
}

func TestNameOf(t *testing.T) {
	for common, want := range map[string]string{"/a/shop/.git": "shop", "/a/shop.git": "shop", "/a/shop": "shop", "/a/.git/modules/lib": "lib"} {
		if got := nameOf(filepath.FromSlash(common)); got != want {
			t.Errorf("%s: %s", common, got)
		}
	}
}

func TestResolve(t *testing.T) {
	r := repository(t)
	first := run(t, r.Top, "rev-parse", "HEAD")
	run(t, r.Top, "tag", "-a", "v1", "-m", "one")
	run(t, r.Top, "branch", "feature/é")
	second := commit(t, r.Top, "second")
	for ref, want := range map[string]string{
		"": second, "HEAD": second, "main": second, "refs/heads/main": second, "v1": first, "feature/é": first, first: first, first[:10]: first, "main~1": first,
	} {
		if got, err := r.Resolve(t.Context(), ref); err != nil || got != want {
			t.Errorf("%q: %s, %v", ref, got, err)
		}
	}
	for _, ref := range []string{"none", "--all", "-h", "--output=x", "^main", "main..v1", "main\nv1", "main\x00", " ", "HEAD:src", "..", "main^{tree}"} {
		if got, err := r.Resolve(t.Context(), ref); !errors.Is(err, ErrNoRef) {
			t.Errorf("%q: %s, %v", ref, got, err)
		}
	}
	// What is checked out is that of the worktree which was asked about.
	w := add(t, r, "tree", "x")
	third := commit(t, w.Path, "third")
	inside, err := Open(t.Context(), w.Path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := inside.Resolve(t.Context(), ""); err != nil || got != third {
		t.Error(got, err)
	}
}

func TestResolveUnborn(t *testing.T) {
	dir := temp(t)
	run(t, dir, "init", "-q")
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(t.Context(), ""); !errors.Is(err, ErrNoRef) {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "GIT_DIR=/evil", "git_index_file=x", "GIT_CONFIG_GLOBAL=/c", "GIT_SSH_COMMAND=rm", "LC_ALL=de_DE", "HOME=/h"})
	if want := []string{"PATH=/bin", "GIT_CONFIG_GLOBAL=/c", "HOME=/h"}; !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q", got)
	}
}

// A hook of git's runs us with its own variables.
func TestFromAHook(t *testing.T) {
	r := repository(t)
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_INDEX_FILE", filepath.Join(temp(t), "index"))
	t.Setenv("GIT_WORK_TREE", "/nowhere")
	got, err := Open(t.Context(), r.Top)
	if err != nil || got != r {
		t.Errorf("%+v, %v", got, err)
	}
	if s := status(t, r, add(t, r, "tree", "x")); len(s.Uncommitted) > 0 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(os.Getenv("GIT_INDEX_FILE")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mountsVariable tells the test that it may mount.
const mountsVariable = "LAMPLIGHTER_WORKSPACE_MOUNTS"

// git goes through what is mounted in a worktree, also when it is one directory
// shown in another.
func TestRemoveStaleWithMounts(t *testing.T) {
	if os.Getenv(mountsVariable) == "" {
		cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run=^TestRemoveStaleWithMounts$", "-test.v")
		cmd.Env = append(os.Environ(), mountsVariable+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	l := newLab(t)
	m := l.manager(nil)
	top := l.repository("shop", map[string]string{"a": "a", ".gitignore": "built\n"})
	precious := l.source("precious", map[string]string{"file": "precious"})
	for name, at := range map[string]string{"inside": "inside/built/deep", "itself": "itself"} {
		git(t, top, "worktree", "add", "--quiet", "-b", name, l.path(name))
		from := precious
		if name == "itself" {
			from = l.path(name)
		}
		if err := os.MkdirAll(l.path(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(from, l.path(at), "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := unix.Unmount(l.path(at), unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}()
		scan, _ := l.scanned(m, "shop")
		if s := scan[name]; s.Removable || !strings.Contains(s.Why, "mounted") {
			t.Errorf("%+v", s)
		}
		for _, q := range []Removal{{DryRun: true}, {}, {Force: true}} {
			out, err := m.RemoveStale(t.Context(), l.path(name), q)
			if !errors.Is(err, ErrState) || out.Done || !strings.Contains(out.Why, "mounted") || !strings.Contains(out.Why, filepath.Base(at)) {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		}
	}
	if got := content(t, precious)["file"]; got != "precious" {
		t.Errorf("%q", got)
	}
}

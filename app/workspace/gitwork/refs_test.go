package gitwork

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMakeBranch(t *testing.T) {
	r := repository(t)
	head := run(t, r.Top, "rev-parse", "HEAD")
	if err := r.MakeBranch(t.Context(), "made", head); err != nil {
		t.Fatal(err)
	}
	if got := run(t, r.Top, "rev-parse", "refs/heads/made"); got != head {
		t.Errorf("it is at %s", got)
	}
	next := commit(t, r.Top, "next")
	for branch, at := range map[string]string{"made": next, "-d": head, "a..b": head, "": head, "other": strings.Repeat("0", 40), "third": "-f"} {
		if err := r.MakeBranch(t.Context(), branch, at); err == nil {
			t.Errorf("%q was made at %s", branch, at)
		}
	}
	if got := run(t, r.Top, "rev-parse", "refs/heads/made"); got != head {
		t.Errorf("it was moved to %s", got)
	}
}

func TestAdvance(t *testing.T) {
	r := repository(t)
	first := run(t, r.Top, "rev-parse", "HEAD")
	w := add(t, r, "tree", "held")
	run(t, r.Top, "branch", "behind")
	second := commit(t, r.Top, "second")
	run(t, r.Top, "branch", "ahead")
	run(t, r.Top, "checkout", "--quiet", "--detach", first)
	beside := commit(t, r.Top, "beside")
	for _, c := range []struct {
		branch, to string
		led        bool
		at         string
	}{
		{"behind", second, true, second},
		{"behind", second, true, second},
		{"ahead", first, false, second},
		{"ahead", beside, false, second},
		{"held", second, false, first}, // a worktree would seem to have changed
		{"new", beside, true, beside},
	} {
		led, err := r.Advance(t.Context(), c.branch, c.to)
		if led != c.led || err != nil {
			t.Errorf("%+v: %v, %v", c, led, err)
		}
		if got := run(t, r.Top, "rev-parse", "refs/heads/"+c.branch); got != c.at {
			t.Errorf("%+v: it is at %s", c, got)
		}
	}
	if got := status(t, r, w).Uncommitted; len(got) != 0 {
		t.Errorf("%q", got)
	}
	for branch, to := range map[string]string{"-x": first, "behind": "HEAD", "ahead": strings.Repeat("1", 40)} {
		if led, err := r.Advance(t.Context(), branch, to); led || err == nil {
			t.Errorf("%s moved to %s", branch, to)
		}
	}
}

// What is pinned outlives git's own cleaning, and is on no branch.
func TestPin(t *testing.T) {
	r := repository(t)
	run(t, r.Top, "checkout", "--quiet", "--detach")
	lost := commit(t, r.Top, "lost")
	run(t, r.Top, "checkout", "--quiet", "-")
	if err := r.Pin(t.Context(), "name", lost); err != nil {
		t.Fatal(err)
	}
	clean := func() {
		run(t, r.Top, "reflog", "expire", "--expire=now", "--all")
		if err := os.Remove(filepath.Join(r.Common, "ORIG_HEAD")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		run(t, r.Top, "gc", "--quiet", "--prune=now")
	}
	clean()
	if _, err := r.Resolve(t.Context(), lost); err != nil {
		t.Error(err)
	}
	if got := branches(t, r); len(got) != 1 {
		t.Errorf("%q", got)
	}
	for range 2 {
		if err := r.Unpin(t.Context(), "name"); err != nil {
			t.Error(err)
		}
	}
	clean()
	if _, err := r.Resolve(t.Context(), lost); !errors.Is(err, ErrNoRef) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"", "a/b", "..", "-d", "a b"} {
		if err := errors.Join(r.Pin(t.Context(), name, lost), r.Unpin(t.Context(), name)); err == nil {
			t.Errorf("%q", name)
		}
	}
}

func TestPinned(t *testing.T) {
	r := repository(t)
	if held, safe, err := r.Pinned(t.Context(), "name"); held != "" || safe || err != nil {
		t.Errorf("%q, %v, %v", held, safe, err)
	}
	run(t, r.Top, "checkout", "--quiet", "--detach")
	lone := commit(t, r.Top, "lone")
	if err := r.Pin(t.Context(), "name", lone); err != nil {
		t.Fatal(err)
	}
	if held, safe, err := r.Pinned(t.Context(), "name"); held != lone || safe || err != nil {
		t.Errorf("%q, %v, %v", held, safe, err)
	}
	run(t, r.Top, "tag", "kept", lone)
	if held, safe, err := r.Pinned(t.Context(), "name"); held != lone || !safe || err != nil {
		t.Errorf("%q, %v, %v", held, safe, err)
	}
	if _, _, err := r.Pinned(t.Context(), "-d"); err == nil {
		t.Error("an option is a name")
	}
	for _, text := range []string{"HEAD", "--all", ""} {
		if _, err := r.Safe(t.Context(), text); err == nil {
			t.Errorf("%q is a commit", text)
		}
	}
}

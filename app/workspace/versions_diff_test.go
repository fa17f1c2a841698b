package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"lamplighter/app/apptest"
)

func TestDiff(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	big := strings.Repeat("x\n", textLimit/2+1)
	w := l.create(m, Request{From: l.source("from", map[string]string{
		"gone": "was here\n", "stays": "same", "text": "one\ntwo\nthree\n", "binary": "a\x00b", "latin": "gr\xfc\xdf", "big": big,
	})})
	l.keeps(m, w, "one")
	for name, text := range map[string]string{
		"new": "no end", "text": "one\n\x1b[31mzwei\r\nthree\n", "binary": "a\x00c", "latin": "gru\xdf", "big": "y",
	} {
		if err := os.WriteFile(filepath.Join(w.Path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(w.Path, "gone")); err != nil {
		t.Fatal(err)
	}
	check := func(changes []Change, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		diffs := map[string]string{}
		for _, c := range changes {
			lines = append(lines, c.What+" "+c.Path)
			diffs[c.Path] = c.Diff
		}
		if got := strings.Join(lines, ", "); got != "changed big, changed binary, removed gone, changed latin, added new, changed text" {
			t.Error(got)
		}
		for _, name := range []string{"big", "binary", "latin"} {
			if diffs[name] != "" {
				t.Errorf("%s: %.100q", name, diffs[name])
			}
		}
		apptest.Contains(t, diffs["gone"], "--- a/gone\n+++ "+os.DevNull+"\n", "\n-was here\n")
		apptest.Contains(t, diffs["new"], "--- "+os.DevNull+"\n+++ b/new\n", "\n+no end\n\\ No newline at end of file\n")
		apptest.Contains(t, diffs["text"], "--- a/text\n+++ b/text\n@@ -1,3 +1,3 @@\n one\n-two\n+␛[31mzwei␍\n three\n")
	}
	check(m.Diff(t.Context(), w.ID, 1, 0))
	check(m.Diff(t.Context(), w.ID, 0, 0))
	l.keeps(m, w, "two")
	check(m.Diff(t.Context(), w.ID, 1, 2))
	check(m.Diff(t.Context(), w.ID, 0, 2))
	if changes, err := m.Diff(t.Context(), w.ID, 0, 0); err != nil || len(changes) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	if changes, err := m.Diff(t.Context(), w.ID, 0, 1); err != nil || len(changes) != 6 || changes[0].What != "added" {
		t.Errorf("%+v, %v", changes, err)
	}
	for _, pair := range [][2]int{{3, 0}, {1, 3}, {-1, 1}, {1, -1}} {
		if _, err := m.Diff(t.Context(), w.ID, pair[0], pair[1]); !errors.Is(err, ErrBadRequest) {
			t.Errorf("%v: %v", pair, err)
		}
	}
	if _, err := m.Archive(t.Context(), w.ID, nil); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{1, 0}, {1, 2}} {
		if _, err := m.Diff(t.Context(), w.ID, pair[0], pair[1]); !errors.Is(err, ErrState) {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

// No link leads a diff out of the trees that it is of.
func TestDiffFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // whoever runs a test may make no links there
	}
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a", "d/b": "b"})})
	l.keeps(m, w, "one")
	secret := l.source("secret", map[string]string{"b": "secret"})
	if err := errors.Join(os.RemoveAll(filepath.Join(w.Path, "d")), os.Remove(filepath.Join(w.Path, "a"))); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{"d": "-> " + secret, "a": "-> " + filepath.Join(secret, "b")})
	changes, err := m.Diff(t.Context(), w.ID, 1, 0)
	if err != nil || len(changes) != 3 {
		t.Errorf("%+v, %v", changes, err)
	}
	for _, c := range changes {
		if strings.Contains(c.Diff, "secret") {
			t.Errorf("%+v", c)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\tb\n\x1b[2J\u202e\x7f\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := visible(text)
		for _, c := range got {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf)) {
				t.Errorf("%q became %q", text, got)
			}
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q became %q", text, got)
		}
	})
}

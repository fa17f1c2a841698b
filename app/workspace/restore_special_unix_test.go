//go:build unix

package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe is in no version and in no archive: that is told.
func TestWhatCannotBeKeptIsTold(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	l.keeps(m, w, "one")
	for _, name := range []string{"pipe", "p2", "p3", "p4"} {
		if err := unix.Mkfifo(filepath.Join(w.Path, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v := l.keeps(m, w, "two"); v.Left != 4 {
		t.Errorf("%+v", v)
	}
	if list, err := m.Versions(t.Context(), w.ID); err != nil || len(list) != 2 || list[0].Left != 0 || list[1].Left != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	told := func(what, problem string) {
		t.Helper()
		history := l.record(m, w.ID).History
		last := history[len(history)-1]
		if want := "not kept: p2, p3, p4, …"; last.What != what || !strings.Contains(last.Detail, want) || !strings.Contains(problem, want) {
			t.Errorf("%+v, %q", last, problem)
		}
	}
	told("restored", l.restores(m, w, 1).Problem)
	if b := l.restores(m, w, 1); b.Problem != "" {
		t.Errorf("%q", b.Problem)
	}
	for _, name := range []string{"pipe", "p2", "p3", "p4"} {
		if err := unix.Mkfifo(filepath.Join(w.Path, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told("archived", l.archives(m, w).Problem)
}

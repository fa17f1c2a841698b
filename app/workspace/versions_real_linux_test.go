//go:build real

package workspace

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// noise is text of that length that cannot be compressed.
func noise(seed uint64, length int) string {
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	data := make([]byte, length)
	_, _ = random.Read(data) // it never fails
	return string(data)
}

// A disk that is full ends a version, an archive and what is restored, wherever
// that is, and nothing is lost by it.
func TestRealVersionsOnAFullDisk(t *testing.T) {
	points := map[string][]string{
		"keep":    {"keep: step", "keep: directory made", "keep: copied", "keep: written", "keep: in place"},
		"archive": {"archive: step", "archive: facts", "archive: packed", "archive: verified", "archive: in place", "archive: written down", "archive: taken out", "archive: decided"},
		"put":     {"keep: written", "put: step", "put: directory written down", "put: filled", "put: begun", "put: old tree aside", "put: new tree in place"},
		"restore": {"restore: step", "restore: directory made", "restore: filled", "restore: directory written down", "restore: in place", "restore: written down", "restore: archive removed"},
	}
	for name, points := range points {
		for _, point := range points {
			t.Run(name+", "+point, func(t *testing.T) {
				l := newLab(t)
				if err := os.Mkdir(l.o.Dir, 0o700); err != nil {
					t.Fatal(err)
				}
				l.mount("none", l.o.Dir, "tmpfs", 0, "size=8m")
				m := l.manager(nil)
				one := map[string]string{"a": noise(1, 1<<19), "b": "b"}
				w := l.create(m, Request{From: l.source("from", one)})
				l.keeps(m, w, "one")
				write(t, w.Path, map[string]string{"c": noise(2, 1<<19)})
				two := content(t, w.Path)
				if name == "restore" {
					l.archives(m, w)
				}
				filler := filepath.Join(l.o.Dir, "filler")
				m.crash = func(at string) {
					if at == point {
						_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // until nothing more fits
					}
				}
				var err error
				switch name {
				case "keep":
					_, err = m.Keep(t.Context(), w.ID, "two", nil)
				case "archive":
					_, err = m.Archive(t.Context(), w.ID, nil)
				case "put":
					_, err = m.Restore(t.Context(), w.ID, 1, nil)
				case "restore":
					_, err = m.Restore(t.Context(), w.ID, 0, nil)
				}
				if err != nil && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%v", err)
				}
				m.crash = nil
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				if err := m.Recover(t.Context()); err != nil {
					t.Error(err)
				}
				l.sound(m)
				if l.record(m, w.ID).State == Archived {
					l.restores(m, w, 0)
				}
				list, err := m.versions(w.ID)
				if err != nil || len(list) == 0 || !maps.Equal(content(t, list[0].Path), one) {
					t.Fatalf("%+v, %v", list, err)
				}
				got := content(t, w.Path)
				switch name {
				case "put":
					if maps.Equal(got, one) && len(list) == 2 && maps.Equal(content(t, list[1].Path), two) {
						break
					}
					fallthrough
				default:
					if !maps.Equal(got, two) {
						t.Error("the tree is not what it was")
					}
				}
			})
		}
	}
}

// What fits nowhere is said, with what to do.
func TestRealVersionsThatDoNotFit(t *testing.T) {
	l := newLab(t)
	if err := os.Mkdir(l.o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.mount("none", l.o.Dir, "tmpfs", 0, "size=4m")
	m := l.manager(nil)
	w := l.create(m, Request{In: l.source("in", nil)})
	write(t, w.Path, map[string]string{"small": "s"})
	l.keeps(m, w, "one")
	write(t, w.Path, map[string]string{"large": noise(3, 6<<20)})
	before := content(t, w.Path)
	for name, do := range map[string]func() error{
		"keep":    func() error { _, err := m.Keep(t.Context(), w.ID, "m", nil); return err },
		"archive": func() error { _, err := m.Archive(t.Context(), w.ID, nil); return err },
		"restore": func() error { _, err := m.Restore(t.Context(), w.ID, 1, nil); return err },
	} {
		err := do()
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("%s: %v", name, err)
		}
		l.sound(m)
		if got := content(t, w.Path); !maps.Equal(got, before) {
			t.Errorf("%s: the tree has changed", name)
		}
		if list, err := m.versions(w.ID); err != nil || len(list) != 1 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
	if err := os.Remove(filepath.Join(w.Path, "large")); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{"other": "o"})
	if v := l.keeps(m, w, "two"); v.Number != 2 {
		t.Errorf("%+v", v)
	}
}

// A version of a large tree takes the room of what has changed.
func TestRealKeepOfManyFiles(t *testing.T) {
	const files = 2_000
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	for n := range files {
		dir := filepath.Join(w.Path, fmt.Sprint(n/200))
		if n%200 == 0 {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		change(t, dir, fmt.Sprint(n), fmt.Sprintf("file %d\n", n))
	}
	room := func() int64 {
		t.Helper()
		count, err := tree.Measure(t.Context(), m.versionsPath(w.ID), nil)
		if err != nil {
			t.Fatal(err)
		}
		return count.Bytes
	}
	l.keeps(m, w, "one")
	one := room()
	change(t, w.Path, "0/0", "other")
	if v := l.keeps(m, w, "two"); v.Files != files+files/200 {
		t.Errorf("%+v", v)
	}
	if more := room() - one; more > one/10 {
		t.Errorf("the second takes %s after %s of the first", monitor.Memory(more), monitor.Memory(one))
	}
	changes, err := m.Diff(t.Context(), w.ID, 1, 2)
	if err != nil || len(changes) != 1 || changes[0].Path != "0/0" {
		t.Errorf("%+v, %v", changes, err)
	}
}

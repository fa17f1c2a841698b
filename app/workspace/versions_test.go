package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/workspace/tree"
)

// keeps keeps a version, which has to work.
func (l *lab) keeps(m *Manager, w Workspace, message string) Version {
	l.t.Helper()
	v, err := m.Keep(l.t.Context(), w.ID, message, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return v
}

func TestKeep(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{"a": "a", "b/c": "c", "empty/": "", "link": "-> b/c", "away": "-> /nowhere/at all", ".git/x": "nested", "ü ☃\n": "odd"}
	if runtime.GOOS == "windows" {
		files = map[string]string{"a": "a", "b/c": "c", "empty/": ""}
	}
	w := l.create(m, Request{From: l.source("from", files), Kind: Hybrid})
	l.passes(time.Minute)
	v := l.keeps(m, w, "the first\none\x1b[31m")
	if v.Number != 1 || v.Message != "the first one[31m" || !v.At.Equal(l.clock().Wall) {
		t.Errorf("%+v", v)
	}
	if got := content(t, v.Path); !maps.Equal(got, content(t, w.Path)) {
		t.Errorf("it has %q", got)
	}
	if _, err := os.Lstat(filepath.Join(v.Path, ".git", "x")); runtime.GOOS != "windows" && err != nil {
		t.Error("a repository of its own that was copied is content:", err)
	}
	if count, err := tree.Measure(t.Context(), v.Path, nil); err != nil || int(count.Files) != v.Files {
		t.Errorf("%+v, %v, %+v", count, err, v)
	}
	if info, err := os.Lstat(filepath.Join(v.Path, "a")); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("a file of a version can be written: %v, %v", info, err)
	}
	write(t, w.Path, map[string]string{"b/new": "new"})
	if err := os.WriteFile(filepath.Join(w.Path, "a"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := l.keeps(m, w, "second")
	if got := content(t, v.Path)["a"]; got != "a" {
		t.Errorf("the first version changed: %q", got)
	}
	list, err := m.Versions(t.Context(), w.Name)
	if err != nil || !slices.Equal(list, []Version{v, second}) {
		t.Errorf("%+v, %v", list, err)
	}
	r := l.record(m, w.ID)
	if last := r.History[len(r.History)-1]; last.What != "kept" || last.Detail != "version 2: second" {
		t.Errorf("%+v", last)
	}
	if !r.UsedAt.Equal(l.clock().Wall) {
		t.Errorf("it was used at %v", r.UsedAt)
	}
	if w, err := m.Find(t.Context(), w.ID); err != nil || w.Versions != 2 {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestKeepRefuses(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	for message, want := range map[string]error{
		"": ErrBadRequest, " \n\u200b": ErrBadRequest, "\xff": ErrBadRequest,
		strings.Repeat("ü", longestMessage+1): ErrBadRequest, strings.Repeat("\u2028<", longestMessage/2): nil,
	} {
		v, err := m.Keep(t.Context(), w.ID, message, nil)
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%.20q: %+v, %v", message, v, err)
		}
	}
	temp := l.create(m, Request{Kind: Temp, Job: "t"})
	if _, err := m.Keep(t.Context(), temp.ID, "m", nil); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "hybrid or a persistent one") {
		t.Error(err)
	}
	if _, err := m.Keep(t.Context(), "nobody", "m", nil); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if err := os.Rename(w.Path, w.Path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Keep(t.Context(), w.ID, "m", nil); !errors.Is(err, ErrState) {
		t.Errorf("of a tree that has gone: %v", err)
	}
	write(t, w.Path, map[string]string{"theirs": "x"})
	if _, err := m.Keep(t.Context(), w.ID, "m", nil); !errors.Is(err, ErrState) {
		t.Errorf("of another directory in its place: %v", err)
	}
	if list, err := m.Versions(t.Context(), w.ID); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What belongs to the repository and what is shared is in no version.
func TestKeepLeavesOut(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a", ".gitignore": "cache\n"})
	write(t, repo, map[string]string{"cache/big": "big"})
	w := l.create(m, Request{From: repo, Share: []string{"cache"}})
	v := l.keeps(m, w, "m")
	if got := names(t, v.Path); !slices.Equal(got, []string{".gitignore", "a"}) {
		t.Errorf("%q", got)
	}
	if changed, err := m.changed(t.Context(), l.record(m, w.ID)); changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if err := os.Remove(filepath.Join(w.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, map[string]string{".git/own": "x"})
	for what, try := range map[string]func() error{
		"keep":    func() error { _, err := m.Keep(t.Context(), w.ID, "m", nil); return err },
		"restore": func() error { _, err := m.Restore(t.Context(), w.ID, 1, nil); return err },
		"archive": func() error { _, err := m.Archive(t.Context(), w.ID, nil); return err },
	} {
		if err := try(); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "move away") {
			t.Errorf("%s with a repository of somebody's own: %v", what, err)
		}
	}
}

// A number is given once, whatever becomes of its version.
func TestVersionNumbers(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	dir := m.versionsPath(w.ID)
	for range 3 {
		l.keeps(m, w, "m")
	}
	for _, name := range []string{"2", "3"} {
		if err := tree.Remove(t.Context(), filepath.Join(dir, name), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if v := l.keeps(m, w, "m"); v.Number != 4 {
		t.Errorf("%+v", v)
	}
	if err := os.Remove(m.store.path(dataDir, w.ID, versionLast)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"7/": "", "x/": "", "08/": "", "-9/": "", "12": "a file"})
	if v := l.keeps(m, w, "m"); v.Number != 13 {
		t.Errorf("%+v", v)
	}
	list, err := m.versions(w.ID)
	var numbers []int
	for _, v := range list {
		numbers = append(numbers, v.Number)
	}
	if err != nil || !slices.Equal(numbers[:2], []int{1, 4}) || len(numbers) != 3 {
		t.Errorf("%v, %v", numbers, err)
	}
}

func TestTwoKeepAtOnce(t *testing.T) {
	l := newLab(t)
	w := l.create(l.manager(nil), Request{From: l.source("from", map[string]string{"a": "a"})})
	var all sync.WaitGroup
	numbers := make([]int, 8)
	for i := range numbers {
		all.Go(func() {
			v, err := l.manager(nil).Keep(t.Context(), w.ID, "m", nil)
			if err != nil {
				t.Error(err)
			}
			numbers[i] = v.Number
		})
	}
	all.Wait()
	slices.Sort(numbers)
	if !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%v", numbers)
	}
}

// A version whose description is damaged is one nevertheless.
func TestDamagedDescription(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	v := l.keeps(m, w, "m")
	path := filepath.Join(filepath.Dir(v.Path), versionFile)
	for _, text := range []string{"", "{", `{"schema":2}`, "null", strings.Repeat(" ", versionLimit+2)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := m.versions(w.ID)
		if err != nil || len(list) != 1 || list[0].Path != v.Path || !strings.Contains(list[0].Message, "cannot be read") {
			t.Errorf("%.10q: %+v, %v", text, list, err)
		}
	}
	write(t, w.Path, map[string]string{"b": "b"})
	if _, err := m.Restore(t.Context(), w.ID, 1, nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, w.Path); !maps.Equal(got, map[string]string{"a": "a"}) {
		t.Errorf("%q", got)
	}
}

func TestChanged(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	check := func(what string, want bool) {
		t.Helper()
		if got, err := m.changed(t.Context(), l.record(m, w.ID)); got != want || err != nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	check("without a version", true)
	l.keeps(m, w, "m")
	check("kept", false)
	write(t, w.Path, map[string]string{"b/": ""})
	check("with a new directory", true)
	l.keeps(m, w, "m")
	check("kept again", false)
}

// A keep that is given up leaves nothing.
func TestKeepGivenUp(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a"})})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	m.crash = func(point string) {
		if point == "keep: directory made" {
			cancel(why)
		}
	}
	if _, err := m.Keep(ctx, w.ID, "m", nil); !errors.Is(err, why) {
		t.Error(err)
	}
	m.crash = nil
	l.sound(m)
	if got := names(t, m.versionsPath(w.ID)); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if v := l.keeps(m, w, "m"); v.Number != 1 {
		t.Errorf("%+v", v)
	}
}

// A version has each file as it was at one moment, also while others write.
func TestKeepWhileOthersWrite(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	path := filepath.Join(w.Path, "f")
	text := func(n int) string { return strings.Repeat(strconv.Itoa(n%10), 1<<16) }
	replace := func(n int) {
		next := filepath.Join(l.dir, "next")
		if err := errors.Join(os.WriteFile(next, []byte(text(n)), 0o600), os.Rename(next, path)); err != nil {
			t.Error(err)
		}
	}
	replace(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			replace(n)
			gone := filepath.Join(w.Path, "d", strconv.Itoa(n))
			if err := errors.Join(os.MkdirAll(gone, 0o700), os.RemoveAll(filepath.Dir(gone))); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 10 {
		v := l.keeps(m, w, "m")
		data, err := os.ReadFile(filepath.Join(v.Path, "f"))
		if err == nil && string(data) != strings.Repeat(string(data[:1]), 1<<16) {
			t.Error("a file of two moments")
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
}

func TestPaceOf(t *testing.T) {
	for _, c := range []struct {
		done, total tree.Count
		percent     int
		left        time.Duration
	}{
		{tree.Count{}, tree.Count{}, -1, -1},
		{tree.Count{}, tree.Count{Files: 10, Bytes: 100}, 0, -1},
		{tree.Count{Files: 5, Bytes: 25}, tree.Count{Files: 10, Bytes: 100}, 25, 30 * time.Second},
		{tree.Count{Files: 5}, tree.Count{Files: 10}, 50, 10 * time.Second},
		{tree.Count{Files: 11, Bytes: 150}, tree.Count{Files: 10, Bytes: 100}, 100, 0},
	} {
		p := paceOf(Copying, c.done, c.total, 10*time.Second)
		if p.Percent != c.percent || p.Left != c.left || p.BytesTotal < p.Bytes || p.FilesTotal < p.Files {
			t.Errorf("%+v of %+v: %+v", c.done, c.total, p)
		}
	}
}

func TestCrashKeep(t *testing.T) {
	crashAtEach(t, crashCase{
		before: func(l *lab, m *Manager) Workspace {
			w := l.create(m, Request{From: l.source("from", map[string]string{"a": "a", "b/c": "c"})})
			l.keeps(m, w, "one")
			write(t, w.Path, map[string]string{"d": "d"})
			return w
		},
		do: func(ctx context.Context, m *Manager, w Workspace) error {
			_, err := m.Keep(ctx, w.ID, "two", nil)
			return err
		},
		after: func(l *lab, m *Manager, w Workspace, crashed string) {
			list, err := m.versions(w.ID)
			if err != nil || len(list) == 0 || list[0].Message != "one" || len(list) > 2 {
				t.Fatalf("after %q: %+v, %v", crashed, list, err)
			}
			now := map[string]string{"a": "a", "b/c": "c", "d": "d"}
			if !maps.Equal(content(t, w.Path), now) {
				t.Errorf("the tree is %q", content(t, w.Path))
			}
			kept := 0
			for _, h := range l.record(m, w.ID).History {
				if h.What == "kept" {
					kept++
				}
			}
			if kept != len(list) {
				t.Errorf("after %q: %d were kept, and %d are told of", crashed, len(list), kept)
			}
			if len(list) == 2 && (list[1].Message != "two" || !maps.Equal(content(t, list[1].Path), now)) {
				t.Errorf("after %q: %+v", crashed, list[1])
			}
			if v := l.keeps(m, w, "three"); v.Number != list[len(list)-1].Number+1 {
				t.Errorf("%+v comes after %+v", v, list)
			}
		},
	})
}

package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	r := repository(t)
	head, err := r.Resolve(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"plain", "with space", "-dash", "é", "a'b$(c)", ".hidden"}
	if runtime.GOOS == "linux" {
		names = append(names, "line\nend", "bytes\xff\xfe", `back\slash`, "ends with line\n")
	}
	for i, name := range names {
		path := filepath.Join(filepath.Dir(r.Top), name)
		var files, total int64
		w, err := r.Add(t.Context(), path, fmt.Sprintf("lamplighter/%d", i), head, func(f, of int64) { files, total = f, of })
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if w.Path != path || w.Head != head || w.Branch != fmt.Sprintf("lamplighter/%d", i) || filepath.Dir(w.Admin) != filepath.Join(r.Common, "worktrees") {
			t.Errorf("%q: %+v", name, w)
		}
		if files != 3 || total != 3 {
			t.Errorf("%q: %d of %d files", name, files, total)
		}
		if data, err := os.ReadFile(filepath.Join(path, "read me.txt")); err != nil || string(data) != "one\n" {
			t.Errorf("%q: %q, %v", name, data, err)
		}
		if strings.HasSuffix(name, "\n") {
			continue // git itself does not find such a one again
		}
		if s := status(t, r, w); len(s.Uncommitted) != 0 || !s.Merged || s.Busy != "" || s.HeadAt.IsZero() {
			t.Errorf("%q: %+v", name, s)
		}
		list, err := r.List(t.Context())
		if err != nil || !slices.Contains(list, w) {
			t.Errorf("%q: %+v, %v", name, list, err)
		}
	}
}

func TestAddWhereSomethingIs(t *testing.T) {
	r := repository(t)
	dir := temp(t)
	head := run(t, r.Top, "rev-parse", "HEAD")
	write(t, filepath.Join(dir, "full", "mine"), "x")
	write(t, filepath.Join(dir, "file"), "x")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"full", "file"} {
		if _, err := r.Add(t.Context(), filepath.Join(dir, name), "x", head, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Add(t.Context(), "relative", "x", head, nil); err == nil {
		t.Error("a relative path was taken")
	}
	if data, err := os.ReadFile(filepath.Join(dir, "full", "mine")); err != nil || string(data) != "x" {
		t.Error(string(data), err)
	}
	if got := branches(t, r); !slices.Equal(got, []string{"main"}) {
		t.Error(got)
	}
	if _, err := r.Add(t.Context(), filepath.Join(dir, "empty"), "x", head, nil); err != nil {
		t.Error(err)
	}
}

func TestAddOfNothing(t *testing.T) {
	r := repository(t)
	head := run(t, r.Top, "rev-parse", "HEAD")
	path := filepath.Join(temp(t), "tree")
	tree := run(t, r.Top, "rev-parse", "HEAD^{tree}")
	for _, test := range []struct{ branch, commit string }{
		{"", head}, {"-b", head}, {"HEAD", head}, {"a b", head}, {"a..b", head}, {"a@{1}", head}, {"a*", head}, {"a.lock", head}, {"a//b", head}, {".a", head},
		{"x\n", head}, {"x", ""}, {"x", "main"}, {"x", strings.Repeat("1", 40)}, {"x", tree}, {"x", noHash(head)}, {"x", "--force"},
		{"main/below", head}, {"main", head},
	} {
		if w, err := r.Add(t.Context(), path, test.branch, test.commit, nil); err == nil {
			t.Errorf("%q: %+v", test, w)
		}
		gone(t, path)
		if got := branches(t, r); !slices.Equal(got, []string{"main"}) {
			t.Fatalf("%q: %q", test, got)
		}
	}
	if got := run(t, r.Top, "rev-parse", "main"); got != head {
		t.Error("main was moved")
	}
}

// unsmudgeable makes checking out fail at the last file.
func unsmudgeable(t *testing.T, r Repo) {
	t.Helper()
	write(t, filepath.Join(r.Top, ".gitattributes"), "zzz filter=broken\n")
	write(t, filepath.Join(r.Top, "zzz"), "z")
	commit(t, r.Top, "one that needs a filter")
	run(t, r.Top, "config", "filter.broken.smudge", "exit 1")
	run(t, r.Top, "config", "filter.broken.required", "true")
}

func TestAddThatFails(t *testing.T) {
	for _, there := range []bool{false, true} {
		r := repository(t)
		unsmudgeable(t, r)
		head := run(t, r.Top, "rev-parse", "HEAD")
		path := filepath.Join(temp(t), "tree")
		if there {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Add(t.Context(), path, "x", head, nil); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%v: %v", there, err)
		}
		if there {
			if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
				t.Error(entries, err)
			}
		} else {
			gone(t, path)
		}
		if got := branches(t, r); !slices.Equal(got, []string{"main"}) {
			t.Error(got)
		}
		gone(t, filepath.Join(r.Common, "worktrees"))
	}
}

func TestAddGivenUp(t *testing.T) {
	r := repository(t)
	for i := range 300 {
		write(t, filepath.Join(r.Top, "many", fmt.Sprint(i)), fmt.Sprint(i))
	}
	head := commit(t, r.Top, "many")
	why := errors.New("no more time")
	path := filepath.Join(temp(t), "tree")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if _, err := r.Add(ctx, path, "x", head, func(int64, int64) { cancel(why) }); !errors.Is(err, why) {
		t.Error(err)
	}
	gone(t, path)
	if _, err := r.Add(ctx, path, "x", head, nil); !errors.Is(err, why) {
		t.Error(err)
	}
	gone(t, path)
	gone(t, filepath.Join(r.Common, "worktrees"))
	if got := branches(t, r); !slices.Equal(got, []string{"main"}) {
		t.Error(got)
	}
}

// What git remembers of one that has gone is not ours to take back.
func TestAddWhereOneHasGone(t *testing.T) {
	r := repository(t)
	w := add(t, r, "tree", "x")
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Add(t.Context(), w.Path, "y", w.Head, nil); err == nil || !strings.Contains(err.Error(), "prune") {
		t.Error(err)
	}
	if _, err := os.Stat(w.Admin); err != nil {
		t.Error(err)
	}
	if got := branches(t, r); !slices.Equal(got, []string{"main", "x"}) {
		t.Error(got)
	}
}

func TestAddAtOnce(t *testing.T) {
	r := repository(t)
	head := run(t, r.Top, "rev-parse", "HEAD")
	dir := temp(t)
	const jobs = 20
	var all sync.WaitGroup
	var mu sync.Mutex
	same := 0
	for i := range jobs {
		all.Go(func() {
			w, err := r.Add(t.Context(), filepath.Join(dir, fmt.Sprint(i), "tree"), fmt.Sprintf("job/%d", i), head, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if s, err := r.Status(t.Context(), w.Path, w.Admin); err != nil || len(s.Uncommitted) > 0 {
				t.Errorf("%+v, %v", s, err)
			}
		})
		all.Go(func() {
			if _, err := r.Add(t.Context(), filepath.Join(dir, "same", fmt.Sprint(i)), "same", head, nil); err == nil {
				mu.Lock()
				defer mu.Unlock()
				same++
			}
		})
	}
	all.Wait()
	if got := trees(t, r); len(got) != jobs+1 || same != 1 {
		t.Errorf("%d of one name; %q", same, got)
	}
	if got := branches(t, r); len(got) != jobs+2 {
		t.Error(got)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "same")); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

func TestAddToBare(t *testing.T) {
	source := repository(t)
	bare := origin(t, source)
	r, err := Open(t.Context(), bare)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Add(t.Context(), filepath.Join(temp(t), "tree"), "x", head, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := status(t, r, w); len(s.Uncommitted) > 0 || !s.Merged {
		t.Errorf("%+v", s)
	}
	if list, err := r.List(t.Context()); err != nil || len(list) != 2 || !list[0].Bare || list[1] != w {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestUpdated(t *testing.T) {
	for text, want := range map[string][3]int64{
		"Updating files:  12% (6000/50000)":         {6000, 50000, 1},
		"Updating files: 100% (3/3), done.":         {3, 3, 1},
		"Updating files: 100% (3/3)":                {3, 3, 1},
		"Updating files: ":                          {},
		"Updating files: 5% (4/3)":                  {},
		"Updating files: 5% (-4/3)":                 {},
		"Updating files: 5% (9999999999999999999/)": {},
		"fatal: no": {},
		"":          {},
	} {
		files, total, ok := updated(text)
		if files != want[0] || total != want[1] || ok != (want[2] == 1) {
			t.Errorf("%q: %d, %d, %v", text, files, total, ok)
		}
	}
}

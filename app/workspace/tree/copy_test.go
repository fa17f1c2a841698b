package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

var everyday = []string{
	"README=read me", "empty=", "empty directory/", "src/main.go=package main",
	"src/deep/er/and/deeper/file=x", "src/big=" + strings.Repeat("0123456789", 100_000),
}

func TestCopy(t *testing.T) {
	cases := map[string][]string{
		"nothing":          nil,
		"everyday":         everyday,
		"many in one":      many(3 * batch),
		"names":            {"a b=1", "ä=2", "-rf=3", "…=4", strings.Repeat("n", 255) + "=5"},
		"empty in empties": {"a/a/a/", "a/b/", "b/"},
	}
	for name, list := range cases {
		t.Run(name, func(t *testing.T) {
			from, to := newDir(t), newDir(t)
			plant(t, from, list...)
			told := Count{}
			copied, err := Copy(t.Context(), from, to, Options{Progress: func(c Count) { told = c }})
			if err != nil || len(copied.Left) > 0 {
				t.Fatalf("left %q, error %v", copied.Left, err)
			}
			want := picture(t, from)
			samePicture(t, want, picture(t, to))
			if copied.Files != int64(len(want)-1) || told != copied.Count {
				t.Errorf("counted %+v, told %+v, there are %d", copied.Count, told, len(want)-1)
			}
			if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
				t.Errorf("compared: %v, %v", found, err)
			}
		})
	}
}

func many(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("many/f%d=%d", i, i))
	}
	return list
}

func TestCopyTellsBytes(t *testing.T) {
	from, to := newDir(t), newDir(t)
	plant(t, from, everyday...)
	copied, err := Copy(t.Context(), from, to, Options{})
	if want := int64(len("read me") + len("package main") + 1 + 1_000_000); err != nil || copied.Bytes != want {
		t.Errorf("%d bytes, %v; want %d", copied.Bytes, err, want)
	}
}

func TestCopySkips(t *testing.T) {
	from, to := newDir(t), newDir(t)
	plant(t, from, "a/node_modules/x=1", "node_modules/y=2", "a/z=3", "file=4")
	skip := func(path string) bool { return path == "node_modules" || path == "file" }
	if _, err := Copy(t.Context(), from, to, Options{Skip: skip}); err != nil {
		t.Fatal(err)
	}
	gone(t, filepath.Join(to, "node_modules"))
	gone(t, filepath.Join(to, "file"))
	if found, err := Compare(t.Context(), from, to, skip, 0); err != nil || len(found) > 0 {
		t.Errorf("compared: %v, %v", found, err)
	}
	if n, err := Measure(t.Context(), from, skip); err != nil || n.Files != 4 {
		t.Errorf("measured %+v, %v", n, err)
	}
}

func TestCopyRefuses(t *testing.T) {
	root := newDir(t)
	plant(t, root, "from/f=1", "full/f=1", "file=1", "empty/")
	at := func(name string) string { return filepath.Join(root, name) }
	for name, c := range map[string]struct{ from, to, base string }{
		"a full directory": {from: at("from"), to: at("full")},
		"no source":        {from: at("none"), to: at("empty")},
		"no target":        {from: at("from"), to: at("none")},
		"a file as source": {from: at("file"), to: at("empty")},
		"a file as target": {from: at("from"), to: at("file")},
		"no base":          {from: at("from"), to: at("empty"), base: at("none")},
		"a copy in itself": {from: root, to: at("empty")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Copy(t.Context(), c.from, c.to, Options{Base: c.base})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "copying ") {
				t.Error(err)
			}
		})
	}
}

func TestCopyIsCancelled(t *testing.T) {
	from := newDir(t)
	plant(t, from, append(many(2000), everyday...)...)
	why := errors.New("enough")
	for after := range int32(4) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var asked atomic.Int32
		to := newDir(t)
		_, err := Copy(ctx, from, to, Options{Skip: func(string) bool {
			if asked.Add(1) > after*500 {
				cancel(why)
			}
			return false
		}})
		if !errors.Is(err, why) {
			t.Errorf("after %d: %v", after, err)
		}
		if err := Remove(t.Context(), to, "", nil); err != nil {
			t.Error(err)
		}
		cancel(nil)
	}
}

func TestCopyReadOnly(t *testing.T) {
	from, to := newDir(t), newDir(t)
	plant(t, from, "d/f=1")
	if _, err := Copy(t.Context(), from, to, Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, "d", "f"))
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A version that is read-only does not differ from what it was made of.
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("compared: %v, %v", found, err)
	}
	if err := Remove(t.Context(), to, "", nil); err != nil {
		t.Error(err)
	}
	gone(t, to)
}

func TestCopyWithBase(t *testing.T) {
	from, base, to := newDir(t), newDir(t), newDir(t)
	plant(t, from, everyday...)
	if _, err := Copy(t.Context(), from, base, Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	plant(t, from, "README=read it", "src/new=new", "new/new=new")
	if err := os.Remove(filepath.Join(from, "empty")); err != nil {
		t.Fatal(err)
	}
	before := picture(t, base)
	copied, err := Copy(t.Context(), from, to, Options{Base: base, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := copied.linked + copied.cloned; copied.linked > 0 && got != 3 || copied.linked == 0 && copied.cloned == 0 {
		t.Errorf("%d are links, %d clones", copied.linked, copied.cloned)
	}
	samePicture(t, before, picture(t, base))
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("compared: %v, %v", found, err)
	}
	found, err := Compare(t.Context(), base, to, nil, 0)
	want := []Difference{{"README", "changed"}, {"empty", "removed"}, {"new", "added"}, {"new/new", "added"}, {"src/new", "added"}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("compared: %v, %v", found, err)
	}
	// Each can go without the other.
	if err := Remove(t.Context(), base, "", nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(to, "src", "main.go")); err != nil || string(data) != "package main" {
		t.Errorf("%q, %v", data, err)
	}
}

// A file that is written to while it is read is read again.
func TestCopyOfWhatIsWritten(t *testing.T) {
	from := newDir(t)
	path := filepath.Join(from, "log")
	plant(t, from, "log="+strings.Repeat("a", 4*bufferSize))
	d, err := openDir(from)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for times, left := range []int{0, 0, 0, 1} {
		f, m, err := d.open("log")
		if err != nil {
			t.Fatal(err)
		}
		to, err := d.create(fmt.Sprint("copy", times))
		if err != nil {
			t.Fatal(err)
		}
		c := &copier{never: map[uint64]bool{}}
		writes := 0
		c.tally.tell = func(Count) {
			c.tally.last = long // so that each part is told
			if writes < times && c.tally.bytes.Load() == bufferSize {
				writes++
				appendTo(t, path, "more")
			}
		}
		err = run(t.Context(), func(p *pool) {
			c.pool = p
			_, err := c.bytes(&node{}, "log", f, to, m)
			if err != nil {
				p.fail(err)
			}
		})
		_, _ = f.close(), to.close()
		if err != nil || len(c.left.list) != left {
			t.Errorf("written %d times: %v, %q", times, err, c.left.list)
		}
		want, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.Stat(filepath.Join(from, fmt.Sprint("copy", times))); err != nil || left == 0 && got.Size() != want.Size() {
			t.Errorf("written %d times: %d bytes of %d, %v", times, got.Size(), want.Size(), err)
		}
		if left == 0 && c.tally.count().Bytes != want.Size() {
			t.Errorf("written %d times: counted %d of %d", times, c.tally.count().Bytes, want.Size())
		}
	}
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Error(err)
	}
}

//go:build unix

package tree

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCopyUnix(t *testing.T) {
	cases := map[string][]string{
		"modes":             {"0755 x/run=1", "0600 x/secret=2", "0444 x/read=3", "0000 x/none=4", "closed/f=1", "0555 closed/", "0700 mine/", "0000 shut/"},
		"links":             {"a->b", "b->a", "self->self", "out->/etc/passwd", "up->../../..", "d/in->../f", "f=1", "to->d", "long->" + strings.Repeat("x/", 1000)},
		"several names":     {"a=1", "b==a", "d/c==a", "shut/g==a", "other=1", "0555 shut/", "x/y/z==d/c"},
		"names":             {"new\nline=1", "\xff\xfe=2", "\x01=3", "back\\slash=4", " =5", "...=6", "*=7", "a:b=8", "CON=9", "\xff dir/\x80=1"},
		"bits beyond":       {"f=1"},
		"case is no matter": {"File=1", "file=2", "FILE/x=3"},
	}
	for name, list := range cases {
		t.Run(name, func(t *testing.T) {
			from, to := newDir(t), newDir(t)
			plant(t, from, list...)
			copied, err := Copy(t.Context(), from, to, Options{})
			if err != nil || len(copied.Left) > 0 {
				t.Fatalf("left %q, error %v", copied.Left, err)
			}
			samePicture(t, picture(t, from), picture(t, to))
			if want, got := names(t, from), names(t, to); want != got {
				t.Errorf("names of files are %s, want %s", got, want)
			}
			if err := Remove(t.Context(), to, "", nil); err != nil {
				t.Error(err)
			}
			gone(t, to)
		})
	}
}

// names tells which names below a directory are of one file.
func names(t testing.TB, dir string) string {
	t.Helper()
	first := map[uint64]string{}
	var out strings.Builder
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || !d.Type().IsRegular() || unix.Lstat(path, &st) != nil || st.Nlink < 2 {
			return err
		}
		if name, ok := first[st.Ino]; ok {
			fmt.Fprintf(&out, "%s==%s ", strings.TrimPrefix(path, dir), name)
			return nil
		}
		first[st.Ino] = strings.TrimPrefix(path, dir)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCopyTakesBitsAway(t *testing.T) {
	from, to := newDir(t), newDir(t)
	plant(t, from, "run=1", "d/", "shared/")
	for name, mode := range map[string]uint32{"run": 0o6755, "d": 0o2750, "shared": 0o1777} {
		if err := unix.Chmod(filepath.Join(from, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Copy(t.Context(), from, to, Options{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{"run": 0o755, "d": 0o750, "shared": 0o777} {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(to, name), &st); err != nil || uint32(st.Mode)&0o7777 != want {
			t.Errorf("%s is %o, want %o (%v)", name, st.Mode&0o7777, want, err)
		}
	}
}

func TestCopyLeavesOut(t *testing.T) {
	from, to := newDir(t), newDir(t)
	plant(t, from, "f=1", "d/g=2")
	if err := unix.Mkfifo(filepath.Join(from, "d", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A socket's path may be 104 bytes long, and those of tests are longer.
	t.Chdir(from)
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	copied, err := Copy(t.Context(), from, to, Options{})
	if err != nil || len(copied.Left) != 2 || copied.Files != 3 {
		t.Errorf("copied %d, left %q, %v", copied.Files, copied.Left, err)
	}
	gone(t, filepath.Join(to, "socket"))
	gone(t, filepath.Join(to, "d", "pipe"))
	// What is never copied is no difference.
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("compared: %v, %v", found, err)
	}
}

func TestCopyThroughLinks(t *testing.T) {
	root := newDir(t)
	plant(t, root, "real/f=1", "empty/", "source->real", "target->empty")
	for _, c := range [][2]string{{"source", "empty"}, {"real", "target"}} {
		if _, err := Copy(t.Context(), filepath.Join(root, c[0]), filepath.Join(root, c[1]), Options{}); err == nil {
			t.Errorf("copied from %s to %s", c[0], c[1])
		}
	}
	if _, err := Identity(filepath.Join(root, "source")); err == nil {
		t.Error("a link has an identity")
	}
}

func TestCopyKeepsHoles(t *testing.T) {
	const size = 5 << 30
	from, to, third := newDir(t), newDir(t), newDir(t)
	f, err := os.Create(filepath.Join(from, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, at := range []int64{0, 1 << 30, size - 10<<20} {
		if _, err := f.WriteAt([]byte(strings.Repeat("data", 1<<20)), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	copied, err := Copy(t.Context(), from, to, Options{})
	if err != nil || copied.Bytes != size {
		t.Fatalf("%+v, %v", copied, err)
	}
	was, err := Measure(t.Context(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	is, err := Measure(t.Context(), to, nil)
	if err != nil || is.Bytes > was.Bytes+1<<20 {
		t.Errorf("takes %d bytes, and took %d (%v)", is.Bytes, was.Bytes, err)
	}
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("compared: %v, %v", found, err)
	}
	if linked, err := Copy(t.Context(), from, third, Options{Base: to}); err != nil || linked.linked+linked.cloned != 1 {
		t.Errorf("%+v, %v", linked, err)
	}
	// One byte in a hole is a difference.
	if _, err := f.WriteAt([]byte{1}, 3<<30); err != nil {
		t.Fatal(err)
	}
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) != 1 {
		t.Errorf("compared: %v, %v", found, err)
	}
}

// Two files that became equal do not become one, where the older copy has one file
// under both names.
func TestCopyLinksOnce(t *testing.T) {
	from, base, to, again := newDir(t), newDir(t), newDir(t), newDir(t)
	plant(t, base, "a=same")
	if err := os.Link(filepath.Join(base, "a"), filepath.Join(base, "b")); err != nil {
		t.Fatal(err)
	}
	plant(t, from, "a=same", "b=same")
	copied, err := Copy(t.Context(), from, to, Options{Base: base})
	if err != nil || copied.linked > 1 {
		t.Errorf("%+v, %v", copied, err)
	}
	if _, err := Copy(t.Context(), to, again, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{to, again} {
		a, errA := os.Stat(filepath.Join(dir, "a"))
		b, errB := os.Stat(filepath.Join(dir, "b"))
		if errA != nil || errB != nil || os.SameFile(a, b) {
			t.Errorf("they are one file: %v, %v", errA, errB)
		}
	}
}

// A directory that becomes a link to another place while it is copied, or
// removed, leads nowhere else.
func TestSwappedDirectories(t *testing.T) {
	root := newDir(t)
	secret := []string{}
	for i := range 20 {
		secret = append(secret, fmt.Sprintf("outside/a/secret%d=hidden", i), fmt.Sprintf("work/dir/a/f%d=1", i))
	}
	plant(t, root, append(secret, "work/link->"+filepath.Join(root, "outside"))...)
	work, outside := filepath.Join(root, "work"), picture(t, filepath.Join(root, "outside"))
	swap := func(a, b, by string) {
		a, b, by = filepath.Join(work, a), filepath.Join(work, b), filepath.Join(work, by)
		_, _, _ = os.Rename(a, by), os.Rename(b, a), os.Rename(by, b)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				swap("dir", "link", "aside")
			}
		}
	})
	for range 200 {
		to := filepath.Join(root, "to")
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Copy(t.Context(), work, to, Options{}); err != nil {
			t.Error(err)
		}
		for path := range picture(t, to) {
			if strings.Contains(path, "secret") {
				t.Fatalf("%s was copied", path)
			}
		}
		if err := Remove(t.Context(), to, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	// What is made while all goes may stay; what lies elsewhere does.
	_ = Remove(t.Context(), work, "", nil)
	close(stop)
	swapper.Wait()
	samePicture(t, outside, picture(t, filepath.Join(root, "outside")))
	if err := Remove(t.Context(), work, "", nil); err != nil {
		t.Error(err)
	}
}

// A source in which others work is copied as far as it is there.
func TestCopyOfWhatChanges(t *testing.T) {
	from := newDir(t)
	plant(t, from, many(500)...)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := w; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				path := filepath.Join(from, "many", fmt.Sprintf("f%d", i%500))
				switch i % 4 {
				case 0:
					_ = os.Remove(path)
				case 1:
					_ = os.WriteFile(path, []byte(strings.Repeat("x", i%5000)), 0o600)
				case 2:
					_ = os.Remove(path)
					_ = os.Mkdir(path, 0o700)
				case 3:
					_ = os.Remove(path)
					_ = os.Symlink("nowhere", path)
				}
			}
		})
	}
	for range 10 {
		to := newDir(t)
		if _, err := Copy(t.Context(), from, to, Options{}); err != nil {
			t.Error(err)
		}
		if _, err := Measure(t.Context(), from, nil); err != nil {
			t.Error(err)
		}
		if _, err := Compare(t.Context(), from, to, nil, 0); err != nil {
			t.Error(err)
		}
		if err := Remove(t.Context(), to, "", nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	writers.Wait()
}

// deep makes directories in one another, deeper than a path may be long, with a
// file in each.
func deep(t testing.TB, root string, levels int, name string) {
	t.Helper()
	d, err := openDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for range levels {
		f, err := d.create("f")
		if err != nil {
			t.Fatal(err)
		}
		_ = f.close()
		if err := d.mkdir(name); err != nil {
			t.Fatal(err)
		}
		next, err := d.sub(name)
		if err != nil {
			t.Fatal(err)
		}
		d.close()
		d = next
	}
	d.close()
}

func TestDeeperThanAPath(t *testing.T) {
	for name, levels := range map[string]int{"d": 2500, strings.Repeat("long", 50): 300} {
		from, to, again := newDir(t), newDir(t), newDir(t)
		deep(t, from, levels, name)
		copied, err := Copy(t.Context(), from, to, Options{})
		if err != nil || copied.Files != int64(2*levels) {
			t.Fatalf("copied %d of %d, %v", copied.Files, 2*levels, err)
		}
		if n, err := Measure(t.Context(), to, nil); err != nil || n.Files != copied.Files {
			t.Errorf("measured %+v, %v", n, err)
		}
		if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
			t.Errorf("compared: %d, %v", len(found), err)
		}
		if levels < 1000 {
			repacked(t, from, again)
		}
		for _, dir := range []string{from, to, again} {
			if err := Remove(t.Context(), dir, "", nil); err != nil {
				t.Error(err)
			}
			gone(t, dir)
		}
	}
}

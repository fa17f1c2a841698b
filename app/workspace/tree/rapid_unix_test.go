//go:build unix

package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// grow makes any tree: directories, files with and without holes, links to
// anywhere, several names of a file, any permissions and names.
func grow(rt *rapid.T, root string) {
	name := rapid.OneOf(
		rapid.StringMatching(`[a-c]`),
		rapid.StringMatching(`[ -.0-~]{1,20}`),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 30), func(b []byte) string { return strings.ReplaceAll(string(b), "/", "_") }),
		rapid.Just(strings.Repeat("long", 63)),
	)
	dirs, files, modes := []string{root}, []string{}, map[string]uint32{}
	for range rapid.IntRange(0, 30).Draw(rt, "entries") {
		in := rapid.SampledFrom(dirs).Draw(rt, "in")
		base := name.Draw(rt, "name")
		path := filepath.Join(in, base)
		if !plain(base) || len(path) > 3000 {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		var err error
		switch what := rapid.IntRange(0, 5).Draw(rt, "what"); {
		case what <= 1:
			err = os.Mkdir(path, 0o700)
			dirs = append(dirs, path)
		case what == 2:
			err = os.Symlink(rapid.SampledFrom([]string{".", "..", "a", "/", "none", path, "b/c", "\xff"}).Draw(rt, "target"), path)
		case what == 3 && len(files) > 0:
			err = os.Link(rapid.SampledFrom(files).Draw(rt, "first"), path)
			modes[path] = 0o600
		default:
			var f *os.File
			if f, err = os.Create(path); err == nil {
				at := int64(0)
				for range rapid.IntRange(0, 3).Draw(rt, "parts") {
					at += rapid.SampledFrom([]int64{0, 1, 4096, 1 << 20}).Draw(rt, "hole")
					n, _ := f.WriteAt(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "data"), at)
					at += int64(n)
				}
				err = f.Truncate(at + rapid.SampledFrom([]int64{0, 1, 5000}).Draw(rt, "end"))
				_ = f.Close()
			}
			files = append(files, path)
			modes[path] = 0o600
		}
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "timed") {
			ts := unix.NsecToTimespec(rapid.Int64Range(0, 2_000_000_000_000_000_000).Draw(rt, "time"))
			if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				rt.Fatal(err)
			}
		}
	}
	for _, path := range dirs[1:] {
		modes[path] = 0o700
	}
	for path, least := range modes {
		// Picture and the test have to read it, whoever runs them.
		if err := os.Chmod(path, os.FileMode(least|rapid.Uint32Range(0, 0o777).Draw(rt, "mode"))); err != nil {
			rt.Fatal(err)
		}
	}
}

func TestAnyTree(t *testing.T) {
	root, n := newDir(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		at := func(name string) string {
			path := filepath.Join(root, fmt.Sprint(n), name)
			if err := os.MkdirAll(path, 0o700); err != nil {
				rt.Fatal(err)
			}
			return path
		}
		from, copied, linked, unpacked := at("from"), at("copied"), at("linked"), at("unpacked")
		grow(rt, from)
		want := picture(t, from)
		result, err := Copy(t.Context(), from, copied, Options{})
		if err != nil || len(result.Left) > 0 || result.Files != int64(len(want)-1) {
			rt.Fatalf("%+v, %v", result, err)
		}
		if _, err := Copy(t.Context(), from, linked, Options{Base: copied}); err != nil {
			rt.Fatal(err)
		}
		repacked(t, from, unpacked)
		for _, to := range []string{copied, unpacked} {
			samePicture(t, want, picture(t, to))
			if a, b := names(t, from), names(t, to); a != b {
				rt.Fatalf("names of files are %s, want %s", b, a)
			}
		}
		for _, to := range []string{copied, linked, unpacked} {
			if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
				rt.Fatalf("%v, %v", found, err)
			}
		}
		if err := Remove(t.Context(), filepath.Join(root, fmt.Sprint(n)), "", nil); err != nil {
			rt.Fatal(err)
		}
		gone(t, from)
		if t.Failed() {
			rt.FailNow()
		}
	})
}

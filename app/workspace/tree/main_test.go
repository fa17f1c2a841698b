package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unixLike reports whether files have permissions, links and any name.
const unixLike = runtime.GOOS != "windows"

// long is when the files of these tests were written.
var long = time.Date(2024, 2, 29, 12, 34, 56, 123456700, time.UTC)

// plant makes what a list says below dir: "path" makes a directory when it ends in a
// slash, "path=content" a file, "path->target" a link, "path==other" another name
// of a file. A mode may stand before, as "0640 path=content"; modes are set in the end,
// in their order.
func plant(t testing.TB, dir string, list ...string) {
	t.Helper()
	type mode struct {
		path string
		mode fs.FileMode
	}
	var modes []mode
	for _, line := range list {
		perm, given := fs.FileMode(0), false
		if len(line) > 5 && line[0] == '0' && line[4] == ' ' {
			if _, err := fmt.Sscanf(line[:4], "%o", &perm); err != nil {
				t.Fatal(err)
			}
			line, given = line[5:], true
		}
		name := line
		var err error
		make := func(cut string, do func(path, rest string) error) bool {
			before, rest, found := strings.Cut(line, cut)
			if found {
				name = before
				path := filepath.Join(dir, filepath.FromSlash(before))
				if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
					err = do(path, rest)
				}
			}
			return found
		}
		switch {
		case make("->", func(path, target string) error { return os.Symlink(target, path) }):
		case make("==", func(path, first string) error { return os.Link(filepath.Join(dir, first), path) }):
		case make("=", func(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) }):
		default:
			err = os.MkdirAll(filepath.Join(dir, name), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		if given {
			modes = append(modes, mode{filepath.Join(dir, name), perm})
		}
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, long, long)
	}); err != nil {
		t.Fatal(err)
	}
	for _, m := range modes {
		if err := os.Chmod(m.path, m.mode); err != nil {
			t.Fatal(err)
		}
		if m.mode.Perm()&0o700 != 0o700 {
			t.Cleanup(func() { _ = os.Chmod(m.path, 0o700) })
		}
	}
}

// picture describes all that is below a directory, a line for each path. Without
// times, and with permissions where there are any.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := ""
		switch {
		case d.IsDir():
			line = "directory"
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			line = fmt.Sprintf("%d bytes %s", len(data), hex.EncodeToString(sum[:6]))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line = "-> " + target
		default:
			line = info.Mode().Type().String()
		}
		if unixLike && info.Mode()&fs.ModeSymlink == 0 && name != "." {
			line += " " + info.Mode().String()
		}
		if unixLike || info.Mode()&fs.ModeSymlink == 0 {
			line += " " + info.ModTime().UTC().Format(time.RFC3339Nano)
		}
		lines[filepath.ToSlash(name)] = line
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// samePicture fails when two directories are not alike.
func samePicture(t testing.TB, want, got map[string]string) {
	t.Helper()
	for path, line := range want {
		if got[path] != line {
			t.Errorf("%q is %q, want %q", path, got[path], line)
		}
	}
	for path, line := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%q is %q, want nothing", path, line)
		}
	}
}

// gone fails when a path is there.
func gone(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there (%v)", path, err)
	}
}

// newDir is an empty directory that nothing is cleaned up in but what Remove can.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

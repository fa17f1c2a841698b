package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A lock that cannot be tried is not a free one.
func TestHeldOf(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) lockPlace { return lockPlace{filepath.Join(dir, name), "X"} }
	places := []lockPlace{at("none"), at("directory"), at("link"), at("first"), at("second")}
	for _, err := range []error{
		os.Mkdir(places[1].path, 0o700), os.Symlink(dir, places[2].path), os.WriteFile(places[3].path, nil, 0o600), os.WriteFile(places[4].path, nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := &fs.PathError{Op: "open", Path: places[3].path, Err: syscall.ENOENT}
	for name, test := range map[string]struct {
		first, second bool // whether they are held
		err           error
		want          string
		told          string
	}{
		"free":              {},
		"held":              {first: true, want: places[3].path},
		"the second":        {second: true, want: places[4].path},
		"gone meanwhile":    {err: gone, second: true, want: places[4].path},
		"no locks there":    {err: syscall.ENOLCK, told: places[3].path + ": no locks available; quit it, remove that file, and do this again"},
		"it cannot be read": {err: &fs.PathError{Op: "open", Path: places[3].path, Err: syscall.EACCES}, told: places[3].path + ": permission denied; quit it"},
	} {
		got, err := heldOf(places, func(path string) (bool, error) {
			switch path {
			case places[3].path:
				return test.first, test.err
			case places[4].path:
				return test.second, nil
			}
			t.Errorf("%s: tried %s", name, path)
			return false, nil
		})
		if got != test.want || (err != nil) != (test.told != "") || err != nil && !strings.Contains(err.Error(), test.told) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

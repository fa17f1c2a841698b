//go:build unix

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On Windows a directory that is watched does not tell that it was renamed.
func TestReloadAfterTheDirectoryWasRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lamplighter", "config.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	w.serve()
	must(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+".old"))
	w.wants(TrayIconAuto)
	must(t, os.Rename(filepath.Dir(path)+".old", filepath.Dir(path)))
	w.wants(TrayIconDark)
}

// Dotfile managers link the file, its directory or one above, and swap links.
func TestReloadThroughLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	swap := func(target, link string) {
		t.Helper()
		must(t, os.Symlink(target, link+".new"))
		must(t, os.Rename(link+".new", link))
	}
	write(t, at("one", "lamplighter", "config.yaml"), "tray_icon: dark\n")
	write(t, at("two", "lamplighter", "config.yaml"), "tray_icon: light\n")
	write(t, at("store", "hidden.yaml"), "tray_icon: hidden\n")
	must(t, os.Symlink("one", at(".config")))

	w := newWatched(t, at(".config", "lamplighter", "config.yaml"), false)
	if s, err := w.Load(); err != nil || s.TrayIcon != TrayIconDark {
		t.Fatal(s, err)
	}
	w.serve()
	swap(at("two"), at(".config"))
	w.wants(TrayIconLight)
	write(t, at("two", "lamplighter", "config.yaml"), "tray_icon: dark\n") // what it leads to
	w.wants(TrayIconDark)
	swap("../../store/hidden.yaml", at("two", "lamplighter", "config.yaml"))
	w.wants(TrayIconHidden)
	write(t, at("store", "hidden.yaml"), "tray_icon: light\n")
	w.wants(TrayIconLight)
	must(t, os.Remove(at(".config"))) // leads nowhere
	w.wants(TrayIconAuto)
	must(t, os.Symlink("nowhere", at(".config")))
	write(t, at("nowhere", "lamplighter", "config.yaml"), "tray_icon: dark\n")
	w.wants(TrayIconDark)
	must(t, os.Remove(at(".config")))
	w.wants(TrayIconAuto)
	must(t, os.Symlink(".config", at(".config"))) // leads to itself
	w.wantsProblem("too many", TrayIconAuto)
	must(t, os.Remove(at(".config")))
	write(t, at(".config", "lamplighter", "config.yaml"), "tray_icon: light\n")
	w.wants(TrayIconLight)
}

func TestReloadWithoutPermission(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "tray_icon: dark\n")
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	// Nothing is refused to root, who may be running the tests.
	w.read = func(path string) ([]byte, error) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o400 == 0 {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return readSettings(path)
	}
	w.serve()
	must(t, os.Chmod(path, 0))
	w.wantsProblem("not permitted", TrayIconDark)
	must(t, os.Chmod(path, 0o600))
	w.wants(TrayIconDark)
}

func TestRoute(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write(t, filepath.Join(dir, "real", "c.yaml"), "")
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	must(t, os.Symlink("../real/./c.yaml", filepath.Join(dir, "real", "to")))
	for _, test := range []struct {
		path string
		want map[string]string
	}{
		{"real/c.yaml", map[string]string{"real": "c.yaml"}},
		{"real/none.yaml", map[string]string{"real": "none.yaml"}},
		{"none/deep/c.yaml", map[string]string{".": "none"}},
		{"link/c.yaml", map[string]string{".": "link", "real": "c.yaml"}},
		{"link/to", map[string]string{".": "link", "real": "to c.yaml"}},
		{"real/c.yaml/below", map[string]string{"real": "c.yaml"}},
	} {
		got := route(filepath.Join(dir, test.path))
		if len(got) != len(test.want) {
			t.Errorf("%s: %v", test.path, got)
		}
		for place, names := range test.want {
			if strings.Join(got[filepath.Join(dir, place)], " ") != names {
				t.Errorf("%s: got %v, want %s in %s", test.path, got, names, place)
			}
		}
	}
}

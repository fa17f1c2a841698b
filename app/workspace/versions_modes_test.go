package workspace

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestModesText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perm := rapid.Map(rapid.Uint32Range(0, 0o777), func(n uint32) fs.FileMode { return fs.FileMode(n) })
		name := rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 20), func(b []byte) string { return string(b) })
		want := modes{usual: perm.Draw(t, "usual") & writeBits, files: rapid.MapOf(name, perm).Draw(t, "files")}
		got, err := parseModes(want.text())
		if err != nil || got.usual != want.usual || !maps.Equal(got.files, want.files) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestParseModesRefuses(t *testing.T) {
	for _, text := range []string{"x", "0644", "0999 a\x00", "01000 a\x00", "-1 a\x00", "0644\x00a\x00", " a\x00"} {
		if d, err := parseModes([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// Most files have the usual permissions, so only the others are written down.
func TestModesOf(t *testing.T) {
	if os.PathSeparator == '\\' {
		return // there is one permission there, which the crash tests restore
	}
	from, to := t.TempDir(), t.TempDir()
	was := map[string]fs.FileMode{"a": 0o664, "b": 0o664, "c/d": 0o775, "e": 0o600, "f": 0o444, "g": 0o555, "h": 0o666, "i": 0o660}
	for name, perm := range was {
		for _, dir := range []string{from, to} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if dir == to {
				perm &^= writeBits
			}
			if err := os.Chmod(path, perm); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(from, "b")); err != nil { // meanwhile
		t.Fatal(err)
	}
	d, err := modesOf(from, to)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]fs.FileMode{"e": 0o600, "f": 0o444, "g": 0o555, "h": 0o666}; d.usual != 0o220 || !maps.Equal(d.files, want) {
		t.Errorf("%o, %v", d.usual, d.files)
	}
	if err := os.Chmod(filepath.Join(to, "c"), 0); err != nil {
		t.Fatal(err)
	}
	if err := giveModes(t.Context(), to, d); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(to, "c")); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("a directory that was closed is %v, %v", info, err)
	}
	if err := os.Chmod(filepath.Join(to, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range was {
		info, err := os.Lstat(filepath.Join(to, filepath.FromSlash(name)))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has %v, not %o: %v", name, info.Mode(), want, err)
		}
	}
}

func TestReadModesOfADamagedVersion(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	for _, text := range []string{"x", ""} {
		dir := l.source("v"+text, map[string]string{modesFile: text})
		if d := m.readModes(dir); d.of("a", 0o444)&0o200 == 0 {
			t.Errorf("%q: %+v", text, d)
		}
	}
	if d := m.readModes(l.path("none")); d.of("a", 0o444) != 0o644 {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(l.logged(), "permissions of a version") {
		t.Error(l.logged())
	}
}

//go:build unix

package installer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInstallBringsAnIcon(t *testing.T) {
	l := newLab(t)
	l.o.OS = "linux"
	l.o.Icon = []byte("<svg/>")
	l.unpack("1")
	icon := l.home(".local", "share", "icons", "hicolor", "scalable", "apps", "lamplighter.svg")
	l.write(l.at("got", "share", "icons", "hicolor", "scalable", "apps", "lamplighter.svg"), "of the archive")
	l.install(noLogin)
	if l.read(icon) != "of the archive" {
		t.Errorf("%q is the icon", l.read(icon))
	}
	l.uninstall(UninstallOptions{})
	if err := os.RemoveAll(l.at("got", "share")); err != nil {
		t.Fatal(err)
	}
	l.install(noLogin)
	if l.read(icon) != "<svg/>" {
		t.Errorf("%q is the icon", l.read(icon))
	}
	l.uninstall(UninstallOptions{})
	if there(icon) {
		t.Error("the icon is still there")
	}
}

// What starts at login is not taken away from under it.
func TestInstallInPlaceLeavesWhatStartsAtLogin(t *testing.T) {
	l := newLab(t)
	l.o.OS = "linux"
	l.unpack("1")
	l.install(InstallOptions{})
	p := l.plan(InstallOptions{InPlace: true, NoLogin: true})
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "starts at login") }) {
		t.Errorf("it says %q", p.Notes)
	}
	l.install(InstallOptions{InPlace: true, NoLogin: true})
	on := 0
	for _, e := range l.installer().Login().Entries {
		if e.On && e.Ours {
			on++
			if !isPlain(e.Program) {
				t.Errorf("%s is gone, and starts at login", e.Program)
			}
		}
	}
	if on == 0 {
		t.Error("nothing starts at login any more")
	}
	l.install(InstallOptions{InPlace: true})
	if there(l.bin(mainName)) {
		t.Error("the one that nothing starts any more is still there")
	}
}

func TestIsLamplighter(t *testing.T) {
	dir := t.TempDir()
	const mark = "path\tlamplighter/app/connect\nmod\tlamplighter\t(devel)\n"
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		"ours":                  {"\x00go\x00" + mark, true},
		"far behind":            {strings.Repeat("x", 3<<20) + mark, true},
		"where reading is cut":  {strings.Repeat("x", 1<<20+100-20) + mark, true},
		"at its end":            {strings.Repeat("x", 1<<20+100-len(mark)) + mark, true},
		"another of the module": {"path\tlamplighter/icons/gen\nmod\tlamplighter\t(devel)\n", false},
		"another module":        {"path\tlamplighter/app\nmod\texample.org/lamplighter\tv1\n", false},
		"nothing":               {"", false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(test.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := isLamplighter(path); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if isLamplighter(dir) || isLamplighter(filepath.Join(dir, "none")) {
		t.Error("a directory, or nothing, is a program")
	}
}

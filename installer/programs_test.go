package installer

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var noLogin = InstallOptions{NoLogin: true}

func exeName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// bin is the path of an installed program.
func (l *lab) bin(name string) string {
	return filepath.Join(l.installer().binDir(), exeName(name))
}

// files are the regular files and links in the home directory.
func (l *lab) files() []string {
	all := content(l.t, l.o.Home)
	maps.DeleteFunc(all, func(_, text string) bool { return text == "/" })
	return slices.Sorted(maps.Keys(all))
}

// expected are the files of an installation of a version.
func (l *lab) expected(version string) []string {
	list := []string{".local/share/doc/lamplighter/only-in-" + version, ".local/share/man/man1/lamplighter.1"}
	names := []string{mainName, connectName}
	if runtime.GOOS == "windows" {
		names = append(names, trayName)
	}
	if runtime.GOOS == "linux" {
		list = append(list, ".local/share/applications/lamplighter.desktop")
	}
	for _, name := range names {
		rel, err := filepath.Rel(l.o.Home, l.bin(name))
		if err != nil {
			l.t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(rel))
	}
	list = append(list, ".local/state/lamplighter/install.json", ".local/state/lamplighter/install.lock")
	slices.Sort(list)
	return list
}

func (l *lab) installed(version string) {
	l.t.Helper()
	if got, want := l.files(), l.expected(version); !slices.Equal(got, want) {
		l.t.Errorf("there is\n%q, not\n%q", got, want)
	}
	if got := l.read(l.bin(mainName)); !strings.HasSuffix(got, version) {
		l.t.Errorf("the program is not of version %s", version)
	}
	if got := l.read(l.bin(connectName)); got != "connect "+version {
		l.t.Errorf("connect is %q", got)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(l.bin(mainName)); err != nil || info.Mode()&0o100 == 0 {
			l.t.Errorf("the program cannot be run: %v, %v", info, err)
		}
	}
}

func TestInstallUpgradeUninstall(t *testing.T) {
	for _, dir := range []string{"home", "my home", "хоме 家", "a%b$c'd"} {
		t.Run(dir, func(t *testing.T) {
			l := newLabIn(t, filepath.Join(mkdir(t, t.TempDir(), dir)))
			l.unpack("1")
			before := content(t, l.o.Home)
			l.install(noLogin)
			l.installed("1")
			if runtime.GOOS == "windows" {
				if got := l.read(l.bin(trayName)); got != string(peProgram(subsystemGUI))+"1" {
					t.Error("the program for the tray is not the other one without a console")
				}
			}

			l.unpack("2")
			l.install(noLogin)
			l.installed("2")

			got := l.o.Self
			l.o.Self = l.bin(mainName)
			here, err := l.installer().Installed()
			if err != nil || here.Kind != ByHand || here.Programs.Main != l.o.Self || here.Programs.Connect != l.bin(connectName) || here.Unfinished {
				t.Errorf("%+v, %v", here, err)
			}
			if here.Receipt == nil || here.Receipt.Version != "2" {
				t.Errorf("%+v", here.Receipt)
			}
			// The installed one installs itself in its place.
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(got))); err != nil {
				t.Fatal(err)
			}
			l.do(l.plan(noLogin))
			if got := l.read(l.bin(mainName)); !strings.HasSuffix(got, "2") {
				t.Error("it has not stayed")
			}
			l.uninstall(UninstallOptions{})
			after := content(t, l.o.Home)
			sameContent(t, "afterwards", after, before)
		})
	}
}

func mkdir(t testing.TB, names ...string) string {
	t.Helper()
	dir := filepath.Join(names...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Man pages and the like are of the archive that was installed; the program
// alone does not know them, and they are not to go for that.
func TestInstalledOneKeepsWhatCameWithIt(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	if err := os.RemoveAll(l.at("got")); err != nil {
		t.Fatal(err)
	}
	l.o.Self = l.bin(mainName)
	if p := l.plan(noLogin); len(p.Changes) > 0 {
		t.Errorf("it would %v", p.Changes)
	}
	l.installed("1")
}

func TestInstallAfterTheHomeHasMoved(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	old := l.o.Home
	l.o.Home = l.at("elsewhere")
	if err := os.Rename(old, l.o.Home); err != nil {
		t.Fatal(err)
	}
	l.o.ConfigHome, l.o.DataHome = l.home(".config"), l.home(".local", "share")
	l.o.StateDir, l.o.ConfigDir, l.o.LocalApps = l.home(".local", "state", "lamplighter"), l.home(".config", "lamplighter"), l.home("Programs")
	l.unpack("2")
	l.install(noLogin)
	l.installed("2")
	if runtime.GOOS == "linux" {
		if entry := l.read(l.home(".local", "share", "applications", "lamplighter.desktop")); strings.Contains(entry, old) || !strings.Contains(entry, l.o.Home) {
			t.Errorf("the entry of the menu: %s", entry)
		}
	}
	// What is at the old place by then is somebody else's.
	l.write(filepath.Join(old, ".local", "share", "man", "man1", "lamplighter.1"), "man 2")
	l.uninstall(UninstallOptions{})
	if files := l.files(); len(files) > 0 {
		t.Errorf("it has left %q", files)
	}
	if all := content(t, old); len(all) != 5 {
		t.Errorf("at the old place is %q", all)
	}
}

// inTheWay is what lies where a program is to be.
type inTheWay struct {
	put     func(l *lab, path string)
	foreign bool // else it cannot be put aside
}

func TestInstallFindsSomethingInTheWay(t *testing.T) {
	all := linksInTheWay()
	maps.Copy(all, map[string]inTheWay{
		"a file":      {func(l *lab, path string) { l.write(path, "mine") }, true},
		"a directory": {func(l *lab, path string) { l.write(filepath.Join(path, "x"), "mine") }, false},
	})
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.unpack("1")
			path := l.bin(mainName)
			test.put(l, path)
			before := content(t, l.dir)
			_, err := l.installer().PlanInstall(t.Context(), noLogin)
			if err == nil || errors.Is(err, ErrForeign) != test.foreign || !strings.Contains(err.Error(), path) {
				t.Errorf("without leave: %v", err)
			}
			replace := noLogin
			replace.Replace = true
			p, err := l.installer().PlanInstall(t.Context(), replace)
			if !test.foreign {
				if err == nil {
					t.Errorf("it would %v", p.Changes)
				}
				sameContent(t, "untouched", content(t, l.dir), before)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.do(p)
			if got := l.read(path); !strings.HasSuffix(got, "1") {
				t.Error("it was not installed")
			}
			rel, err := filepath.Rel(l.dir, path)
			if err != nil {
				t.Fatal(err)
			}
			after, rel := content(t, l.dir), filepath.ToSlash(rel)
			if after[rel+BackupSuffix] != before[rel] {
				t.Errorf("what was put aside is %q, not %q", after[rel+BackupSuffix], before[rel])
			}
			if far, ok := before["far"]; ok && after["far"] != far {
				t.Error("it was written through the link")
			}
			l.uninstall(UninstallOptions{})
			if after := content(t, l.dir); after[rel+BackupSuffix] != before[rel] {
				t.Error("what was put aside is gone")
			}
		})
	}
}

func TestInstallRefusesWithoutPrograms(t *testing.T) {
	for name, test := range map[string]struct {
		change func(l *lab)
		says   string
	}{
		"no connect": {func(l *lab) { l.remove(l.at("got", "bin", exeName(connectName))) }, "not beside"},
		"gone":       {func(l *lab) { l.remove(l.o.Self) }, "not there any more"},
		"unknown":    {func(l *lab) { l.o.Self = "" }, "which program runs"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.unpack("1")
			test.change(l)
			_, err := l.installer().PlanInstall(t.Context(), noLogin)
			if !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), test.says) {
				t.Error(err)
			}
			if files := l.files(); len(files) > 0 {
				t.Errorf("there is %q", files)
			}
		})
	}
}

func (l *lab) remove(path string) {
	l.t.Helper()
	if err := os.Remove(path); err != nil {
		l.t.Fatal(err)
	}
}

func TestInstallRefusesWithoutAHome(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.write(l.at("file"), "")
	for name, change := range map[string]func(o *Options){
		"none":     func(o *Options) { o.Home = "" },
		"relative": func(o *Options) { o.Home = "home" },
		"missing":  func(o *Options) { o.Home = l.at("nowhere") },
		"a file":   func(o *Options) { o.Home = l.at("file") },
		"no state": func(o *Options) { o.StateDir = "" },
	} {
		t.Run(name, func(t *testing.T) {
			o := l.o
			change(&o)
			p, err := New(o).PlanInstall(t.Context(), noLogin)
			if !errors.Is(err, ErrNoHome) {
				t.Errorf("%v, %v", p.Changes, err)
			}
		})
	}
	o := l.o
	o.StateDir = ""
	if err := New(o).Do(t.Context(), Plan{forget: true}, nil); !errors.Is(err, ErrNoHome) {
		t.Errorf("Do: %v", err)
	}
	if files := l.files(); len(files) > 0 {
		t.Errorf("there is %q", files)
	}
}

func TestInstallInPlace(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	o := noLogin
	o.InPlace = true
	l.install(o)
	if _, err := os.Lstat(l.bin(mainName)); err == nil {
		t.Error("it was copied")
	}
	here, err := l.installer().Installed()
	if err != nil || here.Kind != ByHand {
		t.Errorf("%+v, %v", here, err)
	}
	before := content(t, l.at("got"))
	p := l.uninstall(UninstallOptions{})
	sameContent(t, "the programs", content(t, l.at("got")), before)
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, l.o.Self) }) {
		t.Errorf("it does not say that they stay: %q", p.Notes)
	}
	if files := l.files(); len(files) > 0 {
		t.Errorf("it has left %q", files)
	}
}

// Copied first, then installed in place: what was copied goes.
func TestInstallInPlaceOverACopy(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	o := noLogin
	o.InPlace = true
	l.install(o)
	if _, err := os.Lstat(l.bin(mainName)); err == nil {
		t.Error("the copy is still there")
	}
}

func TestHeadlessIsKept(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	o := noLogin
	o.Headless = true
	l.install(o)
	l.unpack("2")
	l.install(noLogin)
	if r := l.receipt(); !r.Headless || r.Version != "2" {
		t.Errorf("%+v", r)
	}
}

// An archive that was unpacked over a folder with the programs of others brings
// nothing of theirs.
func TestShareTakesOnlyItsOwn(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	for n := range 50 {
		l.write(l.at("got", "share", "other", strconv.Itoa(n)), "x")
	}
	l.install(noLogin)
	l.installed("1")
}

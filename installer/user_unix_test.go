//go:build unix

package installer

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// realProgram is lamplighter-connect, built.
func realProgram(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), exeName(connectName))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "lamplighter/app/connect").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// link makes a link to a folder that it makes.
func (l *lab) link(path, to string) string {
	l.t.Helper()
	l.mkdir(to)
	l.mkdir(filepath.Dir(path))
	if err := os.Symlink(to, path); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func linkedStates() map[string]func(l *lab) string {
	return map[string]func(l *lab) string{
		"a link":            func(l *lab) string { return l.link(l.home("lamplighter"), l.home("far")) },
		"a link of another": func(l *lab) string { return l.link(l.home("state"), l.home("far")) },
	}
}

func linksInTheWay() map[string]inTheWay {
	return map[string]inTheWay{
		"a link": {func(l *lab, path string) {
			l.write(l.at("far"), "mine")
			l.mkdir(filepath.Dir(path))
			if err := os.Symlink(l.at("far"), path); err != nil {
				l.t.Fatal(err)
			}
		}, true},
		"a link to nowhere": {func(l *lab, path string) {
			l.mkdir(filepath.Dir(path))
			if err := os.Symlink(l.at("nowhere"), path); err != nil {
				l.t.Fatal(err)
			}
		}, true},
		"a link to the program itself": {func(l *lab, path string) {
			l.mkdir(filepath.Dir(path))
			if err := os.Symlink(l.o.Self, path); err != nil {
				l.t.Fatal(err)
			}
		}, true},
	}
}

func TestUninstallFollowsNoLinks(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	l.write(l.home("far", "keys", "a.lock"), "mine")
	l.write(l.home("far", "mine"), "mine")
	l.link(filepath.Join(l.o.StateDir, "servers"), l.home("far"))
	l.link(filepath.Join(l.o.StateDir, "keys"), l.home("far", "keys"))
	l.uninstall(UninstallOptions{Purge: true})
	if files := l.files(); !slices.Equal(files, []string{"far/keys/a.lock", "far/mine"}) {
		t.Errorf("it has left %q", files)
	}
	// Likewise where the folder is not ours alone.
	l.o.StateDir = l.home("state")
	l.link(filepath.Join(l.o.StateDir, "keys"), l.home("far", "keys"))
	l.uninstall(UninstallOptions{Purge: true})
	if files := l.files(); !slices.Contains(files, "far/keys/a.lock") {
		t.Errorf("it has left %q", files)
	}
}

func TestLockIsNoFile(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	p := l.plan(noLogin)
	l.write(l.home("far"), "mine")
	l.mkdir(l.o.StateDir)
	if err := os.Symlink(l.home("far"), l.installer().lockPath()); err != nil {
		t.Fatal(err)
	}
	if err := l.installer().Do(t.Context(), p, nil); err == nil {
		t.Error("it took a link for its lock")
	}
	if l.read(l.home("far")) != "mine" {
		t.Error("it wrote through the link")
	}
}

func TestReceiptIsALink(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.write(l.home("far"), `{"files": []}`)
	l.mkdir(l.o.StateDir)
	if err := os.Symlink(l.home("far"), l.installer().receiptPath()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.installer().PlanInstall(t.Context(), noLogin); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
}

func TestPermissions(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	for path, want := range map[string]os.FileMode{
		l.bin(mainName): 0o755, l.installer().receiptPath(): 0o600, l.o.StateDir: 0o700,
		l.home(".local", "share", "man", "man1", "lamplighter.1"): 0o644,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&^0o022 != want&^0o022 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	// A program that cannot be run any more is installed again.
	if err := os.Chmod(l.bin(mainName), 0o644); err != nil {
		t.Fatal(err)
	}
	l.install(noLogin)
	l.installed("1")
}

func TestInstallTakesOverAnOlderOneByHand(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	// Somebody has copied a real program there, without a receipt.
	real, err := os.ReadFile(realProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	l.write(l.bin(mainName), string(real))
	l.install(noLogin)
	l.installed("1")
}

func TestInstallFromAProgramThatWasReplaced(t *testing.T) {
	l := newLab(t)
	l.o.OS = "linux"
	l.unpack("1")
	self := l.o.Self
	l.o.Self += " (deleted)"
	if p := l.plan(noLogin); len(p.Changes) < 3 || p.Changes[0].From != self {
		t.Errorf("it would %v", p.Changes)
	}
	// A program may be called so.
	l.write(l.o.Self, "odd")
	if p := l.plan(noLogin); p.Changes[0].From != l.o.Self {
		t.Errorf("it would %v", p.Changes)
	}
}

func TestInstallNotesWhatATerminalFinds(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.write(l.at("other", mainName), "another")
	bin, other := filepath.Dir(l.bin(mainName)), l.at("other")
	for path, says := range map[string]string{
		"/nowhere":        "",
		bin:               "",
		other + ":" + bin: "comes first",
		bin + ":" + other: "",
	} {
		l.env["PATH"] = path
		p := l.plan(noLogin)
		if says == "" && len(p.Notes) > 0 || says != "" && (len(p.Notes) != 1 || !strings.Contains(p.Notes[0], says)) {
			t.Errorf("%s: %q", path, p.Notes)
		}
	}
}

// An archive that was unpacked into ~/.local lies in its place.
func TestInstallFromWhereItStays(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	if err := os.Rename(l.at("got"), l.home(".local")); err != nil {
		t.Fatal(err)
	}
	l.o.Self = l.bin(mainName)
	l.install(noLogin)
	l.uninstall(UninstallOptions{})
	want := []string{".local/share/somebody-else"}
	if runtime.GOOS != "linux" {
		want = append([]string{".local/share/applications/lamplighter.desktop"}, want...)
	}
	if files := l.files(); !slices.Equal(files, want) {
		t.Errorf("it has left %q", files)
	}
}

// What is behind a link below the state directory is not in it.
func TestUninstallTakesNothingBehindLinks(t *testing.T) {
	l := newLab(t)
	l.o.StateDir = l.home("state")
	l.env["LAMPLIGHTER_STATE_DIR"] = l.o.StateDir
	l.write(l.home("far", "abc.lock"), "")
	l.write(l.home("far", "00000000-1111-2222-3333-444444444444.json"), "{}")
	for _, name := range []string{"run", "keys", "workspaces"} {
		l.mkdir(l.home("state", name))
	}
	before := content(t, l.home("far"))
	for _, name := range []string{"run/keys", "servers", "workspaces/records"} {
		l.link(l.home("state", filepath.FromSlash(name)), l.home("far"))
	}
	l.write(l.home("state", "keys", "abc.lock"), "")
	l.uninstall(UninstallOptions{Purge: true})
	sameContent(t, "behind links", content(t, l.home("far")), before)
	if there(l.home("state", "keys")) {
		t.Error("our own lock is still there")
	}
}

// Settings and state are in one folder where links lead there.
func TestUninstallKeepsSettingsBehindLinks(t *testing.T) {
	for name, link := range map[string]func(l *lab){
		"config to state": func(l *lab) {
			l.mkdir(l.home(".local", "state"))
			l.link(l.o.ConfigHome, l.home(".local", "state"))
		},
		"state to config": func(l *lab) {
			l.mkdir(l.o.ConfigHome)
			l.mkdir(l.home(".local"))
			l.link(l.home(".local", "state"), l.o.ConfigHome)
		},
		"the file": func(l *lab) {
			l.mkdir(l.o.ConfigDir)
			if err := os.Symlink(filepath.Join(l.o.StateDir, "dot", "files"), filepath.Join(l.o.ConfigDir, settingsName)); err != nil {
				l.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			link(l)
			l.unpack("1")
			l.install(noLogin)
			l.writeState()
			settings := filepath.Join(l.o.ConfigDir, settingsName)
			l.mkdir(filepath.Join(l.o.StateDir, "dot"))
			l.write(settings, "settings")
			l.uninstall(UninstallOptions{})
			if l.read(settings) != "settings" {
				t.Error("the settings are gone")
			}
			if there(filepath.Join(l.o.StateDir, "events.jsonl")) {
				t.Error("the rest is still there")
			}
			l.uninstall(UninstallOptions{Purge: true})
			if name != "the file" && there(settings) {
				t.Error("the settings are still there")
			}
		})
	}
}

package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// kill carries out a plan up to the first point that begins with prefix.
func (l *lab) kill(prefix string, plan func(i *Installer) (Plan, error)) {
	l.t.Helper()
	s := scene{plan: func(_ *lab, i *Installer) (Plan, error) { return plan(i) }}
	at, err := s.run(l, func(point string) error {
		if strings.HasPrefix(point, prefix) {
			panic(crash{point})
		}
		return nil
	})
	if at == "" {
		l.t.Fatalf("it did not come to %q: %v", prefix, err)
	}
}

// What was written since an uninstallation was killed is not what it was asked
// to remove.
func TestAPurgeThatWasKilledIsNotGoneOnWith(t *testing.T) {
	purge := UninstallOptions{Purge: true}
	for name, then := range map[string]func(i *Installer) (Plan, error){
		"install": func(i *Installer) (Plan, error) { return i.PlanInstall(t.Context(), noLogin) },
		"switch":  func(i *Installer) (Plan, error) { return i.PlanLogin(t.Context(), false) },
		"remove":  func(i *Installer) (Plan, error) { return i.PlanUninstall(t.Context(), UninstallOptions{}) },
	} {
		for _, at := range []string{"journal committed", "forget the receipt", "remove ", "forget the journal"} {
			t.Run(name+" after "+at, func(t *testing.T) {
				l := newLab(t)
				l.unpack("1")
				l.install(noLogin)
				settings := filepath.Join(l.o.ConfigDir, settingsName)
				work := filepath.Join(l.o.StateDir, "workspaces", "trees", "x", "main.go")
				l.write(settings, "old")
				l.kill(at, func(i *Installer) (Plan, error) { return i.PlanUninstall(t.Context(), purge) })
				l.write(settings, "new")
				l.write(work, "new")
				p, err := then(l.installer())
				if err != nil {
					t.Fatal(err)
				}
				l.do(p)
				if got := l.read(settings) + l.read(work); got != "newnew" {
					t.Errorf("left is %q", got)
				}
				if l.installer().interrupted() {
					t.Error("it is not done with")
				}
			})
		}
	}
}

// changes is what a user may do to a file of an installation, at any time.
var changes = map[string]func(l *lab, path string){
	"written": func(l *lab, path string) { l.write(path, "mine") },
	"replaced": func(l *lab, path string) {
		l.remove(path)
		l.write(path, "mine")
	},
	"removed": func(l *lab, path string) { l.remove(path) },
	"a directory": func(l *lab, path string) {
		l.remove(path)
		l.write(filepath.Join(path, "x"), "mine")
	},
	"no directory any more": func(l *lab, path string) {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			l.t.Fatal(err)
		}
		l.write(filepath.Dir(path), "mine")
	},
}

// mine are the paths below the home directory at which the user's texts lie.
func (l *lab) mine() []string {
	var list []string
	for path, text := range content(l.t, l.o.Home) {
		if text == "mine" {
			list = append(list, path)
		}
	}
	return list
}

func (l *lab) page() string { return l.home(".local", "share", "man", "man1", "lamplighter.1") }

// While the user is asked, he may change what the plan is about.
func TestChangedSinceThePlan(t *testing.T) {
	for name, change := range changes {
		for _, next := range []string{"uninstall", "upgrade"} {
			for _, point := range []string{"", "journal staging", "journal committing", "set aside"} {
				t.Run(name+" before "+next+" "+point, func(t *testing.T) {
					l := newLab(t)
					l.unpack("1")
					l.install(noLogin)
					i := l.installer()
					p, err := i.PlanUninstall(t.Context(), UninstallOptions{})
					if next == "upgrade" {
						l.unpack("2")
						p, err = i.PlanInstall(t.Context(), noLogin)
					}
					if err != nil {
						t.Fatal(err)
					}
					if point == "" {
						change(l, l.page())
					}
					done := false
					i.at = func(at string) error {
						if point != "" && !done && strings.HasPrefix(at, point) && (point != "set aside" || strings.HasSuffix(at, l.page())) {
							done = true
							change(l, l.page())
						}
						return nil
					}
					// It may refuse to, or leave it.
					err = i.Do(t.Context(), p, nil)
					if done != (point != "") {
						t.Error("it did not come there")
					}
					if mine := l.mine(); (len(mine) == 1) != (name != "removed") {
						t.Errorf("of the user's there is %q: %v", mine, err)
					}
					if l.installer().interrupted() {
						t.Errorf("it is not done with: %v", err)
					}
				})
			}
		}
	}
}

// What a user puts where an installation was killed stays, and does not keep
// the next one from its end.
func TestChangedSinceItWasKilled(t *testing.T) {
	for name, change := range changes {
		for _, point := range []string{"stage ", "put ", "journal committed", "discard ", "forget the journal"} {
			t.Run(name+" after "+point, func(t *testing.T) {
				l := newLab(t)
				l.unpack("1")
				l.install(noLogin)
				l.unpack("2")
				l.kill(point, func(i *Installer) (Plan, error) { return i.PlanInstall(t.Context(), noLogin) })
				change(l, l.page())
				l.uninstall(UninstallOptions{})
				if mine := l.mine(); (len(mine) == 1) != (name != "removed") {
					t.Errorf("of the user's there is %q", mine)
				}
				for path := range content(t, l.o.Home) {
					if strings.Contains(path, stagedSuffix) || strings.Contains(path, asideSuffix) || strings.HasSuffix(path, journalName) {
						t.Errorf("%s is left", path)
					}
				}
			})
		}
	}
}

func TestABackupThatIsThereMeanwhile(t *testing.T) {
	l := newLab(t)
	l.write(l.home("f"), "foreign")
	i := l.installer()
	i.at = func(point string) error {
		if strings.HasPrefix(point, "set aside") {
			l.write(l.home("f")+BackupSuffix, "mine")
		}
		return nil
	}
	err := i.Do(t.Context(), Plan{Changes: []Change{{Op: OpWrite, Path: l.home("f"), Content: []byte("ours"), Backup: true}}}, nil)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Error(err)
	}
	if l.read(l.home("f")) != "foreign" || l.read(l.home("f")+BackupSuffix) != "mine" {
		t.Errorf("there is %q", content(t, l.o.Home))
	}
}

func TestSetAsideNeverReplaces(t *testing.T) {
	l := newLab(t)
	l.write(l.home("f"), "f")
	l.write(l.home("aside"), "mine")
	if err := setAside(l.home("f"), l.home("aside"), true); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if got := l.read(l.home("aside")); runtime.GOOS != "windows" && got != "mine" {
		t.Errorf("it is %q", got)
	}
}

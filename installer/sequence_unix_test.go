//go:build unix

package installer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is done one after the other, also when some of it is killed: what the
// user has is never lost, an installation that comes to its end is whole, and
// taking it away leaves what the user has.
func TestAnySequence(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(inMemory(t), "")
		if err != nil {
			t.Fatal(err)
		}
		l := newLabIn(t, dir)
		version := 1
		l.unpack("1")
		mine := map[string]bool{} // texts of the user
		serial := 0
		places := []string{
			l.bin(mainName), l.bin(connectName), l.home(".local", "share", "man", "man1", "lamplighter.1"),
			l.home(".local", "share", "applications", "lamplighter.desktop"), l.home(".local", "bin", "other"), filepath.Join(l.o.ConfigDir, settingsName),
			filepath.Join(l.o.StateDir, filepath.FromSlash(workspaceRecord)),
		}
		// do carries out what a plan says, to its end or to some point.
		do := func(plan func(i *Installer) (Plan, error)) bool {
			i := l.installer()
			points, stop := 0, rapid.IntRange(-40, 40).Draw(r, "killed at")
			i.at = func(point string) error {
				if points++; points == stop {
					panic(crash{point})
				}
				return nil
			}
			p, err := plan(i)
			if err != nil {
				if !errors.Is(err, ErrForeign) {
					t.Errorf("the plan: %v", err)
				}
				return false
			}
			defer func() {
				if what := recover(); what != nil {
					if _, ok := what.(crash); !ok {
						panic(what)
					}
				}
			}()
			// What was interrupted may be taken back first, and with it what was
			// put aside.
			err = i.Do(t.Context(), p, nil)
			if err != nil && !errors.Is(err, ErrForeign) {
				t.Error(err)
			}
			return err == nil
		}
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				have := map[string]bool{}
				for _, text := range content(t, l.o.Home) {
					have[text] = true
				}
				for text := range mine {
					if !have[text] {
						r.Fatalf("%q is lost", text)
					}
				}
			},
			"install": func(r *rapid.T) {
				o := InstallOptions{NoLogin: true, Replace: rapid.Bool().Draw(r, "replace")}
				if do(func(i *Installer) (Plan, error) { return i.PlanInstall(t.Context(), o) }) && !l.installer().interrupted() {
					for name, want := range map[string]string{mainName: string(peProgram(subsystemCUI)) + strconv.Itoa(version), connectName: "connect " + strconv.Itoa(version)} {
						if got := l.read(l.bin(name)); got != want {
							r.Fatalf("%s is %q", name, got)
						}
					}
				}
			},
			"uninstall": func(r *rapid.T) {
				do(func(i *Installer) (Plan, error) { return i.PlanUninstall(t.Context(), UninstallOptions{}) })
			},
			"unpack": func(r *rapid.T) {
				version = rapid.IntRange(1, 3).Draw(r, "version")
				l.unpack(strconv.Itoa(version))
			},
			"write": func(r *rapid.T) {
				path := rapid.SampledFrom(places).Draw(r, "path")
				if old, err := os.ReadFile(path); err == nil {
					delete(mine, string(old)) // by himself
				}
				serial++
				text := fmt.Sprintf("mine %d", serial)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				l.write(path, text)
				mine[text] = true
			},
		})
		l.do(l.plan(InstallOptions{NoLogin: true, Replace: true}))
		l.do(mustUninstall(t, l))
		for path, text := range content(t, l.o.Home) {
			ours := text != "/" && !mine[text] && !strings.HasPrefix(text, "mine ") && !strings.HasSuffix(path, "/"+lockName)
			if ours || strings.Contains(path, stagedSuffix) || strings.Contains(path, asideSuffix) || strings.HasSuffix(path, journalName) {
				r.Errorf("%s is left: %q", path, text)
			}
		}
	})
}

func mustUninstall(t *testing.T, l *lab) Plan {
	t.Helper()
	p, err := l.installer().PlanUninstall(t.Context(), UninstallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

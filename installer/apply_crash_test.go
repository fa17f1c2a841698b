package installer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// crash is what a test ends an installer with.
type crash struct{ point string }

// scene is a plan that is carried out in a place of its own.
type scene struct {
	before func(l *lab)
	deep   bool // the recovery is ended at one of its points, too
	plan   func(l *lab, i *Installer) (Plan, error)
}

// scenes are plans that have every kind of change.
func scenes() map[string]scene {
	noLogin := InstallOptions{NoLogin: true}
	installed := func(version string) func(l *lab) {
		return func(l *lab) {
			l.unpack(version)
			l.install(noLogin)
		}
	}
	all := map[string]scene{
		"install": {
			before: func(l *lab) { l.unpack("1") },
			plan:   func(l *lab, i *Installer) (Plan, error) { return i.PlanInstall(l.t.Context(), noLogin) },
		},
		"upgrade": {
			before: func(l *lab) { installed("1")(l); l.unpack("2") },
			plan:   func(l *lab, i *Installer) (Plan, error) { return i.PlanInstall(l.t.Context(), noLogin) },
		},
		"install with login": {
			before: func(l *lab) { l.unpack("1") },
			plan: func(l *lab, i *Installer) (Plan, error) {
				return i.PlanInstall(l.t.Context(), InstallOptions{})
			},
		},
		"switch": {
			before: installed("1"),
			plan:   func(l *lab, i *Installer) (Plan, error) { return i.PlanLogin(l.t.Context(), true) },
		},
		"uninstall": {
			before: func(l *lab) {
				installed("1")(l)
				l.write(l.home(".config", "lamplighter", settingsName), "settings")
				l.write(l.home(".local", "state", "lamplighter", "events.jsonl"), "events")
				l.write(l.home(".local", "state", "lamplighter", "workspaces", "records", "a.json"), "work")
			},
			plan: func(l *lab, i *Installer) (Plan, error) {
				return i.PlanUninstall(l.t.Context(), UninstallOptions{})
			},
		},
		"every kind": {
			deep: runtime.GOOS == "linux", // and in memory
			before: func(l *lab) {
				installed("1")(l)
				l.write(l.home("foreign"), "foreign")
				l.write(l.home("old"), "old")
				l.write(l.home("goes"), "goes")
				l.write(l.home("tree", "lamplighter", "a"), "a")
				l.values.all[`HKCU\K\gone`] = value{Type: 3, Data: []byte{3, 0}}
				l.values.all[`HKCU\K\set`] = value{Type: 1, Data: []byte("before")}
			},
			plan: func(l *lab, i *Installer) (Plan, error) {
				return everyKind(l), nil
			},
		},
	}
	if runtime.GOOS == "windows" { // where files are slow; the others have nothing of their own there
		maps.DeleteFunc(all, func(name string, _ scene) bool { return name != "every kind" })
	}
	return all
}

func everyKind(l *lab) Plan {
	var p Plan
	if old, err := os.ReadFile(l.home("old")); err != nil || string(old) != "new" {
		p.Changes = []Change{
			{Op: OpRun, Command: []string{"first"}, Optional: true},
			{Op: OpWrite, Path: l.home("made", "deep", "file"), Content: []byte("made")},
			{Op: OpWrite, Path: l.home("foreign"), Content: []byte("ours"), Backup: true},
			{Op: OpSetValue, Path: `HKCU\K`, Name: "set", Content: []byte("after")},
			{Op: OpSetValue, Path: `HKCU\K`, Name: "fresh", Content: []byte("after")},
			{Op: OpDeleteValue, Path: `HKCU\K`, Name: "gone"},
			{Op: OpRemove, Path: l.home("goes")},
			{Op: OpCopy, Path: l.home("copy"), From: l.o.Self, Mode: 0o755, GUI: true},
			{Op: OpWrite, Path: l.home("old"), Content: []byte("new")},
			{Op: OpRun, Command: []string{"last"}, Optional: true},
		}
	}
	if there(l.home("tree", "lamplighter")) {
		p.Changes = append(p.Changes, Change{Op: OpRemoveTree, Path: l.home("tree", "lamplighter")})
	}
	p.remake = func(context.Context) (Plan, error) { return everyKind(l), nil }
	return p
}

// run carries the scene out with at as hook, and tells where it was ended.
func (s scene) run(l *lab, at func(point string) error) (crashed string, err error) {
	l.t.Helper()
	i := l.installer()
	i.at = at
	defer func() {
		switch what := recover().(type) {
		case nil:
		case crash:
			crashed = what.point
		default:
			panic(what)
		}
	}()
	p, err := s.plan(l, i)
	if err != nil {
		return "", err
	}
	return "", i.Do(l.t.Context(), p, nil)
}

// all is what is in the home directory and in the registry. The times of
// receipts do not count.
func (l *lab) all() map[string]string {
	all := l.have()
	for key, v := range l.values.all {
		all["registry: "+key] = fmt.Sprint(v)
	}
	return all
}

// countTo panics or fails at the nth point.
func countTo(n int, points *[]string, then func(point string) error) func(string) error {
	return func(point string) error {
		*points = append(*points, point)
		if len(*points) == n+1 {
			return then(point)
		}
		return nil
	}
}

func die(point string) error { panic(crash{point}) }

func TestKilledAtEachPoint(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			clean := newLabIn(t, inMemory(t))
			s.before(clean)
			var all []string
			if _, err := s.run(clean, countTo(-1, &all, nil)); err != nil {
				t.Fatal(err)
			}
			if len(all) < 5 {
				t.Fatalf("it has only the points %q", all)
			}
			want := clean.all()
			for n, point := range all {
				// Killed there, and the next one, which recovers, at an early and at a
				// later one of its points; the one after that comes to its end.
				kills := []int{-1}
				if s.deep {
					kills = []int{n / 4, n}
				}
				for _, m := range kills {
					l := newLabIn(t, inMemory(t))
					s.before(l)
					var points, next []string
					if at, err := s.run(l, countTo(n, &points, die)); at == "" {
						t.Fatalf("it did not come to %q: %v", point, err)
					}
					here, err := l.installer().Installed()
					if err != nil {
						t.Error(err)
					}
					if _, err := os.Lstat(l.installer().journalPath()); here.Unfinished != (err == nil) {
						t.Errorf("after %q: unfinished is %v", point, here.Unfinished)
					}
					at, err := s.run(l, countTo(m, &next, die))
					if err != nil {
						t.Errorf("after %q: %v", point, err)
					}
					if at != "" {
						if _, err := s.run(l, countTo(-1, &next, nil)); err != nil {
							t.Errorf("after %q and %q: %v", point, at, err)
						}
					}
					sameContent(t, fmt.Sprintf("after %q and %q", point, at), l.all(), relativeTo(want, clean, l))
				}
			}
		})
	}
}

func TestFailsAtEachPoint(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			clean := newLabIn(t, inMemory(t))
			s.before(clean)
			var all []string
			if _, err := s.run(clean, countTo(-1, &all, nil)); err != nil {
				t.Fatal(err)
			}
			marked := false
			for n, point := range all {
				l := newLabIn(t, inMemory(t))
				s.before(l)
				before := l.all()
				var points []string
				_, err := s.run(l, countTo(n, &points, func(string) error { return full }))
				if err == nil {
					t.Errorf("%q: no error", point)
				}
				if !marked {
					sameContent(t, "failed at "+point, l.all(), before)
					if l.installer().interrupted() {
						t.Errorf("%q: it is not done with", point)
					}
					if err != nil && !strings.Contains(err.Error(), "nothing was changed") {
						t.Errorf("%q: %v", point, err)
					}
					if !errors.Is(err, syscall.ENOSPC) {
						t.Errorf("%q: %v", point, err)
					}
				}
				marked = marked || point == "journal committed"
				if _, err := s.run(l, countTo(-1, &points, nil)); err != nil {
					t.Errorf("after %q: %v", point, err)
				}
				sameContent(t, "again after "+point, l.all(), relativeTo(clean.all(), clean, l))
			}
			if !marked {
				t.Error("there is no point at which all is in its place")
			}
		})
	}
}

// relativeTo is all of a lab as it would be in another one: texts name paths.
func relativeTo(all map[string]string, from, to *lab) map[string]string {
	changed := map[string]string{}
	for key, text := range maps.All(all) {
		changed[key] = strings.ReplaceAll(text, from.dir, to.dir)
	}
	return changed
}

// inMemory is a temporary directory, in memory where there is such a place:
// hundreds of installations would wait for the disk most of the time.
func inMemory(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return t.TempDir()
	}
	const memory = "/dev/shm"
	dir, err := os.MkdirTemp(memory, "lamplighter-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

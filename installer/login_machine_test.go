//go:build !windows

package installer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const program = "/home/me/bin/lamplighter"

// machine is a freedesktop in a temporary directory.
type machine struct {
	t   interface{ Fatal(...any) }
	dir string
	d   desktop
}

func newMachine(t *testing.T) machine { return machineIn(t, t.TempDir()) }

func machineIn(t interface{ Fatal(...any) }, dir string) machine {
	m := machine{t: t, dir: dir}
	m.d = desktop{
		home: m.at("home"), ownUnits: m.at("home/.config/systemd/user"), ownEntries: m.at("home/.config/autostart"), systemd: true, manager: true,
		units:     []string{m.at("home/.config/systemd/user"), m.at("etc/systemd/user"), m.at("usr/lib/systemd/user")},
		autostart: []string{m.at("home/.config/autostart"), m.at("etc/xdg/autostart")},
	}
	return m
}

func (m machine) at(path string) string { return filepath.Join(m.dir, path) }

func (m machine) write(path, text string) {
	path = m.at(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) link(path, to string) {
	path = m.at(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
		m.t.Fatal(err)
	}
}

// carryOut makes the changes of a plan, without what runs.
func (m machine) carryOut(p Plan) {
	for _, c := range p.Changes {
		var err error
		switch c.Op {
		case OpWrite:
			_ = os.Remove(c.Path) // what lies there is replaced
			err = errors.Join(os.MkdirAll(filepath.Dir(c.Path), 0o700), os.WriteFile(c.Path, c.Content, 0o600))
		case OpLink:
			_ = os.Remove(c.Path)
			err = errors.Join(os.MkdirAll(filepath.Dir(c.Path), 0o700), os.Symlink(c.From, c.Path))
		case OpRemove:
			err = os.Remove(c.Path)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// files are what lies below the machine, but for folders.
func (m machine) files() []string {
	var list []string
	err := filepath.WalkDir(m.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, strings.TrimPrefix(path, m.dir+"/"))
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

// Whatever lies there, and whatever is switched in whatever order: what is not
// ours stays as it is, on is on, off is off, and nothing is planned twice.
func TestSwitchingAnything(t *testing.T) {
	places := []string{
		allOfIt[0], allOfIt[1], allOfIt[2], allOfIt[3], allOfIt[4], "etc/xdg/autostart/lamplighter.desktop", "etc/systemd/user/lamplighter.service",
		"usr/lib/systemd/user/lamplighter.service", "usr/lib/systemd/user/lamplighter.socket", "etc/systemd/user/graphical-session.target.wants/lamplighter.service",
		"home/.config/systemd/user/default.target.wants/lamplighter.service", "home/.config/systemd/user/lamplighter.service.d/x.conf",
	}
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := machineIn(t, filepath.Join(base, fmt.Sprint(n)))
		if err := os.MkdirAll(m.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{
			"unit": "[Service]\nExecStart=/mine/lamplighter run\n", "entry": "[Desktop Entry]\nExec=/mine/lamplighter\n", "hidden": hiddenEntry(),
			"of a package": mustUnit(t, program, false), "garbage": "\x00\xff[", "empty": "",
		}
		foreign := map[string]string{}
		for _, place := range rapid.SliceOfNDistinct(rapid.SampledFrom(places), 0, 5, rapid.ID).Draw(t, "places") {
			kind := rapid.SampledFrom(append(slices.Sorted(maps.Keys(texts)), "link", "mask")).Draw(t, "kind")
			switch kind {
			case "link":
				m.link(place, "/no/such")
			case "mask":
				m.link(place, "/dev/null")
			default:
				m.write(place, texts[kind])
				if kind != "hidden" {
					foreign[place] = texts[kind]
				}
			}
		}
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			on := rapid.Bool().Draw(t, "on")
			o := InstallOptions{Headless: rapid.Bool().Draw(t, "headless")}
			plan := func() (Plan, error) {
				if on {
					return m.d.on(Programs{Main: program}, o)
				}
				p, err := m.d.off()
				if err == nil {
					err = m.d.silence(&p)
				}
				return p, err
			}
			p, err := plan()
			if err != nil {
				continue
			}
			seen := map[string]bool{}
			for _, c := range p.Changes {
				if c.Op != OpRun && seen[c.Path] {
					t.Fatalf("%s is changed twice: %v", c.Path, p.Changes)
				}
				seen[c.Path] = true
			}
			m.carryOut(p)
			list, _ := m.d.entries()
			broken := slices.ContainsFunc(list, func(e LoginEntry) bool { return errors.Is(e.Err, errManyCommands) }) // by a drop-in
			if got := slices.ContainsFunc(list, func(e LoginEntry) bool { return e.On }); got != on && !broken {
				t.Fatalf("on is %t, not %t: %+v", got, on, list)
			}
			if p, err := plan(); err != nil || on && len(p.Changes) > 0 {
				t.Fatalf("again: %v, %v", p.Changes, err)
			}
		}
		for place, text := range foreign {
			if got, err := os.ReadFile(m.at(place)); err != nil || string(got) != text {
				t.Fatalf("%s was changed: %q, %v", place, got, err)
			}
		}
	})
}

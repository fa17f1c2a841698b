package installer

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// writeState puts what a program that ran leaves into the state directory.
func (l *lab) writeState() {
	for name, text := range map[string]string{
		"lamplighter.log": "time=…", "lamplighter-2025-01-02T03-04-05.000.log": "time=…", "lamplighter.lock": "123\n",
		"events.jsonl": `{"at":"2025-01-02T03:04:05Z","kind":"started"}` + "\n{", "events-2025-01-02T03-04-05.000.jsonl": "{", "events.lock": "",
		"registry.json": `{"version":1,"entries":[]}`, "policy.json": `{"boot":"","kept":{},"paused":false,"off":[]}`, "pins.json": `{"boot":"","pins":null}`,
		"proofs.json": `{"boot":"","proofs":{}}`,
		"setup.json":  `{"version":1,"steps":[]}`, "setup.lock": "", "verdicts.json": `{"version":1,"verdicts":{}}`,
		"verdicts.json.corrupt-20250102T030405.000Z": "?", ".verdicts.json.123.tmp": "", "alive.lock": "",
		"welcomed": "2025-01-02T03:04:05Z\n", "welcome-notified": "2025-01-02T03:04:05Z\n", "global-dashboard-opened": "login 1\n",
		"run/control.sock.lock": "", "run/keys/abc.lock": "123", "keys/abc.lock": "",
		"servers/00000000-1111-2222-3333-444444444444/record.json": "{}",
		"workspaces/locks/store.lock":                              "", "workspaces/serve.lock": "", "workspaces/told.json": `{"told":{}}`,
	} {
		l.write(filepath.Join(l.o.StateDir, filepath.FromSlash(name)), text)
	}
	for _, name := range []string{"records", "data", "trees", "archives", "making"} {
		l.mkdir(filepath.Join(l.o.StateDir, workspacesName, name))
	}
	l.mkdir(filepath.Join(l.o.StateDir, "neutral"))
}

const workspaceRecord = "workspaces/records/00000000-1111-2222-3333-444444444444.json"

func TestUninstallLeavesSettingsAndWorkspaces(t *testing.T) {
	for name, test := range map[string]struct {
		shared bool // settings and state are in one directory, as on Windows and macOS
		named  bool // the user chose the state directory
		work   bool
		purge  bool
		left   []string
	}{
		"usual":                   {left: []string{".config/lamplighter/config.yaml"}},
		"workspaces":              {work: true, left: []string{".config/lamplighter/config.yaml", "S/" + workspaceRecord, "S/workspaces/locks/store.lock", "S/workspaces/serve.lock", "S/workspaces/told.json"}},
		"purge":                   {purge: true, work: true, left: []string{".config/lamplighter/config.yaml~", "S/mine"}},
		"one directory":           {shared: true, left: []string{"S/config.yaml"}},
		"one directory, purge":    {shared: true, purge: true, work: true, left: []string{"S/config.yaml~"}},
		"chosen":                  {named: true, left: []string{".config/lamplighter/config.yaml", "S/mine.txt", "S/servers/mine", "S/keys/mine"}},
		"chosen, purge":           {named: true, purge: true, work: true, left: []string{".config/lamplighter/config.yaml~", "S/mine.txt", "S/servers/mine", "S/keys/mine"}},
		"chosen, one, workspaces": {named: true, shared: true, work: true, left: []string{"S/config.yaml", "S/" + workspaceRecord, "S/mine.txt", "S/servers/mine", "S/keys/mine", "S/workspaces/locks/store.lock", "S/workspaces/serve.lock", "S/workspaces/told.json"}},
		"chosen, one, purge":      {named: true, shared: true, purge: true, left: []string{"S/mine.txt", "S/servers/mine", "S/keys/mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			state := ".local/state/lamplighter"
			if test.named {
				state = "data"
				l.o.StateDir = l.home(state)
				l.env["LAMPLIGHTER_STATE_DIR"] = l.o.StateDir
				l.write(l.home(state, "mine.txt"), "mine")
				l.write(l.home(state, "servers", "mine"), "mine")
				l.write(l.home(state, "keys", "mine"), "mine")
			}
			if test.shared {
				l.o.ConfigDir = l.o.StateDir
			}
			l.write(filepath.Join(l.o.ConfigDir, settingsName), "settings")
			l.unpack("1")
			l.install(noLogin)
			l.writeState()
			if test.work {
				l.write(filepath.Join(l.o.StateDir, filepath.FromSlash(workspaceRecord)), "{}")
			}
			if test.purge && test.shared && !test.named || test.purge && !test.shared {
				l.write(filepath.Join(l.o.ConfigDir, "config.yaml~"), "of an editor")
			}
			if name == "purge" {
				l.write(filepath.Join(l.o.StateDir, "mine"), "mine")
			}
			p := l.uninstall(UninstallOptions{Purge: test.purge})
			if says := slices.ContainsFunc(p.Notes, func(n string) bool { return strings.HasSuffix(n, "not written: mine.") }); says != (name == "purge") {
				t.Errorf("it says %q", p.Notes)
			}
			var want []string
			for _, path := range test.left {
				if rest, ok := strings.CutPrefix(path, "S/"); ok {
					path = state + "/" + rest
				}
				want = append(want, path)
			}
			slices.Sort(want)
			if got := l.files(); !slices.Equal(got, want) {
				t.Errorf("it has left\n%q, not\n%q", got, want)
			}
			if says := slices.ContainsFunc(p.Notes, func(n string) bool { return strings.HasPrefix(n, "The workspaces stay") }); says != (test.work && !test.purge) {
				t.Errorf("it says %q", p.Notes)
			}
			again, err := l.installer().PlanUninstall(t.Context(), UninstallOptions{Purge: test.purge})
			if err != nil || len(again.Changes) > 0 {
				t.Errorf("again: %v, %v", again.Changes, err)
			}
			l.do(again)
			if got := l.files(); !slices.Equal(got, want) {
				t.Errorf("again it has left\n%q, not\n%q", got, want)
			}
		})
	}
}

// The state directory may be anything: what is the user's stays.
func TestUninstallFromOddStateDirectories(t *testing.T) {
	all := linkedStates()
	maps.Copy(all, map[string]func(l *lab) string{
		"the home":           func(l *lab) string { return l.o.Home },
		"above the home":     func(l *lab) string { return l.dir },
		"above, of our name": func(l *lab) string { return l.at("lamplighter") },
		"where settings are": func(l *lab) string { return l.o.ConfigHome },
		"a working copy of us": func(l *lab) string {
			l.write(l.home("lamplighter", ".git", "HEAD"), "ref")
			return l.home("lamplighter")
		},
		"a directory of documents": func(l *lab) string { return l.home("Documents") },
	})
	for name, place := range all {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			if name == "above, of our name" {
				l.o.Home = l.at("lamplighter", "home")
				l.o.ConfigHome, l.o.DataHome = l.home(".config"), l.home(".local", "share")
				l.o.ConfigDir, l.o.LocalApps = l.home(".config", "lamplighter"), l.home("Programs")
				l.mkdir(l.o.Home)
			}
			l.o.StateDir = place(l)
			for _, own := range []string{"letter.txt", "servers/www/index.html", "keys/id_ed25519", "run/other.pid", "workspaces/mine/main.go", "lamplighter.txt"} {
				l.write(filepath.Join(l.o.StateDir, filepath.FromSlash(own)), "mine")
			}
			before := content(t, l.dir)
			l.unpack("1")
			l.install(noLogin)
			l.writeState()
			p := l.uninstall(UninstallOptions{Purge: true})
			if err := os.RemoveAll(l.at("got")); err != nil {
				t.Fatal(err)
			}
			after := content(t, l.dir)
			sameContent(t, "afterwards", after, before)
			if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "not Lamplighter's alone") }) {
				t.Errorf("it says %q", p.Notes)
			}
		})
	}
}

// Anything of the user's may have a name that Lamplighter uses, too.
func TestUninstallLeavesWhatOnlyHasSuchAName(t *testing.T) {
	for _, purge := range []bool{false, true} {
		l := newLab(t)
		l.o.StateDir = l.o.Home
		l.env["LAMPLIGHTER_STATE_DIR"] = l.o.Home
		for _, name := range []string{
			"workspaces/data/thesis.doc", "workspaces/trees/oak.jpg", "workspaces/archives/2019.zip", "workspaces/records/jazz.flac",
			"workspaces/making/a.json", "workspaces/locks/canal.lock", "workspaces/told.json", "policy.json", "registry.json", "setup.json", "pins.json", "proofs.json",
			"verdicts.json", "events.jsonl", "events-Tuesday.jsonl", "events.lock", "welcomed", "install.json.corrupt-mine", "policy.json.corrupt-mine",
			".setup.json.mine.tmp", "lamplighter-Table.log", "run/keys/yale.lock", "keys/yale.lock", "servers/00000000-1111-2222-3333-44444444444x",
			"run/control.sock",
		} {
			l.write(l.home(filepath.FromSlash(name)), `{"name": "mine"}`+"\n"+`{"version": 1}`)
		}
		l.mkdir(l.home("far", "servers"))
		before := content(t, l.o.Home)
		l.unpack("1")
		l.install(noLogin)
		l.uninstall(UninstallOptions{Purge: purge})
		sameContent(t, "afterwards", content(t, l.o.Home), before)
	}
	l := newLab(t)
	l.o.StateDir = l.o.Home
	l.env["LAMPLIGHTER_STATE_DIR"] = l.o.Home
	for _, name := range []string{workspacesName, "servers", "keys", "run"} {
		l.mkdir(l.home(name))
	}
	before := content(t, l.o.Home)
	l.unpack("1")
	l.install(noLogin)
	l.uninstall(UninstallOptions{Purge: true})
	sameContent(t, "empty directories", content(t, l.o.Home), before)
}

// Settings stay wherever they are.
func TestUninstallKeepsNamedSettings(t *testing.T) {
	for _, name := range []string{"my.yaml", "deep/er/my.yaml", "config.yaml"} {
		for _, purge := range []bool{false, true} {
			l := newLab(t)
			l.o.Settings = filepath.Join(l.o.StateDir, filepath.FromSlash(name))
			l.unpack("1")
			l.install(noLogin)
			l.writeState()
			l.write(l.o.Settings, "settings")
			if purge { // the folder of settings as well
				l.o.ConfigDir = l.o.StateDir
			}
			l.uninstall(UninstallOptions{Purge: purge})
			if got := l.files(); len(got) != 1 || l.read(l.o.Settings) != "settings" {
				t.Errorf("it has left %q", got)
			}
		}
	}
	l := newLab(t)
	l.o.ConfigDir = l.home("mine")
	l.o.Settings = l.home("mine", settingsName)
	l.write(l.o.Settings, "settings")
	l.uninstall(UninstallOptions{Purge: true})
	if l.read(l.o.Settings) != "settings" {
		t.Error("named settings are gone")
	}
}

// An uninstallation that was killed at its end leaves a lock, which the next one
// takes away.
func TestUninstallTakesALeftLockAway(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.write(filepath.Join(l.o.StateDir, lockName), "")
	if p := l.uninstall(UninstallOptions{}); len(p.Changes) != 1 || there(l.o.StateDir) {
		t.Errorf("%v", p.Changes)
	}
}

func TestUninstallKeepsWhatWasChanged(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	page := l.home(".local", "share", "man", "man1", "lamplighter.1")
	l.write(page, "mine by now")
	p := l.uninstall(UninstallOptions{})
	for _, path := range []string{page} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, path) }) {
			t.Errorf("it does not say that %s stays: %q", path, p.Notes)
		}
	}
}

func TestUninstallKeepsPrograms(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	l.o.Self = l.bin(mainName)
	l.uninstall(UninstallOptions{KeepPrograms: true})
	for _, name := range []string{mainName, connectName} {
		if !isPlain(l.bin(name)) {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := os.Lstat(l.o.StateDir); err == nil {
		t.Error("the state directory is still there")
	}
}

func TestUninstallWhereNothingIsInstalled(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	p := l.uninstall(UninstallOptions{Purge: true})
	if len(p.Changes) > 0 {
		t.Errorf("it would %v", p.Changes)
	}
	if all := content(t, l.o.Home); len(all) > 0 {
		t.Errorf("it has made %q", all)
	}
}

// What comes into being between the plan and its end goes, too, but for what is
// to stay.
func TestUninstallSeesWhatWasWrittenMeanwhile(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	p, err := l.installer().PlanUninstall(t.Context(), UninstallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.writeState()
	l.write(filepath.Join(l.o.StateDir, filepath.FromSlash(workspaceRecord)), "{}")
	l.do(p)
	for _, path := range l.files() {
		if !strings.Contains(path, "/workspaces/") {
			t.Errorf("%s is still there", path)
		}
	}
	if got := l.read(filepath.Join(l.o.StateDir, filepath.FromSlash(workspaceRecord))); got != "{}" {
		t.Error("the workspace is gone")
	}
}

// Folders that may not be written are removed as well.
func TestRemoveAllOfWhatMayNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "tree", "deep", "deeper")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(inside, "x")
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{inside, filepath.Dir(inside)} {
		if runtime.GOOS != "windows" {
			if err := os.Chmod(path, 0o500); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := removeAll(filepath.Join(dir, "tree")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "tree")); err == nil {
		t.Error("it is still there")
	}
}

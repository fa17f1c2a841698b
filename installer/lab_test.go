package installer

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// lab is a user of a machine, in a temporary directory.
type lab struct {
	t      testing.TB
	dir    string
	o      Options
	env    map[string]string
	values *fakeValues // kept over installers
	ran    []string    // commands
	fails  map[string]error
}

// fakeValues is a registry in memory.
type fakeValues struct {
	mu  sync.Mutex
	all map[string]value
}

func (f *fakeValues) get(key, name string) (*value, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, ok := f.all[key+`\`+name]; ok {
		return &v, nil
	}
	return nil, nil
}

func (f *fakeValues) set(key, name string, v *value) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v == nil {
		delete(f.all, key+`\`+name)
		return nil
	}
	f.all[key+`\`+name] = *v
	return nil
}

func (f *fakeValues) text(s string) (*value, error) { return &value{Type: 1, Data: []byte(s)}, nil }

func newLab(t testing.TB) *lab { return newLabIn(t, t.TempDir()) }

func newLabIn(t testing.TB, dir string) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, env: map[string]string{}, values: &fakeValues{all: map[string]value{}}, fails: map[string]error{}}
	home := l.at("home")
	l.o = Options{
		OS: runtime.GOOS, Home: home, ConfigHome: l.at("home", ".config"), DataHome: l.at("home", ".local", "share"),
		StateDir:  l.at("home", ".local", "state", "lamplighter"),
		ConfigDir: l.at("home", ".config", "lamplighter"), LocalApps: l.at("home", "Programs"),
		Self: l.at("got", "bin", "lamplighter"), Version: "1.0.0",
		Getenv: func(name string) string { return l.env[name] },
		Command: func(_ context.Context, name string, args ...string) ([]byte, error) {
			line := strings.Join(append([]string{name}, args...), " ")
			l.ran = append(l.ran, line)
			return []byte("said\n" + line), l.fails[line]
		},
	}
	if runtime.GOOS == "windows" {
		l.o.Self += ".exe"
	}
	l.mkdir(home)
	return l
}

func (l *lab) at(names ...string) string { return filepath.Join(append([]string{l.dir}, names...)...) }

func (l *lab) home(names ...string) string {
	return filepath.Join(append([]string{l.o.Home}, names...)...)
}

func (l *lab) mkdir(path string) {
	l.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) write(path, content string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) read(path string) string {
	l.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		l.t.Error(err)
	}
	return string(data)
}

// unpack puts an archive of a version where it is installed from. Its programs
// are none that a system could run.
func (l *lab) unpack(version string) {
	l.t.Helper()
	if err := os.RemoveAll(l.at("got")); err != nil {
		l.t.Fatal(err)
	}
	l.o.Version = version
	exe := strings.TrimPrefix(filepath.Base(l.o.Self), mainName)
	l.write(l.o.Self, string(peProgram(subsystemCUI))+version)
	l.write(l.at("got", "bin", connectName+exe), "connect "+version)
	l.write(l.at("got", "share", "lamplighter", "package"), "archive\n")
	l.write(l.at("got", "share", "man", "man1", "lamplighter.1"), "man "+version)
	l.write(l.at("got", "share", "doc", "lamplighter", "only-in-"+version), "doc "+version)
	l.write(l.at("got", "share", "applications", "lamplighter.desktop"), "of the archive")
	l.write(l.at("got", "share", "somebody-else"), "not ours")
}

func (l *lab) installer() *Installer {
	i := New(l.o)
	i.values = l.values
	return i
}

// plan is what a plan of an installation without start at login has.
func (l *lab) plan(o InstallOptions) Plan {
	l.t.Helper()
	p, err := l.installer().PlanInstall(l.t.Context(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

func (l *lab) do(p Plan) {
	l.t.Helper()
	if err := l.installer().Do(l.t.Context(), p, nil); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) install(o InstallOptions) {
	l.t.Helper()
	l.do(l.plan(o))
	if again := l.plan(o); len(again.Changes) > 0 || again.receipt != nil {
		l.t.Errorf("a second plan has %v", again.Changes)
	}
}

func (l *lab) uninstall(o UninstallOptions) Plan {
	l.t.Helper()
	p, err := l.installer().PlanUninstall(l.t.Context(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.do(p)
	return p
}

// content is all that lies in a folder, by its path in it: the text of a file,
// "→ " and where a link leads, "/" for a folder.
func content(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case e.IsDir():
			all[rel] = "/"
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[rel] = "→ " + to
			return err
		default:
			data, err := os.ReadFile(path)
			all[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// have is what lies in the home directory but for the receipt, which has times.
func (l *lab) have() map[string]string {
	l.t.Helper()
	all := content(l.t, l.o.Home)
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasSuffix(path, "/"+receiptName) })
	return all
}

// sameContent compares two of content, but for locks.
func sameContent(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	keys := map[string]bool{}
	for key := range maps.Keys(got) {
		keys[key] = true
	}
	for key := range maps.Keys(want) {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if strings.HasSuffix(key, "/"+lockName) {
			continue
		}
		one, ok := got[key]
		other, should := want[key]
		if ok != should || one != other {
			t.Errorf("%s: %s is %.60q (%v), not %.60q (%v)", what, key, one, ok, other, should)
		}
	}
}

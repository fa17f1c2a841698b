package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
)

// bed is a home in which clients have settings.
type bed struct {
	t       testing.TB
	home    string
	dir     string // a project
	state   string
	connect string
	env     map[string]string
	o       Options
}

func newBed(t testing.TB) *bed {
	t.Helper()
	top := t.TempDir()
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	b := &bed{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "project"), state: filepath.Join(top, "state"), env: map[string]string{}}
	b.connect = b.program("opt", "lamplighter-connect")
	b.program("bin", "serena")
	b.env["PATH"] = filepath.Join(top, "bin")
	if err := errors.Join(os.MkdirAll(b.home, 0o700), os.MkdirAll(filepath.Join(b.dir, ".git"), 0o700)); err != nil {
		t.Fatal(err)
	}
	b.o = Options{
		Home: b.home, Dir: b.dir, State: b.state, Connect: b.connect, Getenv: func(name string) string { return b.env[name] },
		Programs: func() ([]process.Info, error) { return nil, nil }, PageOpens: func() bool { return true },
		Now: func() time.Time { return time.Unix(1e9, 0) },
	}
	return b
}

// program makes a program beside the home.
func (b *bed) program(dir, name string) string {
	b.t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(b.home), dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o700)); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// write makes a file below the home, and returns its path.
func (b *bed) write(path, text string) string {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.home, filepath.FromSlash(path))
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bed) read(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// do is Do, which is to try.
func (b *bed) do(w Wanted) Result {
	b.t.Helper()
	r, err := New(b.o).Do(b.t.Context(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// done is do for one file, in which nothing is to be wrong.
func (b *bed) done(w Wanted) Change {
	b.t.Helper()
	r := b.do(w)
	if len(r.Changes) != 1 || r.Failed() {
		b.t.Fatalf("%+v", r)
	}
	return r.Changes[0]
}

// listed is the entry of that name in a file.
func (b *bed) listed(path, name string) Entry {
	b.t.Helper()
	list, err := New(b.o).List(b.t.Context(), Wanted{File: path})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range list[0].Files[0].Entries {
		if e.Name == name {
			return e
		}
	}
	b.t.Fatalf("no %s in %+v", name, list)
	return Entry{}
}

// beside are the names of all files beside a path, but for it.
func (b *bed) beside(path string) []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			names = append(names, e.Name())
		}
	}
	return names
}

// inJSON is a path as JSON and TOML have it in their strings.
func inJSON(path string) string { return strings.ReplaceAll(path, `\`, `\\`) }

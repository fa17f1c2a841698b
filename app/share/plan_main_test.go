package share

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/launch"
)

// taker is a Resolver that takes every command that is named, as a Serena of
// some version.
type taker struct {
	version string
	command []string // of a Serena that is found by itself
	why     string   // no command works
	other   []string // another command is found instead
}

func (r taker) Resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error) {
	if err := ctx.Err(); err != nil {
		return launch.Resolution{}, err
	}
	command := w.Command
	if len(command) == 0 {
		command = r.command
	}
	bad := launch.Verdict{Candidate: launch.Candidate{Command: command}, Detail: r.why}
	if r.why != "" {
		tried := []launch.Verdict{bad}
		return launch.Resolution{Tried: tried}, &launch.NotFoundError{Wanted: w, Tried: tried}
	}
	chosen := launch.Verdict{Candidate: launch.Candidate{Command: command}, OK: true, Version: r.version}
	if r.other != nil {
		chosen.Command = r.other
		return launch.Resolution{Chosen: chosen, Tried: []launch.Verdict{bad}}, nil
	}
	return launch.Resolution{Chosen: chosen}, nil
}

// planMachine is a home with programs and repositories.
type planMachine struct {
	t    testing.TB
	top  string // without symbolic links
	home string
	bin  string
	env  []string
}

func newMachine(t testing.TB) *planMachine {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &planMachine{t: t, top: top, home: filepath.Join(top, "home"), bin: filepath.Join(top, "bin")}
	m.program("bin/serena")
	m.program("bin/uvx")
	m.program("bin/uv")
	m.program("bin/python3")
	m.program("bin/gopls")
	m.file("home/.serena/serena_config.yml")
	m.env = []string{"PATH=" + m.bin, "HOME=" + m.home, "USERPROFILE=" + m.home}
	return m
}

func (m *planMachine) path(name string) string { return filepath.Join(m.top, filepath.FromSlash(name)) }

func (m *planMachine) file(name string) string {
	m.t.Helper()
	return m.write(name, "")
}

func (m *planMachine) write(name, text string) string {
	m.t.Helper()
	path := m.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// program makes one that can be run, for any system.
func (m *planMachine) program(name string) string {
	m.t.Helper()
	path := m.file(name + exe)
	if err := os.Chmod(path, 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *planMachine) dir(name string) string {
	m.t.Helper()
	path := m.path(name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *planMachine) link(to, at string) {
	m.t.Helper()
	if err := os.Symlink(m.path(to), m.path(at)); err != nil {
		m.t.Fatal(err)
	}
}

// repo makes a repository of Git.
func (m *planMachine) repo(name string) string { m.dir(name + "/.git"); return m.path(name) }

func (m *planMachine) wish(dir, command string, env ...string) Request {
	return Request{Dir: dir, Command: strings.Fields(command), Env: slices.Concat(m.env, env)}
}

func asker(change func(*PlannerOptions)) *Planner {
	o := PlannerOptions{
		Finder: taker{version: "2.1.0"}, OthersLoggedIn: func() ([]string, error) { return nil, nil },
		Allowed: func() bool { return false }, Environment: func(context.Context, ...string) []string { return nil },
	}
	if change != nil {
		change(&o)
	}
	return NewPlanner(context.Background(), o)
}

// plan makes a plan without an error.
func planned(t testing.TB, a *Planner, w Request) Plan {
	t.Helper()
	p, err := a.Plan(t.Context(), w)
	if err != nil {
		t.Fatalf("%q: %v", w.Command, err)
	}
	if (p.Alone == "") != (p.Key != "") || p.Alone == "" && (len(p.Key) != 32 || p.Fingerprint == nil || p.Spec.Project != "" && !filepath.IsAbs(p.Spec.Project)) {
		t.Fatalf("%q: %+v", w.Command, p)
	}
	return p
}

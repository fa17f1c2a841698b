//go:build real && unix

package ask

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// finder finds the real Serenas.
func finder(t testing.TB, m *machine) *launch.Finder {
	return launch.NewFinder(launch.FinderOptions{
		Environ: append(slices.Clone(m.env), "SHELL=/bin/sh"), Home: m.home, StateDir: m.dir("state"),
	})
}

func venv(t testing.TB, version string) string {
	dir := "venv"
	if version != serenatest.Version {
		dir += "-" + version
	}
	return filepath.Join(serenatest.Tools(t), dir)
}

var versions = []string{serenatest.Version15, serenatest.Version17, serenatest.Version}

func TestRealSerenas(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	f := finder(t, m)
	a := asker(func(o *Options) { o.Finder, o.Environment = f, nil })
	keys := map[string]bool{}
	for _, version := range versions {
		bin := filepath.Join(venv(t, version), "bin")
		w := m.wish(repo, filepath.Join(bin, fromCwd))
		p := plan(t, a, w)
		if p.Alone != "" || p.Version != version {
			t.Fatalf("%s: %+v", version, p)
		}
		keys[p.Key] = true
		// What is launched is exactly that.
		r, err := f.Resolve(t.Context(), launch.Wanted{Command: p.Spec.Template.Command, Project: repo, Serena: true})
		if err != nil || !slices.Equal(r.Chosen.Command, p.Spec.Template.Command) || !r.Chosen.Cached {
			t.Errorf("%+v, %v", r.Chosen, err)
		}
		// A module that starts nothing by itself, and what is meant by it.
		w.Command = append([]string{filepath.Join(bin, "python3"), "-m", "serena.cli"}, w.Command[1:]...)
		if q := plan(t, a, w); q.Key != p.Key {
			t.Errorf("%s: %q\n%q\n%s", version, p.Facts, q.Facts, q.Alone)
		}
		// A bare name, found by the client's PATH and not by ours.
		w = m.wish(repo, fromCwd)
		w.Env[0] = "PATH=" + bin + ":" + m.bin
		if q := plan(t, a, w); q.Alone != "" || q.Version != version || q.Spec.Template.Command[0] != filepath.Join(bin, "serena") {
			t.Errorf("%+v", q)
		}
	}
	if len(keys) != len(versions) {
		t.Error("two versions, one key")
	}
	// What only says that it is Serena.
	if q := plan(t, a, m.wish(repo, fromCwd)); !strings.Contains(q.Alone, "could not be found out") {
		t.Errorf("%+v", q)
	}
	p, err := a.ForProject(t.Context(), repo, launch.Template{
		Name: monitor.KindSerena, Command: []string{filepath.Join(venv(t, serenatest.Version), "bin", "serena")}, Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"},
	})
	if err != nil || p.Alone != "" || p.Version != serenatest.Version || p.Context != "claude-code" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestRealUvx(t *testing.T) {
	tools := serenatest.Tools(t)
	m := newMachine(t)
	m.env = append(m.env, "UV_CACHE_DIR="+filepath.Join(tools, "uv"), "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never")
	repo := m.repo("alpha")
	a := asker(func(o *Options) { o.Finder, o.Environment = finder(t, m), nil })
	bin := filepath.Join(venv(t, serenatest.Version), "bin")
	args := " --python " + filepath.Join(bin, "python3") + " --from serena-agent==" + serenatest.Version + " " + fromCwd
	var keys []string
	for _, launcher := range []string{"uvx", "uv tool run"} {
		p := plan(t, a, m.wish(repo, filepath.Join(bin, launcher)+args))
		if p.Alone != "" || p.Version != serenatest.Version || p.Spec.Template.Command[len(p.Spec.Template.Command)-1] != subcommand {
			t.Fatalf("%s: %+v", launcher, p)
		}
		keys = append(keys, p.Key)
	}
	if keys[0] == keys[1] {
		t.Error("two programs, one key")
	}
}

// TestRealContexts compares our lists with what each Serena has.
func TestRealContexts(t *testing.T) {
	single := regexp.MustCompile(`(?m)^single_project: *true`)
	known := map[string]bool{"ide-assistant": true}
	for _, version := range versions {
		found, err := filepath.Glob(filepath.Join(venv(t, version), "lib", "python3*", "site-packages", "serena", "resources", "config", "contexts", "*.yml"))
		if err != nil || len(found) < 10 {
			t.Fatalf("%s: %q, %v", version, found, err)
		}
		for _, file := range found {
			name := strings.TrimSuffix(filepath.Base(file), ".yml")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			known[name] = true
			switch {
			case name == "context.template":
			case single.Match(text) != slices.Contains(singleProject, name), single.Match(text) == slices.Contains(projectSwitching, name):
				t.Errorf("%s of %s", name, version)
			}
		}
	}
	for _, name := range slices.Concat(singleProject, projectSwitching) {
		if !known[name] {
			t.Errorf("no Serena has %s", name)
		}
	}
}

// TestRealOptions compares ours with what each Serena says that it takes.
func TestRealOptions(t *testing.T) {
	option := regexp.MustCompile(`(?m)^  (--[a-z-]+)`)
	known := map[string]bool{}
	for _, version := range versions {
		cmd := exec.CommandContext(t.Context(), filepath.Join(venv(t, version), "bin", "serena"), subcommand, "--help")
		home := t.TempDir()
		cmd.Env = append(os.Environ(), "HOME="+home, "SERENA_HOME="+home, "SERENA_USAGE_REPORTING=false", "COLUMNS=200")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range option.FindAllStringSubmatch(string(out), -1) {
			known[match[1]] = true
			if name := match[1]; name != "--help" && name != "--project-from-cwd" && !slices.Contains(withValue, name) {
				t.Errorf("%s has %s", version, name)
			}
		}
	}
	for _, name := range withValue {
		if !known[name] {
			t.Errorf("no Serena has %s", name)
		}
	}
}

// BenchmarkPlan is a plan for one more window on a project.
func BenchmarkPlan(b *testing.B) {
	m := newMachine(b)
	repo := m.repo("alpha")
	a := asker(func(o *Options) {
		f := finder(b, m)
		o.Finder, o.Environment, o.OthersLoggedIn = f, func(ctx context.Context) []string { return f.Environment(ctx) }, LoggedIn
		o.Allowed = func() bool { return false }
	})
	w := m.wish(repo, filepath.Join(venv(b, serenatest.Version), "bin", fromCwd))
	path := os.Getenv("PATH")
	for i := range 20 {
		path += ":" + m.dir("path/"+strings.Repeat("x", i+1))
	}
	w.Env[0] = "PATH=" + path
	began := time.Now()
	if _, err := a.Plan(b.Context(), w); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "first-ms")
	for b.Loop() {
		if p, err := a.Plan(b.Context(), w); err != nil || p.Alone != "" {
			b.Fatal(p.Alone, err)
		}
	}
}

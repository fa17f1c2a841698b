//go:build real && unix

package share

import (
	"os"
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
func finder(t testing.TB, m *planMachine) *launch.Finder {
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

// says reports whether the facts of a plan name a version.
func says(p Plan, version string) bool {
	return slices.ContainsFunc(p.Facts, func(fact string) bool { return strings.HasPrefix(fact, "Serena "+version+", ") })
}

var versions = []string{serenatest.Version15, serenatest.Version17, serenatest.Version}

// TestRealSerenas asks each version once. How else a command may name it is the
// same for all, and asked of the one that starts soonest.
func TestRealSerenas(t *testing.T) {
	t.Parallel() // one after the other they wait for one core
	m := newMachine(t)
	repo := m.repo("alpha")
	f := finder(t, m)
	a := asker(func(o *PlannerOptions) { o.Finder, o.Environment = f, f.Environment })
	keys := map[string]bool{}
	for _, version := range versions {
		bin := filepath.Join(venv(t, version), "bin")
		w := m.wish(repo, filepath.Join(bin, fromCwd))
		p := planned(t, a, w)
		if p.Alone != "" || !says(p, version) {
			t.Fatalf("%s: %+v", version, p)
		}
		keys[p.Key] = true
		// What is launched is exactly that.
		r, err := f.Resolve(t.Context(), launch.Wanted{Command: p.Spec.Template.Command, Project: repo, Serena: true})
		if err != nil || !slices.Equal(r.Chosen.Command, p.Spec.Template.Command) || !r.Chosen.Cached {
			t.Errorf("%+v, %v", r.Chosen, err)
		}
		if version != serenatest.Version15 {
			continue
		}
		// A module that starts nothing by itself.
		w.Command = append([]string{filepath.Join(bin, "python3"), "-m", "serena.cli"}, w.Command[1:]...)
		if q := planned(t, a, w); !strings.Contains(q.Alone, "could not be found out") {
			t.Errorf("%s: %+v", version, q)
		}
		// A bare name, found by the client's PATH and not by ours.
		w = m.wish(repo, fromCwd)
		w.Env[0] = "PATH=" + bin + ":" + m.bin
		if q := planned(t, a, w); q.Alone != "" || !says(q, version) || q.Spec.Template.Command[0] != filepath.Join(bin, "serena") {
			t.Errorf("%+v", q)
		}
	}
	if len(keys) != len(versions) {
		t.Error("two versions, one key")
	}
	// What only says that it is Serena.
	if q := planned(t, a, m.wish(repo, fromCwd)); !strings.Contains(q.Alone, "could not be found out") {
		t.Errorf("%+v", q)
	}
	p, err := a.ForProject(t.Context(), repo, launch.Template{
		Name: monitor.KindSerena, Command: []string{filepath.Join(venv(t, serenatest.Version15), "bin", "serena")}, Arguments: []string{"--context", "desktop-app"},
	})
	if err != nil || p.Alone != "" || !says(p, serenatest.Version15) || p.Context != "claude-code" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestRealUvx runs Serena through uv. TestNothingOfTheProjectIsRun of the launcher
// does by its other name, uvx.
func TestRealUvx(t *testing.T) {
	t.Parallel() // one after the other they wait for one core
	tools := serenatest.Tools(t)
	m := newMachine(t)
	m.env = append(m.env, "UV_CACHE_DIR="+filepath.Join(tools, "uv"), "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never")
	a := asker(func(o *PlannerOptions) { o.Finder = finder(t, m) })
	bin := filepath.Join(venv(t, serenatest.Version), "bin")
	args := " --python " + filepath.Join(bin, "python3") + " --from serena-agent==" + serenatest.Version + " " + fromCwd
	p := planned(t, a, m.wish(m.repo("alpha"), filepath.Join(bin, "uv tool run")+args))
	if p.Alone != "" || !says(p, serenatest.Version) || p.Spec.Template.Command[len(p.Spec.Template.Command)-1] != subcommand {
		t.Fatalf("%+v", p)
	}
}

// TestRealContexts compares our list with what each Serena has.
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
			case single.Match(text) != slices.Contains(singleProject, name):
				t.Errorf("%s of %s", name, version)
			}
		}
	}
	for _, name := range singleProject {
		if !known[name] {
			t.Errorf("no Serena has %s", name)
		}
	}
}

// TestRealOptions compares ours with those of each Serena, as its source has them.
func TestRealOptions(t *testing.T) {
	name := regexp.MustCompile(`^\s*"(--[a-z-]+)",`)
	known := map[string]bool{}
	for _, version := range versions {
		found, err := filepath.Glob(filepath.Join(venv(t, version), "lib", "python3*", "site-packages", "serena", "cli.py"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q, %v", version, found, err)
		}
		source, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		_, rest, begins := strings.Cut(string(source), `@click.command("`+subcommand+`"`)
		decorators, _, ends := strings.Cut(rest, "\n    def ")
		options := strings.Split(decorators, "@click.option(")[1:]
		if !begins || !ends || len(options) < 10 {
			t.Fatalf("%s: %s", version, decorators)
		}
		for _, option := range options {
			match := name.FindStringSubmatch(option)
			if match == nil {
				t.Fatalf("%s: %s", version, option)
			}
			known[match[1]] = true
			takesNone := strings.Contains(option, "is_flag=True")
			if takesNone != (match[1] == "--project-from-cwd") || takesNone == slices.Contains(withValue, match[1]) {
				t.Errorf("%s has %s", version, match[1])
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
	a := asker(func(o *PlannerOptions) {
		f := finder(b, m)
		o.Finder, o.Environment, o.OthersLoggedIn = f, f.Environment, LoggedIn
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

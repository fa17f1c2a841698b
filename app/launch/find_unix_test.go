//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// finder looks at a home that the test makes.
func finder(t *testing.T, change func(*FinderOptions)) (*Finder, string) {
	t.Helper()
	home := t.TempDir()
	o := FinderOptions{
		Environ: []string{"PATH=" + filepath.Join(home, "path"), "HOME=" + home, "SHELL=/bin/sh"}, Home: home,
		Limits: Limits{Version: time.Minute, Download: time.Minute, Shell: time.Minute}, Passwd: filepath.Join(home, "none"),
	}
	// The machine's own programs are no part of a test.
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte("PATH=$HOME/login\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o)
	}
	return NewFinder(o), home
}

// says makes a program that is a Serena of this version, and counts its runs.
func says(t *testing.T, path, version string) {
	t.Helper()
	script(t, path, "echo x >>'"+path+".runs'; echo Serena "+version)
}

func runs(path string) int {
	data, _ := os.ReadFile(path + ".runs")
	return strings.Count(string(data), "x")
}

func TestResolveFindsEachLayout(t *testing.T) {
	for _, test := range []struct {
		at, source string
	}{
		{"path/serena", "PATH of this process"},
		{"login/serena", "PATH of the login shell"},
		{".local/bin/serena", "~/.local/bin"},
		{".local/share/uv/tools/serena-agent/bin/serena", "the tools of uv"},
		{".local/share/pipx/venvs/serena-agent/bin/serena", "pipx"},
		{".local/pipx/venvs/serena-agent/bin/serena", "pipx"},
		{".pyenv/shims/serena", "the shims of pyenv"},
		{".pyenv/versions/3.12.1/bin/serena", "pyenv's Python 3.12.1"},
	} {
		t.Run(test.at, func(t *testing.T) {
			f, home := finder(t, nil)
			path := filepath.Join(home, test.at)
			says(t, path, "2.1.0")
			r, err := f.Resolve(t.Context(), Wanted{Project: t.TempDir()})
			if err != nil || r.Chosen.Source != test.source || r.Chosen.Command[0] != path || r.Chosen.Version != "2.1.0" || !r.Chosen.OK {
				t.Errorf("got %+v, %v", r.Chosen, err)
			}
		})
	}
}

func TestResolveGoesOn(t *testing.T) {
	f, home := finder(t, func(o *FinderOptions) { o.Limits.Version = time.Second })
	at := func(name string) string { return filepath.Join(home, name) }
	project := at("work")
	bad := func(name, text string) { script(t, at(name), text) }
	bad("path/serena", "echo bad >&2; exit 3")
	bad("login/serena", "exec /bin/sleep 1000")
	bad("work/.venv/bin/serena", "touch '"+at("ran")+"'; echo Serena 2.1.0")
	if err := os.Mkdir(at(".local"), 0o700); err != nil {
		t.Fatal(err)
	}
	bad(".local/share/uv/tools/serena-agent/bin/serena", "echo Serena 0.1.4")
	if err := os.MkdirAll(at(".local/bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("nowhere"), at(".local/bin/serena")); err != nil {
		t.Fatal(err)
	}
	bad(".pyenv/versions/3.13.0/bin/serena", "/usr/bin/head -c 10000000 /dev/zero >&2")
	says(t, at(".pyenv/versions/3.12.1/bin/serena"), "2.1.0")

	// Each is given more time until only the one that hangs needs too much.
	var r Resolution
	var err error
	for enough := false; !enough; {
		r, err = f.Resolve(t.Context(), Wanted{Command: []string{at("none")}, Project: project, Serena: true})
		enough = f.o.Limits.Version > time.Minute || !slices.ContainsFunc(r.Tried, func(v Verdict) bool {
			return v.Problem == TimedOut && v.Command[0] != at("login/serena")
		})
		o := f.o
		o.Limits.Version *= 2
		f = NewFinder(o)
	}
	if err != nil || r.Chosen.Source != "pyenv's Python 3.12.1" {
		t.Fatalf("got %+v, %v", r.Chosen, err)
	}
	var got []string
	for _, v := range r.Tried {
		got = append(got, string(v.Problem)+" "+strings.TrimPrefix(v.Command[0], home))
		if v.Detail == "" {
			t.Errorf("%s: why is not said", v.Command)
		}
		if v.Problem == NotRun {
			apptest.Contains(t, v.Detail, "belongs to the project "+project+":", `To use it: session_command: ["`+v.Command[0]+`"]`)
		}
	}
	want := []string{
		"not_found /none", "failed /path/serena", "timed_out /login/serena", "not_run /work/.venv/bin/serena", "not_found /.local/bin/serena",
		"wrong_version /.local/share/uv/tools/serena-agent/bin/serena", "wrong_version /.pyenv/versions/3.13.0/bin/serena",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := os.Stat(at("ran")); err == nil {
		t.Error("the project's own was run")
	}

	// The settings may name it.
	r, err = f.Resolve(t.Context(), Wanted{Command: []string{".venv/bin/serena"}, Project: project, Serena: true})
	if err != nil || r.Chosen.Command[0] != at("work/.venv/bin/serena") {
		t.Errorf("got %+v, %v", r.Chosen, err)
	}
}

func TestNotFound(t *testing.T) {
	f, _ := finder(t, nil)
	_, err := f.Resolve(t.Context(), Wanted{Command: []string{"server", "--x"}, Project: t.TempDir()})
	var not *NotFoundError
	if !errors.As(err, &not) || len(not.Tried) != 1 || not.Tried[0].Problem != NotFound {
		t.Fatalf("got %v", err)
	}
	apptest.Contains(t, err.Error(), "server --x", `"server" is not in the only directory`, "PATH of this process", "lamplighter doctor")
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %s", err)
	}
}

func TestAnotherServerIsNotRun(t *testing.T) {
	f, home := finder(t, nil)
	path := filepath.Join(home, "path", "server")
	says(t, path, "1")
	r, err := f.Resolve(t.Context(), Wanted{Command: []string{"server", "--port", "{port}"}, Project: t.TempDir()})
	if err != nil || !slices.Equal(r.Chosen.Command, []string{path, "--port", "{port}"}) || r.Chosen.Version != "" || runs(path) != 0 {
		t.Errorf("got %+v, %v, %d runs", r.Chosen, err, runs(path))
	}
}

func TestVerdictsFollowTheFiles(t *testing.T) {
	state := t.TempDir()
	f, home := finder(t, func(o *FinderOptions) { o.StateDir = state })
	path := filepath.Join(home, "path", "serena")
	packages := filepath.Join(home, "lib", "python3.12", "site-packages")
	if err := os.MkdirAll(packages, 0o700); err != nil {
		t.Fatal(err)
	}
	says(t, path, "2.0.0")
	want := 0
	resolve := func(f *Finder, what, version string, again bool) {
		t.Helper()
		if again {
			want++
		}
		r, err := f.Resolve(t.Context(), Wanted{Project: home})
		if err != nil || r.Chosen.Version != version || r.Chosen.Cached == again || runs(path) != want {
			t.Errorf("%s: got %s, cached %t, %d runs, %v", what, r.Chosen.Version, r.Chosen.Cached, runs(path), err)
		}
	}
	resolve(f, "first", "2.0.0", true)
	resolve(f, "again", "2.0.0", false)
	another, _ := finder(t, func(o *FinderOptions) {
		o.StateDir, o.Home = state, home
		o.Environ = []string{"PATH=" + filepath.Join(home, "path"), "HOME=" + home, "SHELL=/bin/sh"}
	})
	resolve(another, "another process", "2.0.0", false)
	says(t, path, "2.10.0")
	resolve(f, "another file", "2.10.0", true)
	if err := os.WriteFile(filepath.Join(packages, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	resolve(f, "another package", "2.10.0", true)
}

func TestManyAskOnce(t *testing.T) {
	f, home := finder(t, nil)
	path := filepath.Join(home, "path", "serena")
	says(t, path, "2.1.0")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if r, err := f.Resolve(t.Context(), Wanted{Project: home}); err != nil || r.Chosen.Version != "2.1.0" {
				t.Errorf("got %+v, %v", r.Chosen, err)
			}
		})
	}
	all.Wait()
	if runs(path) != 1 {
		t.Errorf("%d runs", runs(path))
	}
}

func TestCheckAllKeepsTheOrderAndDownloadsNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // others may check there at the same time
	f, home := finder(t, nil)
	says(t, filepath.Join(home, "path", "serena"), "2.1.0")
	says(t, filepath.Join(home, "login", "serena"), "1.7.0")
	script(t, filepath.Join(home, ".local/bin/uvx"), `[ "$UV_OFFLINE" = 1 ] && { echo "the network was disabled" >&2; exit 1; }; echo Serena 9.9.9`)
	w := Wanted{Project: filepath.Join(home, "p")}
	candidates := slices.Collect(f.candidates(t.Context(), w))
	verdicts := f.CheckAll(t.Context(), w)
	if len(verdicts) != len(candidates) {
		t.Fatalf("%d of %d", len(verdicts), len(candidates))
	}
	for i, v := range verdicts {
		if !slices.Equal(v.Command, candidates[i].Command) {
			t.Errorf("%d: %q", i, v.Command)
		}
		if strings.HasSuffix(v.Command[0], "uvx") && (v.Problem != NotRun || !strings.Contains(v.Detail, "download")) {
			t.Errorf("uvx: %+v", v)
		}
	}
	if verdicts[0].Version != "2.1.0" || verdicts[1].Version != "1.7.0" {
		t.Errorf("got %+v", verdicts[:2])
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "lamplighter-check-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestPoetry(t *testing.T) {
	g := facts{
		goos: "linux", home: "/home/u", project: "/tmp/p", env: environ{"UV_PROJECT_ENVIRONMENT": "env"},
		disk: madeDisk{files: []string{"/home/u/.cache/pypoetry/virtualenvs/my-p-SP6z3yc--py3.12/bin/serena", "/home/u/.cache/pypoetry/virtualenvs/my-p-AAAAAAAA-py3.12/x"}},
	}
	want := []string{"/tmp/p/env", "/home/u/.cache/pypoetry/virtualenvs/my-p-SP6z3yc--py3.12"}
	if got := ownEnvironments(g); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestParseLauncher(t *testing.T) {
	const output = " -V:3.13 *        C:\\Program Files\\Python313\\python.exe\r\n -3.9-64          C:\\Python39\\python.exe\r\n" +
		" -V:Astral/CPython3.12.1  C:\\Users\\u\\x\\python.exe\r\n  *               C:\\active\\python.exe\r\n -V:3.13  C:\\Program Files\\Python313\\python.exe\r\nNo suitable Python\r\n"
	want := []string{`C:\Program Files\Python313\python.exe`, `C:\Python39\python.exe`, `C:\Users\u\x\python.exe`}
	if got := parseLauncher(output); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

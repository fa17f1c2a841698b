//go:build real && unix

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// venv makes an environment without Serena, and returns its interpreter.
func venv(t *testing.T, dir string) string {
	t.Helper()
	base := filepath.Join(serenatest.Tools(t), "venv", "bin", "python3")
	if out, err := exec.Command(base, "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		t.Fatalf("making an environment: %v: %s", err, out)
	}
	return filepath.Join(dir, "bin", "python3")
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trap is a project in which everything that could be run by accident leaves a mark.
func trap(t *testing.T, mark string) string {
	t.Helper()
	project := t.TempDir()
	leave := fmt.Sprintf("open(%q, 'a').write(__file__ + '\\n')\n", mark)
	for _, name := range []string{
		"mcp.py", "mcp/__init__.py", "serena/__init__.py", "serena/cli.py", "serena.py", "sitecustomize.py", "usercustomize.py", "click.py", "json.py",
		"src/serena/__init__.py", "src/sitecustomize.py", ".venv/lib/python3.11/site-packages/sitecustomize.py",
	} {
		write(t, filepath.Join(project, name), leave)
	}
	for _, name := range []string{".venv/bin/serena", ".venv/bin/python3", ".venv/bin/uvx", "venv/bin/serena", ".pixi/envs/default/bin/serena", "bin/serena", "bin/git", "bin/python3"} {
		script(t, filepath.Join(project, name), "echo \"$0\" >>'"+mark+"'; echo Serena 9.9.9")
	}
	write(t, filepath.Join(project, "uv.toml"), "required-version = \"==0.0.1\"\n")
	write(t, filepath.Join(project, "pyproject.toml"), "[tool.uv]\nrequired-version = \"==0.0.1\"\n")
	write(t, filepath.Join(project, ".python-version"), "2.7\n")
	return project
}

func TestNothingOfTheProjectIsRun(t *testing.T) {
	tools := serenatest.Tools(t)
	installed := filepath.Join(tools, "venv", "bin")
	mark := filepath.Join(t.TempDir(), "mark")
	project := trap(t, mark)
	t.Chdir(project) // as when somebody starts us in a terminal there
	f, home := finder(t, func(o *FinderOptions) {
		o.Environ = append(o.Environ, "PYTHONPATH="+filepath.Join(project, "src")+":"+project+":.:", "PWD="+project, "VIRTUAL_ENV="+filepath.Join(project, ".venv"),
			"UV_CACHE_DIR="+filepath.Join(tools, "uv"), "UV_PYTHON_DOWNLOADS=never")
		o.Environ[0] = "PATH=" + strings.Join([]string{filepath.Join(project, ".venv/bin"), "bin", ".", "", filepath.Join(project, "bin"), filepath.Join(o.Home, "path"), "/usr/bin", "/bin"}, ":")
	})
	link(t, filepath.Join(project, "bin", "serena"), filepath.Join(home, ".local/bin/serena"))
	link(t, filepath.Join(installed, "serena"), filepath.Join(home, ".local/share/pipx/venvs/serena-agent/bin/serena"))
	link(t, filepath.Join(installed, "uvx"), filepath.Join(home, ".cargo/bin/uvx"))
	link(t, filepath.Join(installed, "uv"), filepath.Join(home, ".cargo/bin/uv"))
	link(t, filepath.Join(installed, "python3"), filepath.Join(home, "path/python3")) // for which uv's cache was filled
	// An interpreter with Serena and no program beside it.
	link(t, filepath.Dir(installed), filepath.Join(home, ".pyenv/versions/3.11.1"))

	works := map[string]bool{}
	all := f.CheckAll(t.Context(), Wanted{Project: project})
	for _, v := range all {
		if v.OK {
			if v.Version != serenatest.Version {
				t.Errorf("%q: %+v", v.Command, v)
			}
			works[v.Source] = true
		}
		if strings.HasPrefix(v.Command[0], project) && v.Problem != NotRun {
			t.Errorf("%q: %s", v.Command, v.Problem)
		}
	}
	for _, source := range []string{"pipx", "uvx, found by ~/.cargo/bin", "Python, found by pyenv's Python 3.11.1"} {
		if !works[source] {
			t.Errorf("%s does not work: %+v", source, all)
		}
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("the project's own was run: %s", data)
	}
	// What a check leaves behind would be there for everybody.
	if _, err := os.Stat(filepath.Join(home, ".serena")); err == nil {
		t.Error("a check made Serena's home")
	}
}

// The seven failures of somebody who tried to start Serena from a program: two
// environments, Serena in one of them, and a launcher that takes the other.
func TestTheSevenFailures(t *testing.T) {
	tools := serenatest.Tools(t)
	installed := filepath.Join(tools, "venv", "bin")
	project := t.TempDir() // a copy of Serena's source, where they worked
	write(t, filepath.Join(project, "src/serena/__init__.py"), "")
	write(t, filepath.Join(project, "src/serena/mcp.py"), "import mcp.server.fastmcp\n")
	bare := t.TempDir()
	venv(t, bare)
	py := filepath.Join(bare, "bin", "py") // the launcher, which takes this one
	link(t, "python3", py)
	withSerena := t.TempDir()
	venv(t, withSerena)
	library := filepath.Join(withSerena, "lib", "python3.11", "site-packages")
	if err := os.Symlink(filepath.Join(tools, "venv/lib/python3.11/site-packages/serena"), filepath.Join(library, "serena")); err != nil {
		t.Fatal(err)
	}
	sources := "PYTHONPATH=" + filepath.Join(project, "src")

	for _, test := range []struct {
		name    string
		command []string
		env     []string
		problem Problem
		python  string
		says    []string
	}{
		{
			name: "1: packages are missing", command: []string{filepath.Join(withSerena, "bin", "python3"), "-P", "-c", entry},
			problem: ModuleNotFound, python: filepath.Join(withSerena, "bin", "python3"), says: []string{"lacks the module", "what it depends on is not", "serena-agent"},
		},
		{
			name: "2: not on the PATH", command: []string{"serena-mcp-server"},
			problem: NotFound, says: []string{`"serena-mcp-server" is not in the only directory`, "PATH of this process"},
		},
		{
			name: "3: the launcher takes another interpreter", command: []string{py, "-m", "serena.mcp"},
			problem: ModuleNotFound, python: py, says: []string{"Serena is not installed for it", bare, "uv pip install --python " + py + " serena-agent"},
		},
		{
			name: "4: after an install into another one", command: []string{py, "-m", "serena.mcp"}, env: []string{"VIRTUAL_ENV=" + filepath.Dir(installed)},
			problem: ModuleNotFound, python: py, says: []string{"A pip of another interpreter", bare},
		},
		{
			name: "5: PYTHONPATH=src", command: []string{py, "-m", "serena.mcp"}, env: []string{"PYTHONPATH=src"},
			problem: ModuleNotFound, python: py, says: []string{"PYTHONPATH has src,", "not the project"},
		},
		{
			name: "6: the working directory is the project", command: []string{py, "-m", "serena.mcp"}, env: []string{"PWD=" + project},
			problem: ModuleNotFound, python: py, says: []string{"the working directory do not help"},
		},
		{
			name: "7: both, but what is the project's is left out", command: []string{py, "-m", "serena.mcp"}, env: []string{sources, "PWD=" + project},
			problem: ModuleNotFound, python: py, says: []string{"not installed for it", "PYTHONPATH has " + filepath.Join(project, "src") + ", which lies in the project and is left out", "serena-agent"},
		},
		{
			name: "what they would have met next", command: []string{filepath.Join(installed, "python3"), "-m", "serena.mcp"},
			problem: Failed, says: []string{"ends without a word", filepath.Join(installed, "serena")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := finder(t, func(o *FinderOptions) { o.Environ = append(o.Environ, test.env...) })
			t.Chdir(project)
			// What Resolve tries first. A Python of the machine may have Serena; what the
			// settings give fails all the same.
			w := Wanted{Command: test.command, Serena: true, Project: project}
			first, err := f.check(t.Context(), slices.Collect(f.candidates(t.Context(), w))[0], f.serena(w), false)
			if err != nil {
				t.Fatal(err)
			}
			if first.Problem != test.problem || first.Interpreter != test.python {
				t.Errorf("got %s, %s: %s", first.Problem, first.Interpreter, first.Detail)
			}
			apptest.Contains(t, first.Detail, test.says...)
			if test.problem == ModuleNotFound && !slices.ContainsFunc(first.SysPath, func(p string) bool { return strings.HasPrefix(p, filepath.Dir(filepath.Dir(test.python))) }) {
				t.Errorf("sys.path is %q", first.SysPath)
			}
		})
	}
	// With a Serena that we find by ourselves the same request works, and says why
	// the settings do not.
	f, home := finder(t, nil)
	link(t, filepath.Join(installed, "serena"), filepath.Join(home, ".local/bin/serena"))
	r, err := f.Resolve(t.Context(), Wanted{Command: []string{py, "-m", "serena.mcp"}, Project: project})
	if err != nil || r.Chosen.Version != serenatest.Version || len(r.Tried) == 0 || r.Tried[0].Problem != ModuleNotFound {
		t.Errorf("got %+v, %v", r.Chosen, err)
	}
}

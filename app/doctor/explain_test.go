package doctor

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/launch"
)

// rooted is an absolute path on this system.
func rooted(path string) string {
	if runtime.GOOS == "windows" {
		return `C:` + filepath.FromSlash(path)
	}
	return path
}

// The seven failures of the first attempt to start Serena from another program,
// which nobody could explain then. What the verdict itself says is not repeated.
func TestSevenFailures(t *testing.T) {
	lacks := func(command ...string) launch.Verdict {
		v := verdict("the settings", launch.ModuleNotFound, "It has no module \"serena\".", command...)
		v.Interpreter, v.SysPath = rooted("/py312/python.exe"), []string{rooted("/py312/Lib"), rooted("/p/src")}
		v.Stderr = []string{"ModuleNotFoundError: No module named 'serena'"}
		return v
	}
	py := lacks(`C:\Windows\py.exe`, "-m", "serena.mcp")
	broken := lacks(rooted("/py312/python.exe"), "-P", "-c", "…")
	broken.Stderr = []string{"Traceback (most recent call last):", "ModuleNotFoundError: No module named 'mcp.server'"}
	broken.Advice = "To install it there: uv tool install serena-agent"
	src := surroundings{pythonPath: []string{"src"}}
	for name, test := range map[string]struct {
		v     launch.Verdict
		s     surroundings
		means []string
		do    string
	}{
		"1: packages missing":        {broken, surroundings{}, []string{"Serena is there, but not mcp.server"}, "To install it there: uv tool install serena-agent"},
		"2: WinError 2":              {verdict("the settings", launch.NotFound, "It is not on the PATH.", "serena-mcp-server"), surroundings{}, []string{"no program of that name since 1.0"}, "Take serena-mcp-server out"},
		"3: py -m":                   {py, surroundings{}, []string{"The py launcher chose that interpreter"}, "py -0p"},
		"4: after pip install":       {py, surroundings{have: []string{rooted("/py313/python.exe")}}, []string{"may have installed for another one"}, "An interpreter that has Serena: " + rooted("/py313/python.exe")},
		"5: PYTHONPATH":              {py, src, []string{`PYTHONPATH has "src", which is another directory wherever a server starts`}, "py -0p"},
		"6: in the project":          {py, surroundings{}, []string{"The working directory does not help", "lies in src"}, "py -0p"},
		"7: both":                    {py, src, []string{"PYTHONPATH has", "The working directory does not help"}, "py -0p"},
		"PYTHONPATH of no use":       {lacks("python3"), surroundings{pythonPath: []string{rooted("/p/src")}}, []string{"in which there is no directory serena"}, ""},
		"PYTHONPATH not heeded":      {lacks("python3", "-I"), surroundings{pythonPath: []string{rooted("/q")}}, []string{"that interpreter does not look there"}, ""},
		"PYTHONPATH of the terminal": {lacks("python3"), surroundings{here: "/p/src"}, []string{"is /p/src in this terminal, but not for the background process"}, ""},
		"PY_PYTHON":                  {py, surroundings{pyPython: "3.8"}, []string{"PY_PYTHON is 3.8 here"}, ""},
	} {
		means, do := explain(test.v, test.s)
		for _, want := range test.means {
			if !strings.Contains(means, want) {
				t.Errorf("%s: %q is not in %q", name, want, means)
			}
		}
		if !strings.Contains(do, test.do) {
			t.Errorf("%s: do %q", name, do)
		}
	}
}

func TestExplain(t *testing.T) {
	own := verdict("x", launch.NotRun, "", "/p/.venv/bin/serena")
	own.Untrusted = true
	for name, test := range map[string]struct {
		v         launch.Verdict
		means, do string
	}{
		"the project's":  {own, "may be anybody's", ""},
		"not checked":    {verdict("x", launch.NotRun, "It was not checked.", "/x/serena"), "", ""},
		"slow":           {verdict("x", launch.TimedOut, "", "/x/serena"), "hangs or is very slow", "/x/serena --version"},
		"not fetched":    {offline, "This check fetches nothing", "Fetch it: /b/uvx --from serena-agent serena --version"},
		"failed":         {verdict("x", launch.Failed, "exit status 3", "/x/serena"), "", ""},
		"not found":      {verdict("x", launch.NotFound, "", "/x/serena"), "", ""},
		"not executable": {verdict("x", launch.NotExecutable, "", "/x/serena"), "", ""},
	} {
		means, do := explain(test.v, surroundings{})
		if (means == "") != (test.means == "") || !strings.Contains(means, test.means) || !strings.Contains(do, test.do) {
			t.Errorf("%s: %q, %q", name, means, do)
		}
	}
}

// The environment for candidates makes nothing of the user's.
func TestThrowaway(t *testing.T) {
	away, err := newThrowaway()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	environ := away.environ([]string{"A=1", "SERENA_HOME=/mine"}, home)
	for name, want := range map[string]string{
		"A": "1", "SERENA_HOME": filepath.Join(away.dir, "serena"), "UV_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1",
		"UV_CACHE_DIR": filepath.Join(away.dir, "UV_CACHE_DIR"), "UV_TOOL_DIR": filepath.Join(away.dir, "UV_TOOL_DIR"),
	} {
		if got := variable(environ, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// Folders of uv that are there stay, because what is in them can be used.
	environ = away.environ([]string{"UV_CACHE_DIR=" + home}, home)
	if got := variable(environ, "UV_CACHE_DIR"); got != home {
		t.Errorf("UV_CACHE_DIR is %q", got)
	}
	away.remove()
	if dirs, _ := filepath.Glob(away.dir); len(dirs) > 0 {
		t.Errorf("%s is left", away.dir)
	}
}

func TestUVPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the paths below are those of other systems
	}
	for name, test := range map[string]struct {
		env         map[string]string
		cache, tool string
	}{
		"default": {nil, "/h/.cache/uv", "/h/.local/share/uv/tools"},
		"xdg":     {map[string]string{"XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/uv", "/d/uv/tools"},
		"own":     {map[string]string{"UV_CACHE_DIR": "/c", "UV_TOOL_DIR": "/d", "XDG_CACHE_HOME": "/x"}, "/c", "/d"},
		"odd":     {map[string]string{"UV_CACHE_DIR": "c", "XDG_DATA_HOME": "d"}, "/h/.cache/uv", "/h/.local/share/uv/tools"},
	} {
		got := uvPlaces("linux", "/h", func(name string) string { return test.env[name] })
		want := []uvPlace{{"UV_CACHE_DIR", test.cache}, {"UV_TOOL_DIR", test.tool}}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

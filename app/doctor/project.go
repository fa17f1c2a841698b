package doctor

import (
	"os"
	"path/filepath"
	"strings"
)

// projectFacts are what Serena's Python language server needs, where the user
// is in a Python project.
type projectFacts struct {
	python    bool // it is one
	uvx       bool // there is a uvx
	offline   bool // uv may not download an interpreter
	has313    bool // there is a Python 3.13
	directory string
}

func gatherProject(dir, home string, dirs, environ []string) projectFacts {
	f := projectFacts{directory: dir}
	if dir == "" {
		return f
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			f.python = true
		}
	}
	if !f.python {
		return f
	}
	f.uvx = lookIn(dirs, "uvx") != ""
	downloads := variable(environ, "UV_PYTHON_DOWNLOADS")
	f.offline = variable(environ, "UV_OFFLINE") != "" || downloads == "never" || downloads == "manual"
	f.has313 = lookIn(dirs, "python3.13") != ""
	for _, base := range uvPythons(home, environ) {
		list, _ := os.ReadDir(base) // none where there is no such directory
		for _, e := range list {
			f.has313 = f.has313 || strings.HasPrefix(e.Name(), "cpython-3.13")
		}
	}
	return f
}

// judgeProject is about what the user's project needs of the machine.
//
// Source: solidlsp/language_servers of Serena 2.1.0: uvx -p 3.13.
func judgeProject(f projectFacts) []Line {
	l := Line{Mark: Warn, Means: "Serena then starts without its symbols for Python files in " + f.directory + "."}
	switch {
	case !f.python:
		return nil
	case !f.uvx:
		l.Text = "Serena starts its language server for Python with uvx -p 3.13, and there is no uvx"
		l.Do = "Install uv: https://docs.astral.sh/uv/"
	case f.offline && !f.has313:
		l.Text = "Serena's language server for Python wants Python 3.13 (uvx -p 3.13), which is not here, and uv may not download it"
		l.Do = "Install Python 3.13, or unset UV_OFFLINE and UV_PYTHON_DOWNLOADS once: uv python install 3.13"
	default:
		return nil
	}
	return []Line{l}
}

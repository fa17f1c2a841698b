package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// surroundings are what helps to explain why a candidate does not work.
type surroundings struct {
	pythonPath []string        // PYTHONPATH, as it is written
	here       string          // PYTHONPATH of the terminal, where the other process has another one
	holds      map[string]bool // directories in which interpreters look, and whether there is a Serena in them
	have       []string        // interpreters that have Serena
	pyPython   string          // PY_PYTHON, which the py launcher heeds
}

func gatherSurroundings(verdicts []launch.Verdict, o Options, w world) surroundings {
	s := surroundings{holds: map[string]bool{}, pyPython: variable(w.environ, "PY_PYTHON")}
	theirs, here := variable(w.environ, "PYTHONPATH"), variable(o.Environ, "PYTHONPATH")
	s.pythonPath = filepath.SplitList(theirs)
	if here != theirs {
		s.here = here
	}
	for _, v := range verdicts {
		for _, dir := range v.SysPath {
			if _, asked := s.holds[dir]; !asked {
				info, err := os.Stat(filepath.Join(dir, "serena"))
				s.holds[dir] = err == nil && info.IsDir()
			}
		}
		if v.OK && command.IsPython(program(v)) {
			s.have = append(s.have, v.Command[0])
		}
	}
	return s
}

// unfetched tells a uvx that works, but would have to fetch Serena first, which
// a check does not do. The words are those of uv.
func unfetched(v launch.Verdict) bool {
	return v.Problem == launch.NotRun && !v.Untrusted && slices.ContainsFunc(v.Stderr, func(line string) bool {
		return strings.Contains(line, "network was disabled") || strings.Contains(line, "not found in the cache")
	})
}

// explain says what the verdict on a candidate that does not work means, beside
// what it says itself, and what to do.
func explain(v launch.Verdict, s surroundings) (means, do string) {
	switch v.Problem {
	case launch.ModuleNotFound:
		return explainModule(v, s)
	case launch.NotRun:
		if unfetched(v) {
			return "uvx works. This check fetches nothing; a start would.", "Fetch it: " + shown(v.Command) + " --version"
		}
		if !v.Untrusted {
			return "", ""
		}
		return "The files of a project may be anybody's.", ""
	case launch.NotFound:
		if program(v) == "serena-mcp-server" {
			return "Serena has had no program of that name since 1.0: it is serena.",
				"Take serena-mcp-server out of session_command of the settings; Serena is then found by itself."
		}
	case launch.TimedOut:
		return "Its start hangs or is very slow: a virus scanner, a network drive, or something that asks a question.",
			"Run it by hand: " + shown(v.Command) + " --version"
	case launch.Silent:
		return "Whatever looks there waits: a network drive whose server has gone, or a mount whose program hangs.",
			"Unmount it or bring it back, or take it out of PATH."
	case launch.NoProblem, launch.NotExecutable, launch.WrongVersion, launch.Failed:
	}
	return "", ""
}

// explainModule finds the reason why an interpreter has no Serena although its
// user thinks that it has: nearly always it is another interpreter than the one
// it was installed for.
func explainModule(v launch.Verdict, s surroundings) (means, do string) {
	if name := launch.MissingModule(strings.Join(append([]string{v.Detail}, v.Stderr...), "\n")); name != "" && name != "serena" && !strings.HasPrefix(name, "serena.") {
		return fmt.Sprintf("Serena is there, but not %s, which it needs: it was installed without what it depends on, or for another version of Python.", name),
			v.Advice
	}
	var say []string
	if p := program(v); p == "py" || p == "pyw" {
		why := "The py launcher chose that interpreter: by PY_PYTHON, py.ini, the version asked for, or an active virtual environment, which a desktop process does not have. So py -m pip in a terminal may have installed for another one."
		if s.pyPython != "" {
			why += fmt.Sprintf(" PY_PYTHON is %s here.", s.pyPython)
		}
		say = append(say, why)
		do = "py -0p lists all interpreters."
	}
	say = append(say, explainPythonPath(v, s)...)
	if slices.Contains(v.Command, "-m") {
		say = append(say, "The working directory does not help: servers run outside of the project, and Serena's package lies in src of its source.")
	}
	if len(s.have) > 0 {
		do = strings.TrimSpace(do + " An interpreter that has Serena: " + s.have[0])
	}
	return strings.Join(say, " "), do
}

// explainPythonPath says why PYTHONPATH, where it is set, did not help.
func explainPythonPath(v launch.Verdict, s surroundings) []string {
	var say []string
	if s.here != "" {
		say = append(say, fmt.Sprintf("PYTHONPATH is %s in this terminal, but not for the background process, which starts servers.", s.here))
	}
	for _, dir := range s.pythonPath {
		switch {
		case dir == "":
		case !filepath.IsAbs(dir):
			say = append(say, fmt.Sprintf("PYTHONPATH has %q, which is another directory wherever a server starts, so it is left out: write it as a full path.", dir))
		case !slices.Contains(v.SysPath, filepath.Clean(dir)) && !slices.Contains(v.SysPath, dir):
			say = append(say, fmt.Sprintf("PYTHONPATH has %s, but that interpreter does not look there: it was told to ignore it (-I, -E or a ._pth file), or it lies in the project.", dir))
		case !s.holds[filepath.Clean(dir)] && !s.holds[dir]:
			say = append(say, fmt.Sprintf("PYTHONPATH has %s, in which there is no directory serena.", dir))
		}
	}
	return say
}

// program is the name of what a candidate runs.
func program(v launch.Verdict) string { return monitor.ProgramName(v.Command[0]) }

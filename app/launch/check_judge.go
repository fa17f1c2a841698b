package launch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
)

// hearing is everything that is known of a candidate after it was asked.
type hearing struct {
	candidate  Candidate
	asked      []string // the command that was run
	limit      time.Duration
	outcome    outcome
	python     *interpreter // nil when it was not asked or does not say
	pythonPath string       // PYTHONPATH of the user
	leftOut    []string     // of it, because it is the project's
	offline    bool         // a download was not allowed
}

var (
	saysVersion = regexp.MustCompile(`(?m)^Serena v?(\d+(?:\.\d+)*)`)
	// As the interpreter says it at the end of a traceback, and as -m says it.
	saysMissing = regexp.MustCompile(`No module named '?([A-Za-z_][\w.]*)'?`)
)

// versionIn finds what Serena says about its version.
func versionIn(output string) string {
	if m := saysVersion.FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}

// MissingModule finds the module that Python looked for in vain, the last one;
// "" when it does not say.
func MissingModule(stderr string) string {
	all := saysMissing.FindAllStringSubmatch(stderr, -1)
	if len(all) == 0 {
		return ""
	}
	return strings.TrimRight(all[len(all)-1][1], ".")
}

// needsPython reports whether the interpreter has to be asked to explain an
// outcome: it lacks a module, is too old, or ran something that knows no version.
func needsPython(o outcome) bool {
	return o.startErr == nil && !o.timedOut && versionIn(o.stdout) == ""
}

// judge explains what a candidate said. It is pure.
func judge(a hearing) Verdict {
	v := Verdict{Candidate: a.candidate, Stderr: lastSaid(a.outcome.stderr, mostLines)}
	o, command := a.outcome, monitor.Quoted(a.asked)
	fail := func(p Problem, format string, args ...any) Verdict {
		v.Problem, v.Detail = p, fmt.Sprintf(format, args...)
		return v
	}
	said := versionIn(o.stdout)
	module := MissingModule(o.stderr)
	switch {
	case o.timedOut && downloads(a.asked):
		return fail(TimedOut, "%s did not come to an end within %s and was ended. If it downloads Serena, let it do so once in a terminal: %s", command, monitor.Span(a.limit), command)
	case o.timedOut:
		return fail(TimedOut, "%s did not come to an end within %s and was ended.", command, monitor.Span(a.limit))
	case said != "" && CompareVersions(said, oldest) < 0:
		v.Version = said
		return fail(WrongVersion, "This is Serena %s, and %s or newer is needed: %s", said, oldest, upgrade(a))
	case said != "" && o.code == 0:
		v.OK, v.Version = true, said
		v.Detail = "Serena " + said
		return v
	case strings.Contains(o.stderr, "nknown option: -P"):
		return fail(WrongVersion, "%s", a.tooOld())
	case module != "":
		return a.missing(v, module)
	case a.offline && o.code != 0 && saysOffline(o.stderr):
		return fail(NotRun, "Serena is not on this machine yet. A start by this command would download it.")
	case strings.Contains(o.stderr, "No such option"):
		return a.versionless(v)
	case o.code == 0 && moduleOf(a.asked) != "":
		return fail(Failed, "%s ends without a word: this module starts nothing by itself. Run the program %q instead%s.", command, program, a.beside())
	case o.code == 127 && strings.Contains(o.stderr, "pyenv:"):
		return fail(NotFound, "pyenv has this program, but not in the Python that it chooses: %s. Choose another one (pyenv global), or install Serena there.", strings.Join(lastSaid(o.stderr, 3), " "))
	case o.code == 0:
		return fail(WrongVersion, "This is not Serena: asked for its version it %s.", saidWhat(o))
	}
	return fail(Failed, "%s failed with %s; it %s.", command, o.ended, saidWhat(o))
}

// missing explains the failure that people could not explain themselves: the
// module is installed, but elsewhere.
func (a hearing) missing(v Verdict, module string) Verdict {
	v.Problem = ModuleNotFound
	who := "the interpreter of " + monitor.Quoted(a.candidate.Command[:1])
	if a.python != nil {
		v.Interpreter, v.SysPath = a.python.Executable, slices.Clone(a.python.Path)
		who = fmt.Sprintf("%s (Python %s)", monitor.Clean(a.python.Executable), a.python.Version)
	}
	top, _, _ := strings.Cut(module, ".")
	var text []string
	say := func(format string, args ...any) { text = append(text, fmt.Sprintf(format, args...)) }
	switch {
	case module == "serena.__main__":
		v.Problem = Failed
		say("%s has Serena, but `-m serena` starts nothing. Run the program %q instead%s.", who, program, a.beside())
		v.Detail = strings.Join(text, " ")
		return v
	case top == "serena" && a.python != nil && a.python.Serena != "":
		say("%s ran, and has Serena %s, but no module %q in it. Run the program %q instead%s.", who, a.python.Serena, module, program, a.beside())
	case top == "serena":
		say("%s ran, and Serena is not installed for it: it has no module %q.", who, module)
	default:
		say("%s ran, and lacks the module %q, which Serena needs: Serena's files are there, what it depends on is not.", who, module)
	}
	if len(v.SysPath) > 0 {
		say("It looked in %s.", monitor.Clean(strings.Join(v.SysPath, ", ")))
	}
	if relative := relativeEntries(a.pythonPath); len(relative) > 0 {
		say("PYTHONPATH has %s, which means one below the directory where the server runs, and that is not the project.", monitor.Quoted(relative))
	}
	if len(a.leftOut) > 0 {
		say("PYTHONPATH has %s, which lies in the project and is left out: it is used only where the settings name a file of the project.", monitor.Quoted(a.leftOut))
	}
	if top == "serena" {
		say("A pip of another interpreter, a virtual environment that is not active here, or the working directory do not help it.")
	}
	v.Advice = "To install it: uv tool install " + packageName
	if a.python != nil {
		v.Advice = a.python.install(top != "serena")
	}
	say("%s", v.Advice)
	v.Detail = strings.Join(text, " ")
	return v
}

// relativeEntries are those of a PYTHONPATH that mean another place in every
// directory.
func relativeEntries(value string) []string {
	if value == "" {
		return nil
	}
	var list []string
	for entry := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ';' || r == ':' }) {
		if !strings.HasPrefix(entry, "/") && !strings.HasPrefix(entry, `\`) && len(entry) > 1 {
			list = append(list, entry)
		}
	}
	return list
}

// versionless judges a Serena that cannot be asked (before 1.2): by what its
// interpreter knows of the installed package.
func (a hearing) versionless(v Verdict) Verdict {
	switch {
	case a.python == nil || a.python.Serena == "":
		v.Problem, v.Detail = WrongVersion, fmt.Sprintf("%s does not know --version, so it is not Serena or one of its first versions. To have the newest: uv tool install %s", monitor.Quoted(a.candidate.Command), packageName)
	case CompareVersions(a.python.Serena, oldest) < 0:
		v.Version = a.python.Serena
		v.Problem, v.Detail = WrongVersion, fmt.Sprintf("This is Serena %s, and %s or newer is needed: %s", v.Version, oldest, upgrade(a))
	default:
		v.OK, v.Version, v.Detail = true, a.python.Serena, "Serena "+a.python.Serena
	}
	return v
}

// outdated judges the program that Serena had until 1.0, which is not asked.
func outdated(c Candidate, python *interpreter) Verdict {
	v := Verdict{Candidate: c, Problem: WrongVersion}
	which := "Serena of that time"
	if python != nil && python.Serena != "" {
		v.Version, which = python.Serena, "Serena "+python.Serena
	}
	v.Detail = fmt.Sprintf("%s is how Serena was started until 1.0; here it is %s. The program is called %q now: name that one, or install a newer one: %s",
		monitor.Clean(c.Command[0]), which, program, upgrade(hearing{python: python}))
	return v
}

func (a hearing) tooOld() string {
	version := "older than " + oldestPython
	if a.python != nil {
		version = a.python.Version
	}
	return fmt.Sprintf("This is Python %s, and Serena needs %s or newer.", version, oldestPython)
}

// beside names the program of Serena that belongs to the interpreter.
func (a hearing) beside() string {
	if a.python == nil || a.python.Script == "" {
		return ""
	}
	return ", here " + monitor.Quoted([]string{a.python.Script})
}

func upgrade(a hearing) string {
	switch p := a.python; {
	case p == nil || p.Managed || p.UV:
		return "uv tool install --upgrade " + packageName
	case p.Pipx:
		return "pipx upgrade " + packageName
	case p.Pip:
		return monitor.Quoted([]string{p.Executable, "-m", "pip", "install", "--upgrade", packageName})
	default:
		return monitor.Quoted([]string{"uv", "pip", "install", "--python", p.Executable, "--upgrade", packageName})
	}
}

// saidWhat is the last thing a program said, as what it did.
func saidWhat(o outcome) string {
	for _, text := range []string{o.stderr, o.stdout} {
		if lines := lastSaid(text, 1); len(lines) > 0 {
			return "said: " + strings.TrimRight(lines[0], ".")
		}
	}
	return "printed nothing"
}

// saysOffline knows what uv says when it was not allowed to download.
func saysOffline(stderr string) bool {
	stderr = strings.ToLower(stderr)
	return strings.Contains(stderr, "network was disabled") || strings.Contains(stderr, "network connectivity is disabled") ||
		strings.Contains(stderr, "not found in the cache") || strings.Contains(stderr, "offline")
}

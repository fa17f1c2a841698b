package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// leastName is how long the name of a script or a package has to be to know it by, in
// characters.
const leastName = 5

// ByEntry finds the entry of a client's settings that a process on the client's pipes
// comes from. The chain is the process, what is above it and the client's own child
// last: one of them runs the entry. client is the ID of the client, dirs are where it and
// the process work. Of several entries the one that fits best counts, then one that is
// switched on, that is started where they work, that of the nearest project, the user's, a
// plugin's. Those that are the same in all that are all named.
func ByEntry(chain []process.Info, entries []clients.Entry, client string, dirs []string) (found clients.Entry, ok bool) {
	var best [4]int
	var names []string
	for _, e := range entries {
		if _, program, isShim := strings.Cut(e.Command, "/shims/"); isShim {
			e.Command = program // in place of which pyenv and its like start it
		}
		if !e.For(client) || !tellsEnough(e) {
			continue
		}
		fit := clients.NoFit
		for _, p := range chain {
			// Something else of the client's, such as a language server, may have a script of the
			// same name, or fit a variable.
			if f := e.Runs(p.Exe, p.Args, dirs); f > fit && (f == clients.WordsFit && e.IsLiteral() || !NeverServes(p)) {
				fit = f
			}
		}
		if fit == clients.NoFit || fit == clients.PackageFit && len(chain) > 1 {
			continue // the launcher above it runs something else
		}
		score := [4]int{int(fit), 1, 1, rank(e)}
		if e.Off {
			score[1] = 0
		}
		switch {
		case slices.Contains(dirs, e.Cwd):
			score[2] = 2
		case e.Cwd != "":
			score[2] = 0
		}
		switch order := slices.Compare(score[:], best[:]); {
		case order > 0:
			found, best, names = e, score, []string{e.Name}
		case order == 0 && !slices.Contains(names, e.Name):
			names = append(names, e.Name) // which only their environments tell apart
		}
	}
	found.Name = strings.Join(names, monitor.OrName)
	return found, len(names) > 0
}

// NeverServes reports whether a process is never a server's. A shell is what its script is.
func NeverServes(p process.Info) bool {
	runs, ok := read(p.Exe, p.Args)
	return ok && runs.guarded() && !command.Is(runs.name, command.Starter)
}

// rank is higher for what is more particular.
func rank(e clients.Entry) int {
	if e.Plugin != "" {
		return 0
	}
	return 1 + len(e.Dir)
}

// tellsEnough reports whether what an entry says is enough to know a process by, with the
// guard of a rule: a program that is no interpreter or shell, with what a launcher is to
// start, or a literal script or package of at least leastName characters.
func tellsEnough(e clients.Entry) bool {
	c := command.Parse("", append([]string{e.Command}, e.Args...))
	what, program := cmp.Or(c.Package, c.Script), monitor.ProgramName(c.Program)
	switch {
	case what != "":
	case c.Program == "":
		what = strings.Join(e.Args, " ") // code in the command line, which is compared whole
	case program == "dotnet" && len(c.Args) > 1 && c.Args[0] == "run": // a task, as below
		return e.IsLiteral()
	case command.Is(program, command.Interpreter):
		switch {
		case len(c.Args) == 0:
		case !strings.HasPrefix(c.Args[0], "-"):
			what = c.Args[0]
		case e.IsLiteral():
			what = strings.Join(c.Args, " ") // options or code, which are compared whole
		}
	case command.Is(program, command.Starter): // of a task, such as npm run mcp
		return e.IsLiteral() && len(strings.Join(e.Args, " ")) >= leastName
	default:
		return program != "" && !strings.ContainsAny(program, "$%") &&
			(!command.Is(program, command.Guarded|command.GuardedTool) || slices.ContainsFunc(e.Args, hasMCP))
	}
	if c.Package == "" {
		what = what[strings.LastIndexAny(what, `/\`)+1:]
	}
	return utf8.RuneCountInString(what) >= leastName && !strings.ContainsAny(what, "${}%")
}

// MayServe reports whether a process that talks to a client over pipes may be a server
// of which nobody knows: not a shell, a launcher, an editor, a tool that people and
// clients use for other things, nor our own.
func MayServe(exe string, args []string) bool {
	c, ok := read(exe, args)
	return ok && !c.guarded() && serves(c.args)
}

// ForChild is the rule for a process on the pipes of a client, of which nothing else is
// known: it is a server with a name, or with "" none. Its identity must be that of info.
func ForChild(in *monitor.Instance, info process.Info, name string) (Rule, error) {
	switch {
	case !in.OnPipes:
		return Rule{}, fmt.Errorf("%s is known already", in.Label())
	case info.Identity != in.Identity:
		return Rule{}, fmt.Errorf("%s has ended", in.Label())
	case slices.ContainsFunc(builtin(), func(b Rule) bool { return strings.EqualFold(b.Name, name) }):
		return Rule{}, fmt.Errorf("a built-in rule is called %s, and would not count any more; choose another name", name)
	}
	r, err := For(info.Exe, info.Args)
	if err != nil {
		return Rule{}, fmt.Errorf("what %s runs tells too little: %w. Write a rule for it yourself, below servers: in the settings", in.Label(), err)
	}
	r.Name, r.Hidden = name, name == ""
	if r.Hidden {
		r.Name = monitor.Shorten("no server: "+in.Name(), maxName)
	}
	return r, r.Check()
}

// For makes the rule by which a process and its like are recognised: by the script that
// it runs, with as much of its directory as is needed, by its module, its image, or its
// program with its first word. The error says why that would match what others run too.
func For(exe string, args []string) (r Rule, err error) {
	c := command.Parse(exe, args)
	if c.Program == "" {
		return Rule{}, &FieldError{"", "nobody can tell what it runs"}
	}
	parts := strings.Split(strings.ReplaceAll(cmp.Or(c.Script, c.Program), `\`, "/"), "/")
	for count := 2; count == 2 || err != nil && count <= len(parts); count++ {
		end := strings.Join(parts[max(0, len(parts)-count):], "/")
		r = Rule{Name: "for now", Program: end}
		switch {
		case c.Runtime == command.Container:
			r.Arguments = []string{c.Package}
		case c.Flag != "":
			r.Arguments = []string{c.Flag, c.Script}
		case c.Runtime != 0:
			r.Arguments = []string{end}
		case len(c.Args) > 0 && twoLetters.MatchString(c.Args[0]):
			r.Arguments = c.Args[:1]
		}
		for name, runtime := range families {
			if runtime == c.Runtime {
				r.Program = name
			}
		}
		err = r.Check()
	}
	return r, err
}

package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor/command"
)

// Set is a list of rules ready for use. It does not change after New and is
// safe for concurrent use. The zero Set matches nothing.
type Set struct{ rules []compiled }

// compiled is a rule taken apart once.
type compiled struct {
	name      string
	hidden    bool // it is no server
	runtime   command.Trait
	flag      string  // the option that what stands behind, empty when none
	what      pattern // its program, or what runs in the interpreter
	wild      bool    // that has wildcards
	arguments []pattern
}

// New makes a set of the user's rules and, behind them, the built-in ones. A
// rule of the user replaces the built-in rules of its name, or switches them
// off. Rules that Check refuses are left out.
func New(user []Rule) *Set {
	s := &Set{}
	replaced := make(map[string]bool)
	for _, r := range user {
		if r.Check() == nil {
			replaced[r.Key()] = true
			s.add(r)
		}
	}
	for _, r := range builtin() {
		if !replaced[r.Key()] {
			s.add(r)
		}
	}
	return s
}

func (s *Set) add(r Rule) {
	if !r.Disabled {
		s.rules = append(s.rules, compile(r))
	}
}

// families are the programs of a rule that stand for a family.
var families = map[string]command.Trait{"node": command.Node, "python": command.Python, "java": command.Java, "docker": command.Container}

// runtimeNamed is the family that a rule names; 0 for a program of its own.
func runtimeNamed(program string) command.Trait { return families[strings.ToLower(program)] }

// compile takes a rule apart.
func compile(r Rule) compiled {
	c := compiled{name: r.Name, hidden: r.Hidden, runtime: runtimeNamed(r.Program), what: programPattern(r.Program)}
	rest := r.Arguments
	if c.runtime != 0 {
		var what string
		c.flag, what, rest = whatOf(c.runtime, r.Arguments)
		if c.runtime == command.Java {
			c.flag = "" // a class or an archive, which are called differently
		}
		c.what = splitPath(what)
	}
	c.wild = slices.ContainsFunc(c.what, isWild)
	for _, a := range rest {
		c.arguments = append(c.arguments, splitPath(a))
	}
	return c
}

// whatOf parts the arguments of a rule for an interpreter: the option before what runs,
// that, "" for none, and its arguments.
func whatOf(runtime command.Trait, arguments []string) (flag, what string, rest []string) {
	if len(arguments) > 0 && (runtime == command.Python && arguments[0] == "-m" || runtime == command.Java && arguments[0] == "-jar") {
		flag, arguments = arguments[0], arguments[1:]
	}
	if len(arguments) == 0 {
		return flag, "", nil
	}
	return flag, arguments[0], arguments[1:]
}

// Match tells which rule recognises a process: exe is the path of the program
// that runs, args its command line with argv[0] first, or the one string that
// is left where a program has rewritten its title. Both must fit: a process
// whose executable cannot be read is never a server, nor is one that merely
// mentions a server in its arguments, nor, whatever a rule says, an editor, a
// shell, a browser, a test runner, an assistant, a launcher or our own shim.
func (s *Set) Match(exe string, args []string) (name string, ok bool) {
	r, c := s.find(exe, args)
	if r == nil || r.hidden || c.guarded() {
		return "", false
	}
	return r.name, true
}

// Hides reports whether a rule says of a process that it is no server.
func (s *Set) Hides(exe string, args []string) bool {
	r, _ := s.find(exe, args)
	return r != nil && r.hidden
}

// find is the first rule that fits what a process runs, nil for none.
func (s *Set) find(exe string, args []string) (*compiled, *subject) {
	c, ok := read(exe, args)
	if !ok || s == nil {
		return nil, nil
	}
	for i := range s.rules {
		if s.rules[i].match(&c) {
			return &s.rules[i], &c
		}
	}
	return nil, nil
}

func (r *compiled) match(s *subject) bool {
	if last := s.what[len(s.what)-1]; !r.wild && r.what.last() != last && r.what.last() != trimEnding(last) {
		return false // as most are
	}
	if r.runtime != s.Runtime || r.flag != s.Flag || r.runtime == 0 && !matches(r.what.last(), s.name) {
		return false
	}
	isImage := r.runtime == command.Container
	if !r.what.matchEnd(s.what) || isImage && len(r.what) != len(s.what) || r.wild && !tellsAt(r.what, s.what) {
		return false
	}
	rest, ok := inOrder(r.arguments, s.Args)
	return ok && serves(rest)
}

// tellsAt reports whether what a pattern with wildcards has matched tells the server
// by itself, as the pattern does: alpin* may be alpine.
func tellsAt(p pattern, parts []string) bool {
	return slices.ContainsFunc(parts[len(parts)-len(p):], tells)
}

// inOrder finds the patterns in args, from the beginning and in order. Between
// them only options are skipped, each with a value at most; it returns what
// follows.
func inOrder(patterns []pattern, args []string) (rest []string, ok bool) {
	option := false // the argument before was one that was skipped
	for len(patterns) > 0 {
		if len(args) == 0 {
			return nil, false
		}
		a := args[0]
		args = args[1:]
		switch {
		case argument(patterns[0], a):
			patterns, option = patterns[1:], false
		case strings.HasPrefix(a, "-"):
			option = !strings.Contains(a, "=")
		case option:
			option = false
		default:
			return nil, false
		}
	}
	return args, true
}

// argument compares a whole argument, or, when the pattern has a slash, its
// end.
func argument(p pattern, a string) bool {
	parts := splitPath(a)
	if len(p) > 1 {
		return p.matchEnd(parts)
	}
	return p.matchParts(parts)
}

// serves tells runs that do not serve: they show help, or set something up.
func serves(args []string) bool {
	if slices.Contains(args, "--help") || slices.Contains(args, "--version") {
		return false
	}
	if len(args) == 0 {
		return true
	}
	switch args[0] {
	case "-h", "-V", "-v", "help", "version", "install", "install-browser", "uninstall", "init", "auth", "login", "logout", "setup", "update", "upgrade", "completion":
		return false
	}
	return true
}

package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
)

// Set is a list of rules ready for use. It does not change after New and is
// safe for concurrent use. The zero Set matches nothing.
type Set struct{ rules []compiled }

// compiled is a rule with what it says.
type compiled struct {
	Rule
	says subject
}

// New makes a set of the user's rules and, behind them, the built-in ones. A
// rule of the user replaces the built-in rules of its name, or switches them
// off. Rules that Check refuses are left out.
func New(user []Rule) *Set {
	s := &Set{}
	user = slices.DeleteFunc(slices.Clone(user), func(r Rule) bool { return r.Check() != nil })
	others := slices.DeleteFunc(builtin(), func(b Rule) bool {
		return slices.ContainsFunc(user, func(r Rule) bool { return r.Key() == b.Key() })
	})
	for _, r := range append(user, others...) {
		if !r.Disabled {
			s.rules = append(s.rules, compiled{r, r.says()})
		}
	}
	return s
}

// Match tells which rule recognises a process: exe is the path of the program
// that runs, args its command line with argv[0] first, or the one string that
// is left where a program has rewritten its title. Both must fit: a process
// whose executable cannot be read is never a server, nor is one that merely
// mentions a server in its arguments, nor, whatever a rule says, an editor, a
// shell, a browser, a test runner, an assistant, a launcher or our own shim.
func (s *Set) Match(exe string, args []string) (name string, ok bool) {
	r, p := s.find(exe, args)
	if r == nil || r.Hidden || p.guarded() {
		return "", false
	}
	return r.Name, true
}

// Hides reports whether a rule says of a process that it is no server.
func (s *Set) Hides(exe string, args []string) bool {
	r, _ := s.find(exe, args)
	return r != nil && r.Hidden
}

// find is the first rule that fits what a process runs, nil for none.
func (s *Set) find(exe string, args []string) (*compiled, *subject) {
	p, ok := read(exe, args)
	if !ok || s == nil {
		return nil, nil
	}
	for i := range s.rules {
		if s.rules[i].says.fits(&p) {
			return &s.rules[i], &p
		}
	}
	return nil, nil
}

// fits reports whether a process runs what a rule says.
func (s *subject) fits(p *subject) bool {
	switch {
	case s.runtime != p.runtime || s.flag != p.flag || s.runtime == 0 && s.name != p.name:
		return false
	case s.runtime == command.Container && s.what != p.what, !endsWith(p.what, s.what):
		return false
	}
	rest, ok := inOrder(s.args, p.args)
	return ok && serves(rest)
}

// inOrder finds the words of a rule in args, from the beginning and in order: each a
// whole argument, or, when it has a slash, the end of one. Between them only options
// are skipped, each with a value at most; it returns what follows.
func inOrder(words, args []string) (rest []string, ok bool) {
	option := false // the argument before was one that was skipped
	for len(words) > 0 && len(args) > 0 {
		arg, word := clients.Slashed(args[0]), clients.Slashed(words[0])
		switch {
		case arg == word, trimEnding(arg) == word, strings.Contains(word, "/") && endsWith(arg, word):
			words, option = words[1:], false
		case strings.HasPrefix(arg, "-"):
			option = !strings.Contains(arg, "=")
		case option:
			option = false
		default:
			return nil, false
		}
		args = args[1:]
	}
	return args, len(words) == 0
}

// serves tells runs that do not serve: they show help, or set something up.
func serves(args []string) bool {
	if slices.Contains(args, "--help") || slices.Contains(args, "--version") {
		return false
	}
	others := "-h -V -v help version install install-browser uninstall init auth login logout setup update upgrade completion"
	return len(args) == 0 || !monitor.HasWord(others, args[0])
}

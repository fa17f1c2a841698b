package rules

import (
	"path"
	"slices"
	"strings"
)

// glob is one part of a pattern, in lower case.
type glob struct {
	text string
	wild bool // text has wildcards
}

// pattern is what stands between the slashes. That of an absolute path starts
// with an empty part.
type pattern []glob

// parsePattern reads what a rule says. Both kinds of separator count, so a
// backslash does not quote a wildcard; [*] does.
func parsePattern(s string) pattern {
	parts := splitPath(s)
	p := make(pattern, len(parts))
	for i, part := range parts {
		p[i] = glob{part, strings.ContainsAny(part, "*?[")}
	}
	return p
}

// programPattern is parsePattern for an executable, whose ending does not count.
func programPattern(s string) pattern {
	p := parsePattern(s)
	p[len(p)-1].text = strings.TrimSuffix(p.last().text, ".exe")
	return p
}

func (p pattern) last() glob { return p[len(p)-1] }

func (p pattern) isWild() bool { return slices.ContainsFunc(p, func(g glob) bool { return g.wild }) }

func (g glob) match(s string) bool {
	if !g.wild {
		return g.text == s
	}
	ok, err := path.Match(g.text, s)
	return ok && err == nil
}

// matchParts compares a pattern with as many parts, in lower case.
func (p pattern) matchParts(parts []string) bool {
	if len(p) != len(parts) {
		return false
	}
	for i := range p[:len(p)-1] {
		if !p[i].match(parts[i]) {
			return false
		}
	}
	last := parts[len(parts)-1]
	return p.last().match(last) || p.last().match(trimEnding(last))
}

// matchEnd compares a pattern with the end of a path.
func (p pattern) matchEnd(parts []string) bool {
	return len(p) <= len(parts) && p.matchParts(parts[len(parts)-len(p):])
}

// splitPath takes a path apart, in lower case. That of an absolute one starts
// with "". Both kinds of separator count, because a table recorded on one
// system is read on another.
func splitPath(s string) []string {
	s = strings.ToLower(strings.TrimSuffix(s, " (deleted)"))
	s = strings.ReplaceAll(s, `\`, "/")
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	return strings.Split(s, "/")
}

// trimEnding removes what installers add to the name of an entry point. The
// ending of a script stays: a scratch file of the same name is not the server.
func trimEnding(name string) string {
	for _, ending := range []string{".exe", ".cmd", "-script.py", "-script.pyw"} {
		if s, ok := strings.CutSuffix(name, ending); ok {
			return s
		}
	}
	return name
}

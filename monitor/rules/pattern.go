package rules

import (
	"path"
	"strings"
)

// pattern is what stands between the slashes, in lower case. That of an absolute path
// starts with an empty part. A part may have wildcards; both kinds of separator count,
// so a backslash does not quote one; [*] does.
type pattern []string

// programPattern is the pattern of an executable, whose ending does not count.
func programPattern(s string) pattern {
	p := splitPath(s)
	p[len(p)-1] = strings.TrimSuffix(p[len(p)-1], ".exe")
	return p
}

func (p pattern) last() string { return p[len(p)-1] }

func isWild(part string) bool { return strings.ContainsAny(part, "*?[") }

// matches compares a part of a pattern with one of a path.
func matches(part, s string) bool {
	if !isWild(part) {
		return part == s
	}
	ok, err := path.Match(part, s)
	return ok && err == nil
}

// matchParts compares a pattern with as many parts, in lower case.
func (p pattern) matchParts(parts []string) bool {
	if len(p) != len(parts) {
		return false
	}
	for i, part := range p {
		if !matches(part, parts[i]) && (i < len(p)-1 || !matches(part, trimEnding(parts[i]))) {
			return false
		}
	}
	return true
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

package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastStem is how much of a name must stand before its first wildcard, in
// characters.
const leastStem = 5

// checkMeaning refuses rules that would match what is not a server: published
// tools that went by such names have killed editors, terminals and test runs.
// What the rule says must tell the server by itself; then it is tried on what
// else is running on machines like the user's.
func (r Rule) checkMeaning() error {
	f := familyNamed(r.Program)
	check := r.checkScript
	field := "arguments"
	if f == native {
		check, field = r.checkProgram, "program"
	}
	if err := check(f); err != nil {
		return err
	}
	_, c := compile(r)
	if line := c.bystander(f); line != "" {
		return wrong(field, "would also match %q, which is no MCP server; add what only the server has", line)
	}
	return nil
}

// checkProgram looks at a rule for a program of its own.
func (r Rule) checkProgram(family) error {
	program := programPattern(r.Program)
	for _, name := range notServers {
		if program.last().match(name) {
			return wrong("program", "%s only starts other programs; name the one that it starts, such as node or python", name)
		}
	}
	for _, name := range familyMembers {
		if program.last().match(name) || (!program.last().wild && kindOf(program.last().text) != native) {
			return wrong("program", "this also means an interpreter; write python, node, java or docker, which stand for every version")
		}
	}
	if !program.last().named() {
		return wrong("program", "would match almost any program; write its whole name, or at least the first %d characters of it", leastStem)
	}
	if name := guardedBy(program.last()); name != "" {
		return wrong("program", "would match %s, which people work in and which is never taken for a server; name the server's own program", name)
	}
	if !specific(program) {
		return wrong("program", "would match what many programs are called; write the directory before it, such as acme/%s", strings.TrimLeft(r.Program, "*/"))
	}
	if len(r.Arguments) == 0 {
		if !strings.Contains(program.last().stem(), "mcp") && !specific(program[:len(program)-1]) {
			return &FieldError{"", "names a program alone, which may also do other things than serve; add arguments:, or the directory to program:"}
		}
		return nil
	}
	if slices.ContainsFunc(interpreters, program.last().match) {
		if !slices.ContainsFunc(r.Arguments, func(a string) bool { p := parsePattern(a); return p.last().named() && specific(p) }) {
			return wrong("arguments", "would match what others run with %s too; add the script, with its directory, such as my-server/%s", r.Program, r.Arguments[0])
		}
		return nil
	}
	if !slices.ContainsFunc(r.Arguments, isWord) {
		return wrong("arguments", "has no word that tells the server from other uses of the program; add one without wildcards, such as mcp or serve")
	}
	return nil
}

// guardedBy is a guarded program that a pattern matches, or may match.
func guardedBy(g glob) string {
	for _, name := range guardedPrograms {
		if g.match(name) {
			return name
		}
	}
	for _, begin := range guardedBeginnings {
		stem := g.stem()
		if (strings.HasPrefix(stem, begin) || g.wild && strings.HasPrefix(begin, stem)) && !strings.Contains(stem, "mcp") {
			if !g.wild {
				return g.text
			}
			return begin + "…"
		}
	}
	return ""
}

// interpreters are those that are no family: their first argument says what
// runs, as with the others.
var interpreters = []string{
	"ruby", "perl", "php", "lua", "luajit", "julia", "rscript", "r", "dotnet", "mono", "beam.smp", "erl", "elixir", "escript", "iex", "racket",
	"sbcl", "tclsh", "swipl", "osascript", "wscript", "cscript", "tsx", "ts-node", "wasmtime", "wasmer", "guile", "groovy", "scala", "kotlin",
}

// isWord tells an argument that is written out, and is more than an option of
// one letter.
func isWord(a string) bool {
	letters := 0
	for _, r := range a {
		switch {
		case strings.ContainsRune("*?[", r):
			return false
		case unicode.IsLetter(r), unicode.IsDigit(r):
			letters++
		}
	}
	return letters >= 2
}

// checkScript looks at a rule for what runs in an interpreter or a container.
func (r Rule) checkScript(f family) error {
	if len(r.Arguments) == 0 {
		return &FieldError{"", fmt.Sprintf("would match everything that runs in %s; add arguments: and what it runs", strings.ToLower(r.Program))}
	}
	what := r.Arguments[0]
	flag := ""
	if isFlag(f, what) {
		if len(r.Arguments) == 1 {
			return wrong("arguments", "ends after %s; add what follows it", what)
		}
		flag, what = what, r.Arguments[1]
	}
	p := parsePattern(what)
	wholeImage := f == container && len(p) > 1 && !slices.ContainsFunc(p, func(g glob) bool { return g.wild })
	switch {
	case wholeImage:
	case !p.last().named():
		return wrong("arguments", "%q would match what others run too; write the whole name at its end, or at least the first %d characters of it", what, leastStem)
	case !specific(p) && flag == "-m":
		return wrong("arguments", "%q would match what others run too; write the whole name of the module", what)
	case !specific(p):
		return wrong("arguments", "%q would match what others run too; write the directory before it, such as my-server/%s", what, strings.TrimLeft(what, "*/"))
	}
	if f == container {
		return nil
	}
	for _, name := range guardedScripts {
		if matchesScript(p, name, flag) {
			return wrong("arguments", "%q would match %s, which is never taken for a server; name the server's own script", what, name)
		}
	}
	return nil
}

// matchesScript tells whether a pattern is about a script of that name,
// wherever it lies.
func matchesScript(p pattern, name, flag string) bool {
	if flag == "-m" {
		module, _, _ := strings.Cut(p.last().text, ".")
		return p.last().match(name) || module == name
	}
	for _, before := range append([]string{""}, scriptPrefixes...) {
		parts := strings.Split(before+name, "/")
		for _, ending := range []string{"", ".js", ".mjs", ".cjs", ".py"} {
			end := parts[len(parts)-1] + ending
			if p.last().match(end) && (len(parts) == 1 || len(p) > 1 && p[len(p)-2].match(parts[0])) {
				return true
			}
		}
	}
	return false
}

// isFlag tells the options behind which an interpreter's program stands.
func isFlag(f family, a string) bool { return (f == python && a == "-m") || (f == java && a == "-jar") }

// commonWords are names that so many programs bear that they tell nothing.
var commonWords = []string{
	"index", "main", "server", "servers", "cli", "app", "apps", "run", "start", "serve", "stdio", "http", "mcp", "npm", "jsr", "title", "dist", "build", "out",
	"src", "lib", "bin", "sbin", "cmd", "scripts", "script", "test", "tests", "node_modules", "site-packages", "dist-packages", "__main__", "__init__", "mjs",
	"cjs", "exe", "jar", "war", "php", "latest", "home", "users", "user", "root", "usr", "local", "opt", "tmp", "var", "share", "etc", "mnt", "srv",
	"projects", "project", "repos", "repo", "code", "workspace", "workspaces", "work", "dev", "packages", "package", "modules", "module", "vendor", "tools",
	"examples", "example", "demo", "documents", "desktop", "downloads", "github", "com", "org", "ghcr", "library", "node", "python", "java",
	"docker", "worker", "daemon", "service", "entry", "launcher", "cache", "config", "release", "debug", "target", "current", "version", "versions",
	"program files", "programs", "appdata", "applications", "venv", "env", "virtualenvs", "internal", "public", "core", "common", "utils",
}

// specific tells whether a pattern has a part that tells what it is about.
func specific(p pattern) bool { return slices.ContainsFunc(p, glob.tells) }

// tells tells whether a name has a word in it that is not common. Of one with
// wildcards only what stands before them counts.
func (g glob) tells() bool {
	between := ".:@"
	if g.wild {
		if !g.named() {
			return false
		}
		between += "-_+~ " // server-* is as common as server
	}
	return slices.ContainsFunc(strings.FieldsFunc(g.stem(), func(r rune) bool { return strings.ContainsRune(between, r) }), func(word string) bool {
		return utf8.RuneCountInString(word) >= 3 && !slices.Contains(commonWords, word)
	})
}

// named tells whether a name is written out, or enough of its beginning.
func (g glob) named() bool {
	return !g.wild || utf8.RuneCountInString(g.stem()) >= leastStem
}

// stem is what a name says before its first wildcard, without what stands
// before a package or a title.
func (g glob) stem() string {
	s := g.text
	for _, prefix := range scriptPrefixes {
		s = strings.TrimPrefix(s, prefix)
	}
	if i := strings.IndexAny(s, "*?["); g.wild && i >= 0 {
		s = s[:i]
	}
	return s
}

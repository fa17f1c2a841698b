package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// leastStem is how much of a name must stand before its first wildcard, in
// characters.
const leastStem = 5

// checkMeaning refuses rules that would match what is not a server: published
// tools that went by such names have killed editors, terminals and test runs.
// What the rule says must tell the server by itself. Whatever it says, guarded has
// the last word.
func (r Rule) checkMeaning() error {
	runtime := runtimeNamed(r.Program)
	field, flag, what, rest := "program", "", r.Program, r.Arguments
	if runtime != 0 {
		if len(r.Arguments) == 0 {
			return &FieldError{"", fmt.Sprintf("would match everything that runs in %s; add arguments: and what it runs", strings.ToLower(r.Program))}
		}
		field = "arguments"
		flag, what, rest = whatOf(runtime, r.Arguments)
	}
	p := programPattern(what)
	last := p.last()
	s := subject{command.Command{Runtime: runtime, Flag: flag, Program: what, Package: what, Args: rest}, last, splitPath(what)}
	switch {
	case what == "":
		return wrong(field, "ends after %s; add what follows it", flag)
	case runtime == command.Container && len(p) > 1 && !slices.ContainsFunc(p, isWild): // a whole image
		return nil
	case runtime == 0 && command.Is(last, command.Starter):
		return wrong(field, "%s only starts other programs; name the one that it starts, such as node or python", last)
	case runtime == 0 && command.RuntimeOf(last) != 0:
		return wrong(field, "this also means an interpreter; write python, node, java or docker, which stand for every version")
	case !named(last):
		return wrong(field, "%q would match what others run too; write the whole name at its end, or at least the first %d characters of it", what, leastStem)
	case s.guarded():
		return wrong(field, "%q would match what is never taken for a server; name the server's own program or script, or add what makes it an MCP server, such as mcp", what)
	case !specific(p) && flag == "-m":
		return wrong(field, "%q would match what others run too; write the whole name of the module", what)
	case !specific(p):
		return wrong(field, "%q would match what others run too; write the directory before it, such as my-server/%s", what, strings.TrimLeft(what, "*/"))
	case isOneOf(frameworks, last) && slices.ContainsFunc(rest, isApp):
	case isOneOf(frameworks, last), isOneOf(command.Named(command.Interpreter), last):
		if !slices.ContainsFunc(rest, func(a string) bool { return isApp(a) && specific(splitPath(a)) }) {
			return wrong("arguments", "would match what others run with %s too; add what it runs, such as acme:app or my-server/server.rb", last)
		}
	case runtime != 0:
	case len(rest) == 0 && !hasMCP(stem(last)) && !specific(p[:len(p)-1]):
		return &FieldError{"", "names a program alone, which may also do other things than serve; add arguments:, or the directory to program:"}
	case len(rest) > 0 && !slices.ContainsFunc(rest, isWord):
		return wrong("arguments", "has no word that tells the server from other uses of the program; add one without wildcards, such as mcp or serve")
	}
	return nil
}

// frameworks serve what a later argument names.
var frameworks = []string{"uvicorn", "gunicorn", "hypercorn", "flask", "celery", "streamlit"}

func isOneOf(names []string, part string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return matches(part, name) })
}

// isApp reports whether an argument may name what a framework serves.
func isApp(a string) bool {
	return isWord(a) && !strings.HasPrefix(a, "-") && (hasMCP(a) || specific(splitPath(a)))
}

// isWord reports whether an argument is written out, and is more than an option of
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

func hasMCP(word string) bool { return strings.Contains(strings.ToLower(word), "mcp") }

// commonWords are names that so many programs bear that they tell nothing.
const commonWords = `index main server servers cli app apps run start serve stdio http mcp npm jsr title dist build out src lib bin sbin cmd scripts
	script test tests node_modules site-packages dist-packages __main__ __init__ mjs cjs exe jar war php latest home users user root usr local opt
	tmp var share etc mnt srv projects project repos repo code workspace workspaces work dev packages package modules module vendor tools examples
	example demo documents desktop downloads github com org ghcr library node python java docker worker daemon service entry launcher cache config
	release debug target current version versions programs appdata applications venv env virtualenvs internal public core common
	utils test_server manage setup applet next standalone rails artisan localhost lab alpine ubuntu debian fedora busybox golang rust postgres redis
	mysql mongo nginx`

// specific reports whether a pattern has a part that tells what it is about.
func specific(p pattern) bool { return slices.ContainsFunc(p, tells) }

// tells reports whether a name has a word in it that is not common. Of one with
// wildcards only what stands before them counts.
func tells(part string) bool {
	between := ".:@"
	if isWild(part) {
		between += "-_+~ " // server-* is as common as server
	}
	words := strings.FieldsFunc(stem(part), func(r rune) bool { return strings.ContainsRune(between, r) })
	return named(part) && slices.ContainsFunc(words, func(word string) bool {
		return utf8.RuneCountInString(word) >= 3 && strings.ContainsFunc(word, unicode.IsLetter) &&
			word != "program files" && !monitor.HasWord(commonWords, word)
	})
}

// named reports whether a name is written out, or enough of its beginning.
func named(part string) bool {
	return !isWild(part) || utf8.RuneCountInString(stem(part)) >= leastStem
}

// stem is what a name says before its first wildcard, without what stands
// before a package or a title.
func stem(part string) string {
	for _, prefix := range scriptPrefixes {
		part = strings.TrimPrefix(part, prefix)
	}
	if i := strings.IndexAny(part, "*?["); i >= 0 {
		part = part[:i]
	}
	return part
}

package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	if runtime := runtimeNamed(r.Program); runtime != 0 {
		return r.checkScript(runtime)
	}
	return r.checkProgram()
}

// checkProgram looks at a rule for a program of its own.
func (r Rule) checkProgram() error {
	program := programPattern(r.Program)
	last := program.last()
	argument := func(tells func(string) bool) bool { return slices.ContainsFunc(r.Arguments, tells) }
	switch {
	case command.Is(last.text, command.Starter):
		return wrong("program", "%s only starts other programs; name the one that it starts, such as node or python", last.text)
	case command.RuntimeOf(last.text) != 0:
		return wrong("program", "this also means an interpreter; write python, node, java or docker, which stand for every version")
	case !last.named():
		return wrong("program", "would match almost any program; write its whole name, or at least the first %d characters of it", leastStem)
	case command.Is(last.text, command.Guarded):
		return wrong("program", "would match %s, which people work in and which is never taken for a server; name the server's own program", last.text)
	case !specific(program):
		return wrong("program", "would match what many programs are called; write the directory before it, such as acme/%s", strings.TrimLeft(r.Program, "*/"))
	case len(r.Arguments) == 0 && !hasMCP(last.stem()) && !specific(program[:len(program)-1]):
		return &FieldError{"", "names a program alone, which may also do other things than serve; add arguments:, or the directory to program:"}
	case len(r.Arguments) == 0:
		return nil
	case slices.ContainsFunc(command.Named(command.Interpreter), last.match):
		// Its first argument says what runs, as with the families.
		if !argument(func(a string) bool { return isWord(a) && specific(parsePattern(a)) }) {
			return wrong("arguments", "would match what others run with %s too; add the script, with its directory, such as my-server/%s", r.Program, r.Arguments[0])
		}
	case !argument(isWord):
		return wrong("arguments", "has no word that tells the server from other uses of the program; add one without wildcards, such as mcp or serve")
	case command.Is(last.text, command.GuardedTool) && !argument(hasMCP):
		return wrong("arguments", "would match what %s does besides; add the word that makes it an MCP server, such as mcp", last.text)
	}
	return nil
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

// frameworks serve what a later argument names.
var frameworks = []string{"uvicorn", "gunicorn", "hypercorn", "flask", "celery", "streamlit"}

// isApp reports whether an argument may name what a framework serves.
func isApp(a string) bool {
	return isWord(a) && !strings.HasPrefix(a, "-") && (hasMCP(a) || specific(parsePattern(a)))
}

// checkScript looks at a rule for what runs in an interpreter or a container.
func (r Rule) checkScript(runtime command.Trait) error {
	if len(r.Arguments) == 0 {
		return &FieldError{"", fmt.Sprintf("would match everything that runs in %s; add arguments: and what it runs", strings.ToLower(r.Program))}
	}
	flag, what, rest := whatOf(runtime, r.Arguments)
	if what == "" {
		return wrong("arguments", "ends after %s; add what follows it", flag)
	}
	p := parsePattern(what)
	wholeImage := runtime == command.Container && len(p) > 1 && !p.isWild()
	switch {
	case wholeImage:
	case !p.last().named():
		return wrong("arguments", "%q would match what others run too; write the whole name at its end, or at least the first %d characters of it", what, leastStem)
	case !specific(p) && flag == "-m":
		return wrong("arguments", "%q would match what others run too; write the whole name of the module", what)
	case !specific(p):
		return wrong("arguments", "%q would match what others run too; write the directory before it, such as my-server/%s", what, strings.TrimLeft(what, "*/"))
	case (&subject{Command: command.Command{Runtime: runtime, Flag: flag, Package: what}, what: splitPath(what)}).guarded():
		return wrong("arguments", "%q would match what is never taken for a server; name the server's own script", what)
	case slices.ContainsFunc(frameworks, p.last().match) && !slices.ContainsFunc(rest, isApp):
		return wrong("arguments", "%q would match what others run with it too; add what it serves, such as acme:app", what)
	}
	return nil
}

// commonWords are names that so many programs bear that they tell nothing.
const commonWords = `index main server servers cli app apps run start serve stdio http mcp npm jsr title dist build out src lib bin sbin cmd scripts
	script test tests node_modules site-packages dist-packages __main__ __init__ mjs cjs exe jar war php latest home users user root usr local opt
	tmp var share etc mnt srv projects project repos repo code workspace workspaces work dev packages package modules module vendor tools examples
	example demo documents desktop downloads github com org ghcr library node python java docker worker daemon service entry launcher cache config
	release debug target current version versions programs appdata applications venv env virtualenvs internal public core common
	utils test_server manage setup applet next standalone rails artisan localhost lab alpine ubuntu debian fedora busybox golang rust postgres redis
	mysql mongo nginx`

// specific reports whether a pattern has a part that tells what it is about.
func specific(p pattern) bool { return slices.ContainsFunc(p, glob.tells) }

// tells reports whether a name has a word in it that is not common. Of one with
// wildcards only what stands before them counts.
func (g glob) tells() bool {
	between := ".:@"
	if g.wild {
		if !g.named() {
			return false
		}
		between += "-_+~ " // server-* is as common as server
	}
	words := strings.FieldsFunc(g.stem(), func(r rune) bool { return strings.ContainsRune(between, r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return utf8.RuneCountInString(word) >= 3 && strings.ContainsFunc(word, unicode.IsLetter) &&
			word != "program files" && !slices.Contains(strings.Fields(commonWords), word)
	})
}

// named reports whether a name is written out, or enough of its beginning.
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

package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
)

// checkMeaning refuses rules that would match what is not a server: published
// tools that went by such names have killed editors, terminals and test runs.
// What the rule says must tell the server by itself. Whatever it says, guarded has
// the last word.
func (r Rule) checkMeaning() error {
	s := r.says()
	field, last := "arguments", s.last()
	if s.runtime == 0 {
		field = "program"
	}
	switch {
	case s.runtime != 0 && len(r.Arguments) == 0:
		return &FieldError{"", fmt.Sprintf("would match everything that runs in %s; add arguments: and what it runs", strings.ToLower(r.Program))}
	case s.what == "":
		return Wrong(field, "ends after %q; add what follows it", strings.Join(r.Arguments, " "))
	case s.runtime == command.Container && s.what != last: // a whole image
		return nil
	case s.runtime == 0 && command.Is(last, command.Starter):
		return Wrong(field, "%s only starts other programs; name the one that it starts, such as node or python", last)
	case s.runtime == 0 && command.RuntimeOf(last) != 0:
		return Wrong(field, "this also means an interpreter; write python, node, java or docker, which stand for every version")
	case s.guarded() && !r.Hidden: // one that was hidden before it was known stays hidden
		return Wrong(field, "%q would match what is never taken for a server; name the server's own program or script, or add what makes it an MCP server, such as mcp", s.what)
	case !specific(s.what) && s.flag == "-m":
		return Wrong(field, "%q would match what others run too; write the whole name of the module", s.what)
	case !specific(s.what):
		return Wrong(field, "%q would match what others run too; write the directory before it, such as my-server/%s", s.what, strings.TrimLeft(s.what, "/"))
	case monitor.HasWord(frameworks, last) && slices.ContainsFunc(s.args, isApp):
	case monitor.HasWord(frameworks, last), command.Is(last, command.Interpreter):
		if !slices.ContainsFunc(s.args, func(a string) bool { return isApp(a) && specific(clients.Slashed(a)) }) {
			return Wrong("arguments", "would match what others run with %s too; add what it runs, such as acme:app or my-server/server.rb", last)
		}
	case s.runtime != 0:
	case len(s.args) == 0 && !hasMCP(last) && !specific(strings.TrimSuffix(s.what, last)):
		return &FieldError{"", "names a program alone, which may also do other things than serve; add arguments:, or the directory to program:"}
	case len(s.args) > 0 && !slices.ContainsFunc(s.args, twoLetters.MatchString):
		return Wrong("arguments", "has no word that tells the server from other uses of the program; add one, such as mcp or serve")
	}
	return nil
}

// frameworks serve what a later argument names.
const frameworks = "uvicorn gunicorn hypercorn flask celery streamlit"

// isApp reports whether an argument may name what a framework serves.
func isApp(a string) bool {
	return twoLetters.MatchString(a) && !strings.HasPrefix(a, "-") && (hasMCP(a) || specific(clients.Slashed(a)))
}

// twoLetters is what is more than an option of one letter.
var twoLetters = regexp.MustCompile(`(?s)[\pL\p{Nd}].*[\pL\p{Nd}]`)

func hasMCP(word string) bool { return strings.Contains(strings.ToLower(word), "mcp") }

// commonWords are names that so many programs bear that they tell nothing.
const commonWords = `index main server servers cli app apps run start serve stdio http mcp npm jsr title dist build out src lib bin sbin cmd scripts
	script test tests node_modules site-packages dist-packages __main__ __init__ mjs cjs exe jar war php latest home users user root usr local opt
	tmp var share etc mnt srv projects project repos repo code workspace workspaces work dev packages package modules module vendor tools examples
	example demo documents desktop downloads github com org ghcr library node python java docker worker daemon service entry launcher cache config
	release debug target current version versions programs appdata applications venv env virtualenvs internal public core common
	utils test_server manage setup applet next standalone rails artisan localhost lab alpine ubuntu debian fedora busybox golang rust postgres redis
	mysql mongo nginx`

// specific reports whether a path has a word in it that is not common.
func specific(path string) bool {
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/.:@", r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return utf8.RuneCountInString(word) >= 3 && strings.ContainsFunc(word, unicode.IsLetter) &&
			word != "program files" && !monitor.HasWord(commonWords, word)
	})
}

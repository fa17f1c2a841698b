package command

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// shellCommand returns the words of the one command that a shell was started to
// run (sh -c, cmd /c); nil when it may do anything else: an interactive shell, one
// that reads its standard input or a file, a line with a pipe, a job in the
// background or a second command.
func shellCommand(shell Trait, words []string) []string {
	if shell == cmdExe {
		inner := WithoutShell(words)
		if len(inner) == len(words) || len(inner) == 0 {
			return nil
		}
		line := strings.Join(inner, " ")
		if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && strings.Count(line, `"`) == 2 {
			line = strings.Trim(line, `"`)
		}
		if only := onlyCommand(shell, line); len(inner) == 1 || only == nil || strings.ContainsAny(line, "&|>") {
			return only
		}
		return inner // each of its words as it is, be there a space in it
	}
	at := nextWord(words, 1, "")
	if at >= len(words) {
		return nil
	}
	letters := ""
	for _, option := range words[1:at] {
		if !strings.HasPrefix(option, "--") {
			letters += option
		}
	}
	if strings.Contains(letters, "s") || !strings.Contains(letters, "c") { // its standard input, a file
		return nil
	}
	return onlyCommand(shell, words[at])
}

// WithoutShell leaves out "cmd /c", with which many configurations of Windows
// start programs; what is left is the end of the command.
func WithoutShell(words []string) []string {
	if len(words) == 0 || monitor.ProgramName(words[0]) != "cmd" {
		return words
	}
	for i, word := range words[1:] {
		switch {
		case strings.EqualFold(word, "/c"):
			return words[i+2:]
		case strings.EqualFold(word, "/k"), !strings.HasPrefix(word, "/"): // stays
			return words
		}
	}
	return words
}

// onlyCommand reads a command line. Commands of the shell itself that prepare
// (cd, export, source, …) may come before the one command, and those that only
// end may follow it.
func onlyCommand(shell Trait, line string) []string {
	var only []string
	for _, words := range commands(shell, line) {
		switch {
		case only == nil && !prepares(words):
			only = words
		case only != nil && !slices.Contains([]string{"true", ":", "exit"}, words[0]):
			return nil
		}
	}
	for len(only) > 0 && (only[0] == "exec" || isAssignment(only[0])) {
		only = only[1:]
	}
	return only
}

// prepares reports whether a command of a shell starts nothing that lasts.
func prepares(words []string) bool {
	switch strings.ToLower(words[0]) {
	case "cd", "chdir", "pushd", "export", "set", "unset", "source", ".", "umask", "ulimit", "true", ":", "exit", "test", "[", "shopt", "setopt",
		"nvm", "chcp", "setlocal", "title", "@echo", "echo":
		return true
	}
	return len(words) == 1 && isAssignment(words[0])
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// keywords begin what is more than one command.
var keywords = []string{"for", "while", "until", "if", "case", "select", "function", "coproc", "trap", "eval", "start", "foreach", "{", "}", "!", "begin"}

// commands splits a command line at what separates commands and returns their
// words; nil for a pipe, a job in the background, a subshell, a substitution of a
// command and anything else that is not plainly one command after the other.
func commands(shell Trait, line string) (list [][]string) {
	var words []string
	word, inWord, quote := "", false, byte(0)
	end := func(command bool) {
		if inWord {
			words = append(words, word)
		}
		word, inWord = "", false
		if command && len(words) > 0 {
			list, words = append(list, words), nil
		}
	}
	for i := 0; i < len(line); i++ { // all that separates is ASCII
		c, next := line[i], byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		redirects := strings.HasSuffix(line[:i], ">")
		switch {
		case c == '\\' && shell == posix && next == 0:
			return nil
		case c == '\\' && shell == posix && quote != '\'':
			if i++; next != '\n' {
				word, inWord = word+line[i:i+1], true
			}
		case quote == '"' && shell == posix && (c == '`' || c == '$' && next == '('):
			return nil
		case c == quote:
			quote = 0
		case quote != 0, c == '&' && redirects:
			word, inWord = word+line[i:i+1], true
		case c == '"', c == '\'' && shell == posix:
			quote, inWord = c, true
		case c == '&' && next == '>':
			return nil
		case c == '&' && next == '&', c == '|' && next == '|':
			i++
			end(true)
		case c == '\n', c == ';' && shell == posix, c == '&' && shell == cmdExe:
			end(true)
		case c == ' ', c == '\t', c == '\r':
			end(false)
		case strings.IndexByte("&|()<`", c) >= 0, c == '#' && !inWord:
			return nil
		default:
			word, inWord = word+line[i:i+1], true
		}
	}
	end(true)
	if quote != 0 || slices.ContainsFunc(list, func(words []string) bool { return slices.Contains(keywords, strings.ToLower(words[0])) }) {
		return nil
	}
	return list
}

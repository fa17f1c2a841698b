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
		if only := onlyCommand(shell, unquote(line)); len(inner) == 1 || only == nil || strings.ContainsAny(line, "&|>") {
			return only
		}
		return inner // each of its words as it is, be there a space in it
	}
	for i, word := range words[1:] {
		switch {
		case !strings.HasPrefix(word, "-"): // a file
			return nil
		case strings.HasPrefix(word, "--"):
		case strings.Contains(word, "s"): // reads its standard input
			return nil
		case strings.Contains(word, "c"):
			if i+2 >= len(words) {
				return nil
			}
			return onlyCommand(shell, words[i+2])
		}
	}
	return nil
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
		case strings.EqualFold(word, "/k"): // stays
			return words
		case !strings.HasPrefix(word, "/"):
			return words
		}
	}
	return words
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1]
	}
	return s
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
	var word strings.Builder
	inWord, quote := false, byte(0)
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		if endWord(); len(words) > 0 {
			list = append(list, words)
		}
		words = nil
	}
	for i := 0; i < len(line); i++ { // all that separates is ASCII
		c, next := line[i], byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case c == '\\' && shell == posix && quote != '\'':
			if next == 0 {
				return nil
			}
			if i++; next != '\n' {
				word.WriteByte(next)
				inWord = true
			}
		case quote == '"' && shell == posix && (c == '`' || c == '$' && next == '('):
			return nil
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '&' && next == '>':
			return nil
		case c == '"', c == '\'' && shell != cmdExe:
			quote, inWord = c, true
		case c == '&' && next == '&', c == '|' && next == '|':
			i++
			endCommand()
		case c == '&' && i > 0 && line[i-1] == '>': // a redirection
			word.WriteByte(c)
		case c == '&' && shell == cmdExe, c == ';' && shell != cmdExe, c == '\n':
			endCommand()
		case strings.IndexByte("&|()<`", c) >= 0, c == '#' && !inWord:
			return nil
		case c == ' ', c == '\t', c == '\r':
			endWord()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endCommand()
	if quote != 0 || slices.ContainsFunc(list, func(words []string) bool { return slices.Contains(keywords, strings.ToLower(words[0])) }) {
		return nil
	}
	return list
}

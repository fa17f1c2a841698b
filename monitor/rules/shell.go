package rules

import (
	"slices"
	"strings"
)

// shell is a kind of command interpreter.
type shell int

const (
	noShell shell = iota
	posix
	cmdExe
	powerShell
)

func shellNamed(name string) shell {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "ash":
		return posix
	case "cmd":
		return cmdExe
	case "powershell", "pwsh":
		return powerShell
	}
	return noShell
}

// runsOneCommand tells whether a shell was started to run one command line
// (sh -c, cmd /c, powershell -Command) that does nothing but start one command.
func runsOneCommand(sh shell, args []string) bool {
	for i, a := range args {
		lower := strings.ToLower(a)
		switch {
		case sh == posix && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--"):
			if strings.Contains(a, "s") {
				return false // reads its standard input
			}
			if strings.Contains(a, "c") {
				return i+1 < len(args) && isOneCommand(sh, args[i+1])
			}
		case sh == cmdExe && strings.HasPrefix(a, "/"):
			if lower == "/k" {
				return false // stays
			}
			if lower == "/c" {
				return isOneCommand(sh, unquote(strings.Join(args[i+1:], " ")))
			}
		case sh == powerShell && (lower == "-command" || lower == "-c"):
			return isOneCommand(sh, unquote(strings.Join(args[i+1:], " ")))
		case sh == powerShell && (lower == "-noexit" || lower == "-file" || lower == "-f"):
			return false
		case !strings.HasPrefix(a, "-") && sh != powerShell:
			return false // a file
		}
	}
	return false
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1]
	}
	return s
}

// isOneCommand reads a command line. Commands of the shell itself that prepare
// (cd, export, source, …) may come before the one command, and those that only
// end may follow it.
func isOneCommand(sh shell, line string) bool {
	list, ok := commands(sh, line)
	if !ok {
		return false
	}
	found := false
	for _, c := range list {
		switch {
		case found:
			if !slices.Contains([]string{"true", ":", "exit"}, c[0]) {
				return false
			}
		case !prepares(c):
			found = true
		}
	}
	return found
}

// prepares tells commands of a shell that start nothing that lasts.
func prepares(words []string) bool {
	switch strings.ToLower(words[0]) {
	case "cd", "chdir", "pushd", "export", "set", "unset", "source", ".", "umask", "ulimit", "true", ":", "exit", "test", "[", "shopt", "setopt",
		"nvm", "chcp", "setlocal", "title", "set-location", "@echo", "echo", "$env:path":
		return true
	}
	// NAME=value alone, and PowerShell's $name = value.
	if strings.HasPrefix(words[0], "$") {
		return len(words) > 1 && words[1] == "=" || strings.Contains(words[0], "=")
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
// words. It is false for a pipe, a job in the background, a subshell, a
// substitution of a command and anything else that is not plainly one command
// after the other.
func commands(sh shell, line string) (list [][]string, ok bool) {
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() bool {
		endWord()
		if len(words) == 0 {
			return true
		}
		if slices.Contains(keywords, strings.ToLower(words[0])) {
			return false
		}
		list = append(list, words)
		words = nil
		return true
	}
	var quote rune
	text := []rune(line)
	for i := 0; i < len(text); i++ {
		r := text[i]
		next := rune(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case quote != 0:
			switch {
			case r == quote:
				quote = 0
			case quote == '"' && (r == '`' || r == '$' && next == '(') && sh == posix:
				return nil, false
			case quote == '"' && r == '\\' && sh == posix && next != 0:
				word.WriteRune(next)
				i++
			default:
				word.WriteRune(r)
			}
		case r == '"', r == '\'' && sh != cmdExe:
			quote, inWord = r, true
		case r == '\\' && sh == posix:
			if next != '\n' {
				word.WriteRune(next)
				inWord = true
			}
			i++
		case r == '`', r == '(', r == ')':
			return nil, false
		case r == '<' && next == '<', r == '<' && next == '(':
			return nil, false
		case r == '&' && next == '&', r == '|' && next == '|':
			i++
			if !endCommand() {
				return nil, false
			}
		case r == '&' && i > 0 && (text[i-1] == '>' || text[i-1] == '<'), r == '&' && next == '>':
			word.WriteRune(r) // a redirection
			inWord = true
		case r == '&' && sh == powerShell && len(words) == 0 && !inWord: // its call operator
		case r == '&' && sh == cmdExe, r == ';' && sh != cmdExe, r == '\n':
			if r == ';' && next == ';' || !endCommand() {
				return nil, false
			}
		case r == '&', r == '|':
			return nil, false
		case r == '#' && sh == posix && !inWord:
			return nil, false
		case r == ' ', r == '\t', r == '\r':
			endWord()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	return list, quote == 0 && endCommand() && len(list) > 0
}

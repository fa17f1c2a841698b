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
	if shell == posix {
		given, rest := (&syntax{letters: true}).options(words[1:])
		if len(rest) == 0 || given.has("-s") || !given.has("-c") { // its standard input, a file
			return nil
		}
		return onlyCommand(rest[0])
	}
	inner := WithoutShell(words)
	line := strings.NewReplacer(`\`, "/", ";", ",", "'", "_").Replace(strings.Join(inner, " ")) // cmd takes these as they are
	if len(inner) == len(words) || strings.ContainsAny(line, "&|<>\n") {
		return nil
	}
	if strings.HasPrefix(line, `"`) && strings.HasSuffix(line, `"`) && strings.Count(line, `"`) == 2 {
		line = strings.Trim(line, `"`)
	}
	only := onlyCommand(line)
	if len(inner) > 1 && len(only) > 0 {
		return inner // each of its words as it is, be there a space in it
	}
	return only
}

// WithoutShell leaves out "cmd /c", with which many configurations of Windows
// start programs; what is left is the end of the command.
func WithoutShell(words []string) []string {
	at := slices.IndexFunc(words, func(word string) bool { return strings.EqualFold(word, "/c") })
	stays := func(word string) bool { return strings.EqualFold(word, "/k") || !strings.HasPrefix(word, "/") }
	if at < 1 || monitor.ProgramName(words[0]) != "cmd" || slices.ContainsFunc(words[1:at], stays) {
		return words
	}
	return words[at+1:]
}

// prepares are the commands of a shell that start nothing that lasts.
const prepares = "cd pushd export set unset source . umask ulimit true : exit test [ shopt setopt nvm echo"

// keywords begin what is more than one command, though nothing divides it.
const keywords = "for while until if case select function coproc trap eval start foreach { } ! begin"

// onlyCommand returns the one command of a line: those before it only prepare it, and
// those behind it only end the shell. What divides commands inside quotes leaves a part
// with one quote, of which nothing is known.
func onlyCommand(line string) (only []string) {
	if strings.Contains(line, "`") || strings.Contains(line, "$(") { // runs others
		return nil
	}
	line = strings.NewReplacer("\\\n", " ", "&&", "\n", ";", "\n").Replace(strings.TrimSpace(line))
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '\n' }) {
		words := wordsOf(part)
		switch {
		case len(words) == 0, monitor.HasWord(keywords, strings.ToLower(words[0])):
			return nil
		case only == nil && !monitor.HasWord(prepares, strings.ToLower(words[0])):
			only = words
		case only != nil && !monitor.HasWord("true : exit", words[0]):
			return nil
		}
	}
	for len(only) > 0 && (only[0] == "exec" || isAssignment(only[0])) {
		only = only[1:]
	}
	return only
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// wordsOf splits a command of a shell into its words; nil for a pipe, a job in the
// background, a subshell, what is read from a file, and a quote without its end.
func wordsOf(command string) (words []string) {
	word, inWord, quote := "", false, byte(0)
	command += " "
	for i := 0; i < len(command); i++ { // all that is looked for is ASCII
		c := command[i]
		switch {
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(command):
			i++
			word, inWord = word+command[i:i+1], true
		case quote != 0, c == '&' && strings.HasSuffix(word, ">"), strings.IndexByte("\"'&|()< \t\r", c) < 0: // 2>&1
			word, inWord = word+command[i:i+1], true
		case c == '"', c == '\'':
			quote, inWord = c, true
		case strings.IndexByte("&|()<", c) >= 0:
			return nil
		case inWord:
			words = append(words, word)
			word, inWord = "", false
		}
	}
	if quote != 0 || inWord { // or a backslash at its end, which has hidden what divided it
		return nil
	}
	return words
}

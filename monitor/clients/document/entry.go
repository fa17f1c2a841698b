package document

import (
	"errors"
	"strings"
	"unicode/utf8"

	"lamplighter/monitor"
)

// Why there is nothing of a server in an entry, as Entry.Odd says it.
const (
	oddNoObject = "it is no object"
	oddNoTable  = "it is no table"
	oddList     = "it is a list of tables"
	oddNothing  = "it has neither a command nor an address"
)

// IsServer reports whether there is a command or an address in the entry, also one
// that cannot be used. Where a table may be one of something else, what is no
// server says so.
func (e Entry) IsServer() bool {
	switch e.Odd {
	case oddNoObject, oddNoTable, oddList, oddNothing:
		return false
	}
	return true
}

// commandRead is the command of an entry, as its format reads it.
type commandRead struct {
	there, isString bool
	fits            bool // what it says can be a word of a command
	text            string
}

// oddOf is Entry.Odd for a command, an address, "" for none, and args, which are
// wrong when they are there and no list of strings, and unfit when one of these
// cannot be a word.
func oddOf(command commandRead, url string, argsWrong, argsUnfit bool) string {
	switch {
	case !command.there && url == "":
		return oddNothing
	case command.there && !command.isString:
		return "its command is no string"
	case command.there && !command.fits:
		return "its command holds a character that no command can hold"
	case command.there && command.text == "":
		return "its command is empty"
	case command.there && url != "":
		return "it has both a command and an address"
	case argsWrong:
		return "its args are no list of strings"
	case argsUnfit:
		return "its args hold a character that no command can hold"
	}
	return ""
}

// writable says why a command cannot be written, nil when it can.
func writable(command string, args []string) error {
	if command == "" {
		return errors.New("there is no command to write")
	}
	for _, word := range append([]string{command}, args...) {
		if !utf8.ValidString(word) || strings.ContainsRune(word, 0) {
			return errors.New("the command to write is not UTF-8, or holds a NUL")
		}
	}
	return nil
}

// entryName is a path as people read it.
func entryName(path []string) string {
	return "the entry " + shown(strings.Join(path, " › "), 120)
}

// shown is foreign text of any length as it can be shown.
func shown(text string, columns int) string {
	const enough = 2000 // bytes, for shortening takes its time
	return monitor.Shorten(monitor.Clean(text[:min(len(text), enough)]), columns)
}

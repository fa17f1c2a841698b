package clients

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Server is an MCP server as settings say it.
type Server struct {
	Path    []string // of names from the root, the last is the server's: mcpServers, serena
	Line    int      // where it begins in the text, from 1; 0 where that was not looked up
	Command string
	Args    []string
	List    bool   // command and args are one list, as OpenCode writes them, or one object, as Zed once did, which is read and not edited
	Dir     string // in which it is started, "" for the client's
	URL     string // of a server that is not started
	Off     bool   // the client is told not to use it

	// Odd says why it can be neither understood nor edited, as a part of a
	// sentence that is safe to show: "its args are no list of strings". Then
	// Command and Args are empty.
	Odd string
}

// Why there is nothing of a server in an entry, as Server.Odd says it.
const (
	oddNoTable = "it is no object or table"
	oddNothing = "it has neither a command nor an address"
)

// IsServer reports whether there is a command or an address in the entry, also one
// that cannot be used. Where a table may be one of something else, what is no
// server says so.
func (s Server) IsServer() bool { return s.Odd != oddNoTable && s.Odd != oddNothing }

// ReadServer tells what the decoded value of a server says.
func ReadServer(value any) Server {
	members, ok := value.(map[string]any)
	if !ok {
		return Server{Odd: oddNoTable}
	}
	text := func(name string) string {
		value, _ := members[name].(string)
		return value
	}
	e := Server{
		Dir: text("cwd"),
		Off: members["disabled"] == true || members["enabled"] == false,
		// Claude Code, VS Code, Cursor and Codex write url, the Gemini CLI also httpUrl,
		// which it prefers, and Windsurf serverUrl.
		URL: cmp.Or(text("httpUrl"), text("url"), text("serverUrl")),
	}
	command := members["command"] // null, as some write it beside an address, is none
	args, hasArgs := members["args"]
	if command, args, ok := inOne(command); ok && !hasArgs && e.URL == "" {
		e.Command, e.Args, e.List = command, args, true
		return e
	}
	word, isString := command.(string)
	words, isList := stringsOf(args)
	switch {
	case command == nil && e.URL == "":
		e.Odd = oddNothing
	case command == nil:
	case !isString:
		e.Odd = "its command is no string"
	case !IsWord(word):
		e.Odd = "its command holds a character that no command can hold"
	case word == "":
		e.Odd = "its command is empty"
	case e.URL != "":
		e.Odd = "it has both a command and an address"
	case hasArgs && !isList:
		e.Odd = "its args are no list of strings"
	case !areWords(words):
		e.Odd = "its args hold a character that no command can hold"
	default:
		e.Command, e.Args = word, words
	}
	return e
}

// inOne reads a command with its arguments: a list, or an object as Zed once wrote it.
func inOne(command any) (program string, args []string, ok bool) {
	if object, isObject := command.(map[string]any); isObject {
		object = maps.Clone(object)
		object["command"] = object["path"]
		e := ReadServer(object)
		return e.Command, e.Args, e.Command != "" && !e.List
	}
	words, ok := stringsOf(command)
	if !ok || len(words) == 0 || words[0] == "" || !areWords(words) {
		return "", nil, false
	}
	return words[0], words[1:], true
}

// stringsOf is a list of strings.
func stringsOf(value any) (words []string, ok bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	words = make([]string, 0, len(list))
	for _, element := range list {
		word, ok := element.(string)
		if !ok {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

func areWords(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !IsWord(word) })
}

// IsWord reports whether a string can be a word of a command: without a NUL, and
// without U+FFFD, which stands for what is no character, as half of a surrogate pair.
func IsWord(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\uFFFD")
}

// serversIn are the servers below a table of a decoded value, where "*" is any name: by
// their names. path leads to the value.
func serversIn(value any, path, table []string) []Server {
	names, _ := value.(map[string]any)
	var list []Server
	for _, name := range slices.Sorted(maps.Keys(names)) {
		below := append(slices.Clip(path), name)
		switch {
		case len(table) == 0:
			server := ReadServer(names[name])
			server.Path = below
			list = append(list, server)
		case table[0] == "*" || table[0] == name:
			list = append(list, serversIn(names[name], below, table[1:])...)
		}
	}
	return list
}

package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/tailscale/hujson"
)

// jsonURLs are the members that hold the address of a server: Claude Code, VS
// Code and Cursor write url, the Gemini CLI also httpUrl, which it prefers, and
// Windsurf serverUrl.
var jsonURLs = []string{"httpUrl", "url", "serverUrl"}

// jsonEntry reads the value of a server, all but where it stands. The names in it
// are there once.
func jsonEntry(value hujson.ValueTrimmed) Entry {
	object, ok := value.(*hujson.Object)
	if !ok {
		return Entry{Odd: oddNoObject}
	}
	var e Entry
	var command, args hujson.ValueTrimmed
	for _, m := range object.Members {
		switch name := jsonText(m.Name.Value); name {
		case "command":
			if m.Value.Value.Kind() != 'n' { // as some write it beside an address
				command = m.Value.Value
			}
		case "args":
			args = m.Value.Value
		case "cwd":
			e.Dir = jsonText(m.Value.Value)
		case "disabled":
			e.Off = e.Off || m.Value.Value.Kind() == 't'
		case "enabled":
			e.Off = e.Off || m.Value.Value.Kind() == 'f'
		}
	}
	for _, name := range jsonURLs {
		if at := jsonMember(object, name); at >= 0 && e.URL == "" {
			e.URL = jsonText(object.Members[at].Value.Value)
		}
	}
	if words, ok := jsonStrings(command); ok && len(words) > 0 && words[0] != "" && args == nil && e.URL == "" {
		e.Command, e.Args, e.List = words[0], words[1:], true
		return e
	}
	if inner, ok := command.(*hujson.Object); ok && args == nil && e.URL == "" { // as Zed once wrote it
		if read := jsonEntry(&hujson.Object{Members: jsonRenamed(inner, "path", "command")}); read.Odd == "" && read.Command != "" {
			e.Command, e.Args, e.List = read.Command, read.Args, true
			return e
		}
	}
	if e.Odd = jsonOdd(command, args, e.URL); e.Odd != "" || command == nil {
		return e
	}
	e.Command, _ = jsonString(command)
	if args != nil {
		e.Args, _ = jsonStrings(args)
	}
	return e
}

// jsonRenamed are the members of an object, one of them under another name.
func jsonRenamed(object *hujson.Object, was, is string) []hujson.ObjectMember {
	members := slices.Clone(object.Members)
	if at := jsonMember(object, was); at >= 0 {
		members[at].Name = hujson.Value{Value: hujson.String(is)}
	}
	return members
}

// jsonOdd is Entry.Odd for what an entry has; nil is what it has not.
func jsonOdd(command, args hujson.ValueTrimmed, url string) string {
	var c commandRead
	if command != nil {
		c.there, c.isString = true, command.Kind() == '"'
		c.text, c.fits = jsonString(command)
	}
	argsWrong, argsUnfit := false, false
	if args != nil {
		list, isList := args.(*hujson.Array)
		argsWrong = !isList || slices.ContainsFunc(list.Elements, func(e hujson.Value) bool { return e.Value.Kind() != '"' })
		_, fits := jsonStrings(args)
		argsUnfit = !fits
	}
	return oddOf(c, url, argsWrong, argsUnfit)
}

// jsonMember is the index of the member with a name, -1 for none.
func jsonMember(object *hujson.Object, name string) int {
	return slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
		return jsonText(m.Name.Value) == name
	})
}

// jsonString is a string that can be a word of a command, exactly: without a NUL
// and without half of a surrogate pair.
func jsonString(v hujson.ValueTrimmed) (word string, ok bool) {
	literal, ok := v.(hujson.Literal)
	if !ok || literal.Kind() != '"' || jsonHalfPair(string(literal)) {
		return "", false
	}
	word = jsonText(literal)
	return word, !strings.ContainsRune(word, 0)
}

// jsonStrings is a list of such strings, never nil when it is one.
func jsonStrings(v hujson.ValueTrimmed) (words []string, ok bool) {
	list, ok := v.(*hujson.Array)
	if !ok {
		return nil, false
	}
	words = make([]string, 0, len(list.Elements))
	for _, e := range list.Elements {
		word, ok := jsonString(e.Value)
		if !ok {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

// jsonHalfPair reports whether a valid literal has an escape that is half of a
// surrogate pair.
func jsonHalfPair(literal string) bool {
	for {
		at := strings.IndexByte(literal, '\\')
		if at < 0 {
			return false
		}
		r := jsonEscape(literal[at:])
		if r < 0 {
			literal = literal[at+len(`\n`):]
			continue
		}
		literal = literal[at+len(`\u0000`):]
		if !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, jsonEscape(literal)) == '\uFFFD' {
			return true
		}
		literal = literal[len(`\u0000`):]
	}
}

// jsonEscape is the number that \uXXXX at the beginning of s stands for, -1 when
// there is none.
func jsonEscape(s string) rune {
	if len(s) < len(`\u0000`) || !strings.HasPrefix(s, `\u`) {
		return -1
	}
	n, err := strconv.ParseUint(s[len(`\u`):len(`\u0000`)], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

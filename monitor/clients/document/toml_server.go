package document

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// span is a part of a text, from start up to end.
type span struct{ start, end int }

func spanOf(r unstable.Range) span { return span{int(r.Offset), int(r.Offset + r.Length)} }

func (s span) of(text []byte) string { return string(text[s.start:s.end]) }

// tomlServer is a server as it stands in the text.
type tomlServer struct {
	entry   Entry
	members map[string]*tomlMember // the ones that are known, by name
}

// tomlMember is a key of a server with its value.
type tomlMember struct {
	kind  unstable.Kind // Table for what is no value
	key   span          // all of it, with its dots
	last  span          // its last part
	value span
	text  string     // of a String or a Bool
	items []tomlItem // of an Array, with Invalid ones for what is no string

	// For a key in an inline table: where its neighbours end and begin, -1 for
	// none.
	inline        bool
	before, after int
}

// tomlItem is an element of an array.
type tomlItem struct {
	kind unstable.Kind
	raw  span
	text string
}

// isTOMLMember reports whether a key of a server is one that is read. Codex writes
// enabled; disabled is what others have.
func isTOMLMember(name string) bool {
	switch name {
	case "command", "args", "cwd", "url", "enabled", "disabled":
		return true
	}
	return false
}

// understand fills the entry from the members.
func (s *tomlServer) understand() {
	e := &s.entry
	if e.Odd != "" {
		return
	}
	e.Dir = s.text("cwd", unstable.String)
	e.URL = s.text("url", unstable.String)
	e.Off = s.text("enabled", unstable.Bool) == "false" || s.text("disabled", unstable.Bool) == "true"
	if e.Odd = s.odd(); e.Odd != "" {
		return
	}
	e.Command = s.text("command", unstable.String)
	if m := s.members["args"]; m != nil && s.members["command"] != nil {
		for _, item := range m.items {
			e.Args = append(e.Args, item.text)
		}
	}
}

// odd says why the command cannot be understood, "" when it can.
func (s *tomlServer) odd() string {
	var command commandRead
	if m := s.members["command"]; m != nil {
		command = commandRead{true, m.kind == unstable.String, !strings.ContainsRune(m.text, 0), m.text}
	}
	args := s.members["args"]
	return oddOf(command, s.text("url", unstable.String), args != nil && !args.isStrings(), args != nil && !args.isWords())
}

func (m *tomlMember) isStrings() bool {
	return m.kind == unstable.Array && !slices.ContainsFunc(m.items, func(item tomlItem) bool { return item.kind != unstable.String })
}

// isWords reports whether the value is a list of strings that can be words of a
// command.
func (m *tomlMember) isWords() bool {
	for _, item := range m.items {
		if item.kind != unstable.String || strings.ContainsRune(item.text, 0) {
			return false
		}
	}
	return m.kind == unstable.Array
}

// text is what a member of the kind says, "" for none.
func (s *tomlServer) text(name string, kind unstable.Kind) string {
	if m := s.members[name]; m != nil && m.kind == kind {
		return m.text
	}
	return ""
}

// newTOMLMember keeps a value, for the library reuses its nodes.
func newTOMLMember(n *unstable.Node, value span) *tomlMember {
	m := &tomlMember{kind: n.Kind, value: value}
	switch n.Kind {
	case unstable.String, unstable.Bool:
		m.text = string(n.Data)
	case unstable.Array:
		for it := n.Children(); it.Next(); {
			element := it.Node()
			item := tomlItem{kind: element.Kind, raw: spanOf(element.Raw)}
			if item.kind == unstable.String {
				item.text = string(element.Data)
			}
			m.items = append(m.items, item)
		}
	}
	return m
}

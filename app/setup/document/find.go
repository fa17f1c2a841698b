package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"

	"lamplighter/monitor/clients"
)

// span is a part of a text, from start up to end.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// server is a server as it stands in the text.
type server struct {
	says          clients.Server // now
	command, args *member        // nil for none
	was, now      Source         // its command in the text, and what it is to be
}

// member is the name of a server's command or args, with its value.
type member struct {
	key   span // all of it, with the names before it that TOML parts with dots
	last  span // its own name
	value span
	items []span // the elements, when it is a list

	// braces tells that it stands between braces, where commas part what is there.
	// before and after are where its neighbours end and begin, -1 for none.
	braces        bool
	before, after int
}

func (s *server) source(text string) Source {
	source := Source{Command: s.command.value.of(text)}
	if s.args != nil {
		source.Args, source.HasArgs = s.args.value.of(text), true
	}
	return source
}

// finder looks for the servers of a text. What they say it takes from what clients
// decode, where they say it from a parser.
type finder struct {
	text    string
	tables  [][]string
	decoded map[string]any
	servers []*server          // in the order of the text
	at      map[string]*server // by Key
	usable  bool               // there is a table of servers
	wrong   error              // what there is instead of one, the first in the text

	lines, counted int // line ends before the offset counted
}

// place is what a name is to the tables.
type place int

const (
	elsewhere place = iota
	onTheWay        // to a table
	isTable
	isServer
	isMember // of a server
)

// placeOf tells what stands at a path, and whether a table has its last name: it may be
// "*" there.
func (f *finder) placeOf(path []string) (is place, named bool) {
	for _, table := range f.tables {
		n := min(len(path), len(table))
		matches := len(path) <= len(table)+2
		for i := range n {
			matches = matches && (table[i] == "*" || table[i] == path[i])
		}
		if !matches {
			continue
		}
		if is == elsewhere {
			is = max(onTheWay, isTable+place(len(path)-len(table)))
		}
		named = named || n == len(path) && table[n-1] != "*"
	}
	return is, named
}

// value is what was decoded at a path, nil for nothing and for what is in a list.
func (f *finder) value(path []string) any {
	var v any = f.decoded
	for _, name := range path {
		table, _ := v.(map[string]any)
		v = table[name]
	}
	return v
}

// see notes what stands at a path, of which the offsets ascend: a server, or what
// should be a table and has no names below it.
func (f *finder) see(path []string, offset int) (is place, hasNames bool) {
	is, named := f.placeOf(path)
	if is == elsewhere || is == isMember {
		return is, false
	}
	value := f.value(path)
	_, hasNames = value.(map[string]any)
	switch {
	case is == isServer && f.at[Key(path)] == nil:
		f.lines += strings.Count(f.text[f.counted:offset], "\n")
		f.counted = offset
		s := &server{says: clients.ReadServer(value)}
		s.says.Path, s.says.Line = path, f.lines+1
		f.servers = append(f.servers, s)
		f.at[Key(path)] = s
	case is == isTable && hasNames:
		f.usable = true
	case is != isServer && !hasNames && value != nil && named && f.wrong == nil: // some write null for what they do not have
		f.wrong = errorAt(f.text, offset, quoted(path)+" is no object or table")
	}
	return is, hasNames
}

// note notes where a member of a server stands.
func (f *finder) note(path []string, m *member) {
	last := len(path) - 1
	s := f.at[Key(path[:last])]
	switch path[last] {
	case "command":
		s.command = m
	case "args":
		s.args = m
	}
}

// quoted is the last name of a path, safe to show.
func quoted(path []string) string { return `"` + shown(path[len(path)-1], 60) + `"` }

// maxValues bounds what hujson takes a hundred bytes and more for. Settings are far below.
const maxValues = 2_000_000

// findJSON finds the servers of JSON with comments and trailing commas. What could be
// decoded is not nested so deep that the recursion of hujson, which knows the places,
// would be too deep.
func (f *finder) findJSON() (err error) {
	if f.decoded, err = clients.JSON.Decode([]byte(f.text), f.tables); err != nil {
		return syntaxError(f.text, err)
	}
	if values(f.text) > maxValues {
		return errorAt(f.text, 0, fmt.Sprintf("there are more than %d values", maxValues))
	}
	// It wants a line break behind the last comment, which clients do not.
	root, err := hujson.Parse([]byte(f.text + "\n"))
	switch {
	case f.decoded == nil:
		return nil // there is no value at all
	case err != nil: // a line separator of Unicode in a comment; its words alone tell the place
		var line, column int
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
		return errorAt(f.text, max(0, offsetOf(f.text, line, column)), errors.Unwrap(err).Error())
	}
	return f.jsonObject(root.Value.(*hujson.Object), nil)
}

// values is how many values JSON has, and not more than some times as many.
func values(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = max(i, clients.CommentEnd(text, i)-1)
		case '{', '[', ',', ':':
			n++
		}
	}
	return n
}

// jsonObject finds the servers in an object, which may be one itself.
func (f *finder) jsonObject(object *hujson.Object, path []string) error {
	seen := map[string]bool{}
	for i := range object.Members {
		m := &object.Members[i]
		name := m.Name.Value.(hujson.Literal).String()
		below := append(slices.Clip(path), name)
		is, hasNames := f.see(below, m.Name.StartOffset)
		switch {
		case is == elsewhere:
			continue
		case seen[name]:
			return errorAt(f.text, m.Name.StartOffset, "the name "+quoted(below)+" is there a second time")
		case is == isMember:
			f.note(below, jsonMember(object, i))
		case hasNames:
			if inner, ok := m.Value.Value.(*hujson.Object); ok { // what is there a second time may be none
				if err := f.jsonObject(inner, below); err != nil {
					return err
				}
			}
		}
		seen[name] = true
	}
	return nil
}

func jsonMember(object *hujson.Object, i int) *member {
	name, value := object.Members[i].Name, object.Members[i].Value
	key := span{name.StartOffset, name.EndOffset}
	m := &member{key: key, last: key, value: span{value.StartOffset, value.EndOffset}, braces: true, before: -1, after: -1}
	if i > 0 {
		m.before = object.Members[i-1].Value.EndOffset
	}
	if i+1 < len(object.Members) {
		m.after = object.Members[i+1].Name.StartOffset
	}
	if list, ok := value.Value.(*hujson.Array); ok {
		for _, e := range list.Elements {
			m.items = append(m.items, span{e.StartOffset, e.EndOffset})
		}
	}
	return m
}

// findTOML finds the servers of TOML.
func (f *finder) findTOML() (err error) {
	if f.decoded, err = clients.TOML.Decode([]byte(f.text), f.tables); err != nil {
		return syntaxError(f.text, err)
	}
	var parser unstable.Parser
	parser.Reset([]byte(f.text))
	var table []string
	within := true // a table in which servers may stand, or one of their members
	for parser.NextExpression() {
		n := parser.Expression()
		if n.Kind != unstable.KeyValue {
			table, within = f.tomlNames(nil, n.Key())
		} else if within {
			f.tomlMember(table, n, false, -1, -1)
		}
	}
	return nil
}

// tomlNames follows a key below a table, and returns the path of what it names. It is
// not within when neither a server nor a member of one can be there or below.
func (f *finder) tomlNames(table []string, key unstable.Iterator) (path []string, within bool) {
	path = slices.Clone(table)
	for key.Next() {
		part := key.Node()
		path = append(path, string(part.Data))
		if is, hasNames := f.see(slices.Clone(path), int(part.Raw.Offset)); !hasNames && is != isMember {
			return nil, false
		}
	}
	return path, true
}

// tomlMember notes what a key below a table stands for. braces tells that it is in an
// inline table, with the places where its neighbours end and begin.
func (f *finder) tomlMember(table []string, n *unstable.Node, braces bool, before, after int) {
	path, within := f.tomlNames(table, n.Key())
	if !within {
		return
	}
	value := n.Value()
	if value.Kind == unstable.InlineTable {
		end := -1
		for it := value.Children(); it.Next(); {
			inner, next := it.Node(), -1
			if sibling := inner.Next(); sibling.Valid() {
				next = int(sibling.Raw.Offset)
			}
			f.tomlMember(path, inner, true, end, next)
			end = spanOf(inner).end
		}
	}
	if is, _ := f.placeOf(path); is != isMember {
		return
	}
	m := &member{braces: braces, before: before, after: after}
	key := n.Key()
	for first := true; key.Next(); first = false {
		m.last = spanOf(key.Node())
		if first {
			m.key.start = m.last.start
		}
	}
	m.key.end = m.last.end
	m.value = span{skipBlank(f.text, skipBlank(f.text, m.key.end)+1), spanOf(n).end} // behind the equals sign
	if value.Kind == unstable.Array {
		for it := value.Children(); it.Next(); {
			m.items = append(m.items, spanOf(it.Node()))
		}
	}
	f.note(path, m)
}

func spanOf(n *unstable.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

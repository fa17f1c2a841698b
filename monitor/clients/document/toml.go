package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxTOML is how large a file may be, in bytes. The library compares each name with
// all others, which takes two seconds for as many as there may be in that.
const maxTOML = 256 << 10

// tomlFinder finds the servers of TOML 1.0, and what the library takes of 1.1. What
// they say comes from the library's decoder, where they say it from its parser.
type tomlFinder struct {
	*finder
	decoded map[string]any
}

func (f *finder) readTOML() error {
	if len(f.text) > maxTOML {
		return wrongAt(f.text, 0, fmt.Sprintf("the file is larger than %d KiB, which no settings in TOML are", maxTOML>>10))
	}
	t := tomlFinder{finder: f}
	if err := toml.Unmarshal([]byte(f.text), &t.decoded); err != nil {
		return tomlSyntaxError(f.text, err)
	}
	var parser unstable.Parser
	parser.Reset([]byte(f.text))
	var table []string
	within := true // a table in which servers may stand, or one of their members
	for parser.NextExpression() {
		n := parser.Expression()
		if n.Kind != unstable.KeyValue {
			table, within = t.names(nil, n.Key())
		} else if within {
			t.keyValue(table, n, false, -1, -1)
		}
	}
	for _, s := range f.servers {
		s.say(t.value(s.entry.Path))
	}
	return nil
}

// value is what was decoded at a path, nil for nothing and for what is in a list.
func (t tomlFinder) value(path []string) any {
	var v any = t.decoded
	for _, name := range path {
		table, _ := v.(map[string]any)
		v = table[name]
	}
	return v
}

// names follows a key below a table, and returns the path of what it names. It is not
// within when neither a server nor a member of one can be there or below.
func (t tomlFinder) names(table []string, key unstable.Iterator) (path []string, within bool) {
	path = slices.Clone(table)
	for key.Next() {
		part := key.Node()
		path = append(path, string(part.Data))
		is, named := t.placeOf(path)
		if is == elsewhere {
			return nil, false
		}
		_, hasNames := t.value(path).(map[string]any)
		t.see(slices.Clone(path), is, named, hasNames, int(part.Raw.Offset))
		if !hasNames && is != isMember {
			return nil, false
		}
	}
	return path, true
}

// keyValue notes what a key below a table stands for. braces tells that it is in an
// inline table, with the places where its neighbours end and begin.
func (t tomlFinder) keyValue(table []string, n *unstable.Node, braces bool, before, after int) {
	path, within := t.names(table, n.Key())
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
			t.keyValue(path, inner, true, end, next)
			end = spanOf(inner).end
		}
	}
	if is, _ := t.placeOf(path); is != isMember {
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
	m.value = span{skipBlank(t.text, skipBlank(t.text, m.key.end)+1), spanOf(n).end} // behind the equals sign
	if value.Kind == unstable.Array {
		for it := value.Children(); it.Next(); {
			m.items = append(m.items, spanOf(it.Node()))
		}
	}
	last := len(path) - 1
	t.at[Key(path[:last])].set(path[last], m)
}

func spanOf(n *unstable.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

// tomlSyntaxError is an error of the library.
func tomlSyntaxError(text string, err error) error {
	offset := 0
	if wrong := (*toml.DecodeError)(nil); errors.As(err, &wrong) {
		line, column := wrong.Position()
		offset = offsetOf(text, line, column)
	}
	return wrongAt(text, offset, shown(strings.TrimPrefix(err.Error(), "toml: "), 200))
}

package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlReader finds the servers of a text and checks that all of it is TOML. The
// library's own check for names that are there twice compares each with all
// others, which takes hours for a large file; so the names are kept here.
type tomlReader struct {
	text    []byte
	parser  unstable.Parser
	nodes   []tomlNode
	names   map[tomlName]int
	current int // the table that keys are added to
	servers []*tomlServer

	usable bool  // there is a table of servers
	wrong  error // what there is instead of one, the first in the text

	// line is the number of line ends before the offset counted.
	line, counted int
}

// tomlDepth is how many parts a key can have; the library allows as many values
// within each other.
const tomlDepth = 10000

// readTOML returns the servers of a text without byte order mark, in their order.
func readTOML(text []byte, tables [][]string) ([]*tomlServer, error) {
	root := &tomlPlace{open: tables}
	r := tomlReader{text: text, names: map[tomlName]int{}, usable: root.holds()}
	r.nodes = append(r.nodes, tomlNode{kind: tomlTable, explicit: true, place: root})
	r.parser.Reset(text)
	for r.parser.NextExpression() {
		n := r.parser.Expression()
		var err error
		if n.Kind == unstable.KeyValue {
			err = r.keyValue(r.current, n, nil, -1, -1)
		} else {
			err = r.header(n)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, r.refused(err)
	}
	if !r.usable && r.wrong != nil {
		return nil, r.wrong
	}
	for _, s := range r.servers {
		s.understand()
	}
	return r.servers, nil
}

// header makes the table of a header the current one.
func (r *tomlReader) header(n *unstable.Node) error {
	parent, parts := 0, n.Key()
	for depth := 0; parts.Next(); depth++ {
		part := parts.Node()
		if depth > tomlDepth {
			return r.fault(part, "is too deep in a dotted key")
		}
		id, found := r.find(parent, part)
		switch {
		case !parts.IsLast() && !found:
			var err error
			if id, err = r.add(parent, part, tomlTable); err != nil {
				return err
			}
		case !parts.IsLast():
			if r.nodes[id].kind == tomlValue {
				return r.fault(part, "is there already, and is no table")
			}
		case n.Kind == unstable.ArrayTable && found:
			if r.nodes[id].kind != tomlArray {
				return r.fault(part, "is there already, and is no array of tables")
			}
			// Names of the element before may come again in this one.
			r.nodes = append(r.nodes, r.nodes[id])
			id = len(r.nodes) - 1
			r.names[tomlName{parent, string(part.Data)}] = id
		case n.Kind == unstable.ArrayTable:
			var err error
			if id, err = r.add(parent, part, tomlArray); err != nil {
				return err
			}
		case found:
			if r.nodes[id].kind != tomlTable || r.nodes[id].explicit {
				return r.fault(part, "is there twice")
			}
			r.nodes[id].explicit = true
		default:
			var err error
			if id, err = r.add(parent, part, tomlTable); err != nil {
				return err
			}
			r.nodes[id].explicit = true
		}
		parent = id
	}
	r.current = parent
	return nil
}

// keyValue adds a key below a node. in is the inline table that it stands in,
// nil for none, with the places where its neighbours end and begin.
func (r *tomlReader) keyValue(parent int, n, in *unstable.Node, before, after int) error {
	parts := n.Key()
	first := -1
	for depth := 0; parts.Next(); depth++ {
		part := parts.Node()
		if depth > tomlDepth {
			return r.fault(part, "is too deep in a dotted key")
		}
		if first < 0 {
			first = spanOf(part.Raw).start
		}
		id, found := r.find(parent, part)
		if parts.IsLast() {
			if found {
				return r.fault(part, "is there twice")
			}
			id, err := r.add(parent, part, tomlValue)
			if err != nil {
				return err
			}
			value := n.Value()
			if s := r.serverAt(parent); s != nil && isTOMLMember(string(part.Data)) {
				last := spanOf(part.Raw)
				m := newTOMLMember(value, span{r.valueAt(last.end), spanOf(n.Raw).end})
				m.key, m.last = span{first, last.end}, last
				m.inline, m.before, m.after = in != nil, before, after
				s.members[string(part.Data)] = m
			}
			switch p := r.nodes[id].place; {
			case p == nil:
			case value.Kind == unstable.InlineTable:
				r.usable = r.usable || p.holds()
			case p.server != nil:
				p.server.entry.Odd = oddNoTable
			case p.named && r.wrong == nil:
				r.wrong = r.fault(part, "is there for a value, not for a table")
			}
			return r.value(id, value)
		}
		if !found {
			var err error
			if id, err = r.add(parent, part, tomlDotted); err != nil {
				return err
			}
		} else if r.nodes[id].kind != tomlDotted {
			return r.fault(part, "is there twice")
		}
		parent = id
	}
	return nil
}

// value checks a value, and adds the names of inline tables below a node.
func (r *tomlReader) value(id int, n *unstable.Node) error {
	switch n.Kind {
	case unstable.InlineTable:
		before := -1
		for it := n.Children(); it.Next(); {
			kv, after := it.Node(), -1
			if next := kv.Next(); next.Valid() {
				after = spanOf(next.Raw).start
			}
			if err := r.keyValue(id, kv, n, before, after); err != nil {
				return err
			}
			before = spanOf(kv.Raw).end
		}
	case unstable.Array:
		for it := n.Children(); it.Next(); {
			element := it.Node()
			below := id
			if element.Kind == unstable.InlineTable {
				r.nodes = append(r.nodes, tomlNode{kind: tomlValue})
				below = len(r.nodes) - 1
			}
			if err := r.value(below, element); err != nil {
				return err
			}
		}
	case unstable.Integer, unstable.Float, unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		return r.scalar(n)
	}
	return nil
}

// scalar checks what the parser leaves to its user: that a number is not too
// large, and that a date exists.
func (r *tomlReader) scalar(n *unstable.Node) error {
	// Most numbers are small, and asking takes its time.
	const digits, places = 16, 300 // of an integer, also a hexadecimal one, and of a float
	switch {
	case n.Kind == unstable.Integer && len(n.Data) <= digits,
		n.Kind == unstable.Float && len(n.Data) <= places && !bytes.ContainsAny(n.Data, "eE"):
		return nil
	}
	var v any
	if err := toml.Unmarshal(slices.Concat([]byte("v = "), n.Data), &v); err != nil {
		return wrongAt(r.text, spanOf(n.Raw).start, shown(strings.TrimPrefix(err.Error(), "toml: "), 200))
	}
	return nil
}

// valueAt returns where the value begins whose key ends at i.
func (r *tomlReader) valueAt(i int) int {
	i = skipBlank(r.text, i)
	return skipBlank(r.text, i+1) // behind the equals sign
}

// lineOf returns the line of an offset. The offsets must ascend.
func (r *tomlReader) lineOf(offset int) int {
	if offset > r.counted {
		r.line += bytes.Count(r.text[r.counted:offset], []byte{'\n'})
		r.counted = offset
	}
	return r.line + 1
}

// refused says where and why the library has refused the text.
func (r *tomlReader) refused(err error) error {
	offset := len(r.text)
	var wrong *unstable.ParserError
	if errors.As(err, &wrong) {
		// A part of the text reaches to the end of its array, as the text does.
		offset = cap(r.text) - cap(wrong.Highlight)
	}
	return wrongAt(r.text, min(max(offset, 0), len(r.text)), shown(err.Error(), 200))
}

// fault is what is wrong with a name.
func (r *tomlReader) fault(part *unstable.Node, wrong string) error {
	return wrongAt(r.text, spanOf(part.Raw).start, fmt.Sprintf("the name %q %s", shown(string(part.Data), 60), wrong))
}

// skipBlank returns the first offset from i on that is no space and no tab.
func skipBlank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

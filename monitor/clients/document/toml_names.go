package document

import (
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlKind is what a name of the document stands for. It decides what may still
// be added below it (TOML 1.0, "Table" and "Array of Tables").
type tomlKind uint8

const (
	tomlValue  tomlKind = iota // a value; nothing may be added
	tomlDotted                 // a table that dotted keys have made
	tomlTable                  // a table of a header, or on the way to one
	tomlArray                  // an array of tables
)

// tomlNode is a name of the document.
type tomlNode struct {
	kind     tomlKind
	explicit bool // a tomlTable that has its own header
	place    *tomlPlace
}

// tomlPlace is what is looked for at a node: further names, or the members of a
// server.
type tomlPlace struct {
	path   []string
	open   [][]string // what is left of the paths of tables; an empty one: this table holds servers
	named  bool       // one of the paths has its name, not just "*"
	server *tomlServer
}

// tomlName is a name below a node.
type tomlName struct {
	parent int
	name   string
}

// find returns the node of a name.
func (r *tomlReader) find(parent int, part *unstable.Node) (id int, found bool) {
	id, found = r.names[tomlName{parent, string(part.Data)}]
	return id, found
}

// add makes the node of a name that is not there yet.
func (r *tomlReader) add(parent int, part *unstable.Node, kind tomlKind) (int, error) {
	name := string(part.Data)
	r.nodes = append(r.nodes, tomlNode{kind: kind})
	id := len(r.nodes) - 1
	r.names[tomlName{parent, name}] = id
	above := r.nodes[parent].place
	if above == nil {
		return id, nil
	}
	if above.server != nil && kind != tomlValue && isTOMLMember(name) {
		above.server.members[name] = &tomlMember{kind: unstable.Table}
	}
	var open [][]string
	server, named := false, false
	for _, table := range above.open {
		switch {
		case len(table) == 0:
			server = true
		case table[0] == "*" || table[0] == name:
			open = append(open, table[1:])
			named = named || table[0] != "*"
		}
	}
	if kind == tomlArray && !server {
		if named && r.wrong == nil {
			r.wrong = r.fault(part, "is there for a list of tables, not for a table")
		}
		return id, nil
	}
	if !server && len(open) == 0 {
		return id, nil
	}
	p := &tomlPlace{path: append(slices.Clone(above.path), name), open: open, named: named}
	if server {
		p.server = &tomlServer{members: map[string]*tomlMember{}}
		p.server.entry = Entry{Path: p.path, Line: r.lineOf(spanOf(part.Raw).start)}
		if kind == tomlArray {
			p.server.entry.Odd = oddList
		}
		r.servers = append(r.servers, p.server)
	}
	r.nodes[id].place = p
	if kind == tomlTable || kind == tomlDotted {
		r.usable = r.usable || p.holds()
	}
	return id, nil
}

// holds reports whether servers stand right below the place.
func (p *tomlPlace) holds() bool {
	return slices.ContainsFunc(p.open, func(rest []string) bool { return len(rest) == 0 })
}

// serverAt returns the server that a node is, nil for none.
func (r *tomlReader) serverAt(id int) *tomlServer {
	if p := r.nodes[id].place; p != nil {
		return p.server
	}
	return nil
}

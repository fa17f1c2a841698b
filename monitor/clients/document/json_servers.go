package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// jsonServer is a place in the tree where a server stands. Edits are within value,
// so it is there as long as the tree.
type jsonServer struct {
	path  []string
	name  *hujson.Value
	value hujson.ValueTrimmed
}

// jsonFinder looks for servers.
type jsonFinder struct {
	servers []jsonServer
	usable  bool       // there is a table of servers
	wrong   *jsonFault // what there is instead of one, the first in the text
}

// jsonServers finds the members of all tables, in the order of the file.
func jsonServers(root *hujson.Value, tables [][]string) ([]jsonServer, *jsonFault) {
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, &jsonFault{root.StartOffset, "these settings are no object"}
	}
	var f jsonFinder
	for _, table := range tables {
		if fault := f.table(root, nil, table); fault != nil {
			return nil, fault
		}
	}
	if !f.usable && f.wrong != nil {
		return nil, f.wrong
	}
	slices.SortStableFunc(f.servers, func(a, b jsonServer) int { return cmp.Compare(a.name.StartOffset, b.name.StartOffset) })
	// Two tables may be the same one.
	return slices.CompactFunc(f.servers, func(a, b jsonServer) bool { return a.name == b.name }), nil
}

// table finds the servers below v, which is at path, where rest are the names that
// are still to go.
func (f *jsonFinder) table(v *hujson.Value, path, rest []string) *jsonFault {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		// Some write null for what they do not have.
		if v.Value.Kind() != 'n' && (f.wrong == nil || v.StartOffset < f.wrong.offset) {
			f.wrong = &jsonFault{v.StartOffset, fmt.Sprintf("%s is no object", jsonQuoted(path[len(path)-1]))}
		}
		return nil
	}
	if len(rest) == 0 {
		f.usable = true
		return f.members(object, path)
	}
	if rest[0] != "*" {
		var next *hujson.Value
		for i := range object.Members {
			m := &object.Members[i]
			if jsonText(m.Name.Value) != rest[0] {
				continue
			}
			if next != nil {
				return jsonTwice(m.Name)
			}
			next = &m.Value
		}
		if next == nil {
			return nil
		}
		return f.table(next, append(slices.Clone(path), rest[0]), rest[1:])
	}
	if fault := jsonUnique(object); fault != nil {
		return fault
	}
	for i := range object.Members {
		m := &object.Members[i]
		if m.Value.Value.Kind() != '{' {
			continue // any name is not one that has to be a table
		}
		if fault := f.table(&m.Value, append(slices.Clone(path), jsonText(m.Name.Value)), rest[1:]); fault != nil {
			return fault
		}
	}
	return nil
}

// members are the servers of a table.
func (f *jsonFinder) members(table *hujson.Object, path []string) *jsonFault {
	if fault := jsonUnique(table); fault != nil {
		return fault
	}
	for i := range table.Members {
		m := &table.Members[i]
		if entry, ok := m.Value.Value.(*hujson.Object); ok {
			if fault := jsonUnique(entry); fault != nil {
				return fault
			}
		}
		f.servers = append(f.servers, jsonServer{
			path:  append(slices.Clone(path), jsonText(m.Name.Value)),
			name:  &m.Name,
			value: m.Value.Value,
		})
	}
	return nil
}

// jsonUnique tells of a name that an object has twice.
func jsonUnique(object *hujson.Object) *jsonFault {
	seen := make(map[string]bool, len(object.Members))
	for _, m := range object.Members {
		name := jsonText(m.Name.Value)
		if seen[name] {
			return jsonTwice(m.Name)
		}
		seen[name] = true
	}
	return nil
}

func jsonTwice(name hujson.Value) *jsonFault {
	return &jsonFault{name.StartOffset, fmt.Sprintf("the name %s is there a second time", jsonQuoted(jsonText(name.Value)))}
}

// jsonText is what a string says; half of a surrogate pair becomes U+FFFD. It is
// "" for what is no string.
func jsonText(v hujson.ValueTrimmed) string {
	var s string
	if literal, ok := v.(hujson.Literal); ok && literal.Kind() == '"' {
		// hujson has made sure that it is valid.
		_ = json.Unmarshal(literal, &s)
	}
	return s
}

// jsonQuoted is a name of the file, safe to show.
func jsonQuoted(name string) string { return `"` + shown(name, 60) + `"` }

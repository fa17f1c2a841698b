package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"

	"lamplighter/monitor"
)

// jsonServer is a place in the tree where a server stands.
type jsonServer struct {
	path   []string
	offset int // of its name, in bytes
	value  hujson.ValueTrimmed
}

// jsonServers finds the members of all tables, in the order of the file.
func jsonServers(root *hujson.Value, tables [][]string) ([]jsonServer, *jsonFault) {
	var all []jsonServer
	for _, table := range tables {
		found, fault := jsonTable(root, nil, table)
		if fault != nil {
			return nil, fault
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b jsonServer) int { return cmp.Compare(a.offset, b.offset) })
	// Two tables may be the same one.
	return slices.CompactFunc(all, func(a, b jsonServer) bool { return a.offset == b.offset }), nil
}

// jsonTable finds the servers below v, which is at path, where rest are the names
// that are still to go.
func jsonTable(v *hujson.Value, path, rest []string) ([]jsonServer, *jsonFault) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		what := "these settings are no object"
		if len(path) > 0 {
			what = fmt.Sprintf("%s is no object", jsonQuoted(path[len(path)-1]))
		}
		return nil, &jsonFault{v.StartOffset, what}
	}
	if len(rest) == 0 {
		return jsonMembers(object, path)
	}
	if rest[0] != "*" {
		var next *hujson.Value
		for i := range object.Members {
			m := &object.Members[i]
			if jsonText(m.Name.Value) != rest[0] {
				continue
			}
			if next != nil {
				return nil, jsonTwice(m.Name)
			}
			next = &m.Value
		}
		if next == nil {
			return nil, nil
		}
		return jsonTable(next, append(slices.Clone(path), rest[0]), rest[1:])
	}
	if fault := jsonUnique(object); fault != nil {
		return nil, fault
	}
	var all []jsonServer
	for i := range object.Members {
		m := &object.Members[i]
		if m.Value.Value.Kind() != '{' {
			continue // any name is not one that has to be a table
		}
		found, fault := jsonTable(&m.Value, append(slices.Clone(path), jsonText(m.Name.Value)), rest[1:])
		if fault != nil {
			return nil, fault
		}
		all = append(all, found...)
	}
	return all, nil
}

// jsonMembers are the servers of a table.
func jsonMembers(table *hujson.Object, path []string) ([]jsonServer, *jsonFault) {
	if fault := jsonUnique(table); fault != nil {
		return nil, fault
	}
	servers := make([]jsonServer, 0, len(table.Members))
	for _, m := range table.Members {
		if entry, ok := m.Value.Value.(*hujson.Object); ok {
			if fault := jsonUnique(entry); fault != nil {
				return nil, fault
			}
		}
		servers = append(servers, jsonServer{
			path:   append(slices.Clone(path), jsonText(m.Name.Value)),
			offset: m.Name.StartOffset,
			value:  m.Value.Value,
		})
	}
	return servers, nil
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
func jsonQuoted(name string) string {
	name = monitor.Clean(name)
	if runes := []rune(name); len(runes) > 60 {
		name = string(runes[:60]) + "…"
	}
	return `"` + name + `"`
}

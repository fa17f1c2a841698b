package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"lamplighter/monitor"
)

// maxItems bounds every list in the file.
const maxItems = 100

// What the types of settings may know about themselves. Each package owns the
// type of its own part.
type (
	// checker is a group of settings that has to fit together, or a list or a
	// map with rules of its own. An error with a method Field() string names
	// the setting of the group that is wrong.
	checker interface{ Check() error }
	// keyed is an entry of a list in which no two may have the same key.
	keyed interface{ Key() string }
	// optional is a plain value for which null is one too: nothing of it.
	optional interface{ Null() }
)

// fill sets the fields of into, a struct with yaml tags, from a mapping. path
// is what problems put before the names of the settings in it: the list that
// the mapping is an entry of.
func fill(into reflect.Value, path string, body *ast.MappingNode) []Problem {
	if body == nil {
		return nil
	}
	names, fields := settingsOf(into)
	var problems []Problem
	for _, entry := range body.Values {
		key, at := keyName(entry), line(entry.Key)
		i := slices.Index(names, key)
		if i < 0 {
			problems = append(problems, Problem{Line: at, Text: path + unknown(key, names)})
			continue
		}
		problems = append(problems, set(fields[i], path+key, at, entry.Value)...)
	}
	return problems
}

// settingsOf lists the fields of a struct that have a name in the file, those
// of embedded structs included.
func settingsOf(into reflect.Value) (names []string, fields []reflect.Value) {
	for _, f := range reflect.VisibleFields(into.Type()) {
		if name, ok := f.Tag.Lookup("yaml"); ok {
			names, fields = append(names, name), append(fields, into.FieldByIndex(f.Index))
		}
	}
	return names, fields
}

// set decodes one value: a plain one, a group of settings, a list or a map. at
// is the line of its key, for a value that has none of its own.
func set(field reflect.Value, key string, at int, value ast.Node) []Problem {
	if n := line(value); n > 0 {
		at = n
	}
	if _, null := value.(*ast.NullNode); null || value == nil {
		if field.Kind() == reflect.Pointer {
			said := reflect.New(field.Type().Elem())
			if none, ok := said.Interface().(optional); ok {
				none.Null()
				field.Set(said)
				return nil
			}
		}
		return []Problem{{Line: at, Text: key + " has no value; give it one or remove the line"}}
	}
	if field.Kind() == reflect.Pointer { // nil where nothing is said
		said := reflect.New(field.Type().Elem())
		problems := set(said.Elem(), key, at, value)
		if len(problems) == 0 {
			field.Set(said)
		}
		return problems
	}
	_, text := field.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case !text && field.Kind() == reflect.Slice:
		return setList(field, key, at, value)
	case !text && field.Kind() == reflect.Map:
		return setMap(field, key, at, value)
	case !text && field.Kind() == reflect.Struct:
		return setGroup(field, key, at, value)
	}
	return setPlain(field, key, at, value)
}

// setPlain decodes one plain value. A panic in the decoder is a broken value.
func setPlain(field reflect.Value, key string, at int, value ast.Node) (problems []Problem) {
	defer func() {
		if r := recover(); r != nil {
			problems = []Problem{{Line: at, Text: key + " has a value that cannot be read"}}
		}
	}()
	switch v := value.(type) {
	case *ast.StringNode:
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		// As it is written: 1.10 stays 1.10 where text is wanted.
		if field.Type() == reflect.TypeFor[string]() {
			field.SetString(v.GetToken().Value)
			return nil
		}
	default:
		return []Problem{{Line: at, Text: key + " wants one plain value"}}
	}
	if field.Kind() == reflect.Bool {
		if b, ok := value.(*ast.BoolNode); ok {
			field.SetBool(b.Value)
			return nil
		}
		return []Problem{{Line: at, Text: fmt.Sprintf("%s: %s is not one of true, false", key, excerpt(value.GetToken().Value))}}
	}
	if err := yaml.NodeToValue(value, field.Addr().Interface(), yaml.Strict()); err != nil {
		return []Problem{*explain(err, at, key)}
	}
	return nil
}

// setList decodes a list, each entry by what its type is.
func setList(field reflect.Value, key string, at int, value ast.Node) []Problem {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		return []Problem{{Line: at, Text: key + " wants a list: lines that start with -, or values in [ ]"}}
	}
	if len(list.Values) > maxItems {
		return []Problem{{Line: at, Text: fmt.Sprintf("%s has %d entries; %d are allowed", key, len(list.Values), maxItems)}}
	}
	var problems []Problem
	lines := make(map[string]int) // of the entries, by their keys
	made := reflect.MakeSlice(field.Type(), len(list.Values), len(list.Values))
	for i, entry := range list.Values {
		item := made.Index(i)
		start := at
		if n := line(first(entry)); n > 0 {
			start = n
		}
		wrong := set(item, key, start, entry)
		problems = append(problems, wrong...)
		k, ok := item.Interface().(keyed)
		if !ok || len(wrong) > 0 || k.Key() == "" {
			continue
		}
		if before, twice := lines[k.Key()]; twice {
			problems = append(problems, Problem{Line: start, Text: fmt.Sprintf(
				"%s: %s stands on line %d already; remove one or give it another name", key, excerpt(k.Key()), before)})
			continue
		}
		lines[k.Key()] = start
	}
	field.Set(made)
	if len(problems) > 0 {
		return problems
	}
	return fits(field, key+": ", at, nil)
}

// setMap decodes a mapping from names that the user chooses to plain values.
func setMap(field reflect.Value, key string, at int, value ast.Node) []Problem {
	body, ok := value.(*ast.MappingNode)
	if !ok {
		return []Problem{{Line: at, Text: key + " wants lines of the form name: value"}}
	}
	if len(body.Values) > maxItems {
		return []Problem{{Line: at, Text: fmt.Sprintf("%s has %d entries; %d are allowed", key, len(body.Values), maxItems)}}
	}
	var problems []Problem
	made := reflect.MakeMapWithSize(field.Type(), len(body.Values))
	for _, entry := range body.Values {
		name, said := keyName(entry), reflect.New(field.Type().Elem()).Elem()
		wrong := set(said, key+": "+excerpt(name), line(entry.Key), entry.Value)
		problems = append(problems, wrong...)
		made.SetMapIndex(reflect.ValueOf(name), said)
	}
	field.Set(made)
	if len(problems) > 0 {
		return problems
	}
	return fits(field, key+": ", at, body)
}

// setGroup decodes a mapping into a struct and asks it whether it fits.
func setGroup(field reflect.Value, key string, at int, value ast.Node) []Problem {
	body, ok := value.(*ast.MappingNode)
	if !ok {
		return []Problem{{Line: at, Text: key + " wants lines of the form name: value"}}
	}
	if n := line(first(body)); n > 0 {
		at = n
	}
	if problems := fill(field, key+": ", body); len(problems) > 0 {
		return problems
	}
	return fits(field, key+": ", at, body)
}

// fits asks a value whether it fits together, when it can say. at is its line,
// and body holds the lines of its settings where it has some.
func fits(field reflect.Value, path string, at int, body *ast.MappingNode) []Problem {
	c, ok := field.Interface().(checker)
	if !ok {
		return nil
	}
	err := c.Check()
	if err == nil {
		return nil
	}
	var named interface{ Field() string }
	if errors.As(err, &named) && body != nil {
		for _, entry := range body.Values {
			if keyName(entry) == named.Field() {
				at = line(entry.Key)
			}
		}
	}
	return []Problem{{Line: at, Text: monitor.Clean(path + err.Error())}}
}

// first is the node where a mapping begins: its own token is that of its first
// colon.
func first(n ast.Node) ast.Node {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key
	}
	return n
}

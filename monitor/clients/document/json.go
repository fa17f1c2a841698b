package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// readJSON finds the servers of JSON with comments and trailing commas.
func (f *finder) readJSON() error {
	if err := jsonBounds(f.text); err != nil {
		return err
	}
	// hujson wants a line break behind the last comment, which clients do not.
	text := []byte(f.text + "\n")
	if hujson.Extra(text).IsValid() {
		return nil // there is no value at all
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return jsonSyntaxError(string(text), len(f.text), err)
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return wrongAt(f.text, root.StartOffset, "these settings are no object")
	}
	return f.jsonObject(object, nil, nil)
}

// jsonObject finds the servers in an object, which may be one itself.
func (f *finder) jsonObject(object *hujson.Object, path []string, in *server) error {
	seen := map[string]bool{}
	for i := range object.Members {
		m := &object.Members[i]
		name := jsonText(m.Name.Value)
		below := append(slices.Clip(path), name)
		is, named := f.placeOf(below)
		if is == elsewhere {
			continue
		}
		if seen[name] {
			return wrongAt(f.text, m.Name.StartOffset, "the name "+quoted(name)+" is there a second time")
		}
		seen[name] = true
		inner, hasNames := m.Value.Value.(*hujson.Object)
		switch {
		case is == isMember:
			in.set(name, jsonMember(object, i))
			continue
		case is != isServer && m.Value.Value.Kind() == 'n':
			continue // some write null for what they do not have
		}
		offset := m.Value.StartOffset
		if is == isServer {
			offset = m.Name.StartOffset
		}
		s := f.see(below, is, named, hasNames, offset)
		if s != nil {
			s.say(jsonDecoded(m.Value))
		}
		if hasNames {
			if err := f.jsonObject(inner, below, s); err != nil {
				return err
			}
		}
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

// jsonDecoded is what a value says; half of a surrogate pair becomes U+FFFD.
func jsonDecoded(v hujson.Value) any {
	v = v.Clone()
	v.Standardize()
	var decoded any
	_ = json.Unmarshal(v.Pack(), &decoded) // hujson has made sure that it is valid; a number may be too large
	return decoded
}

// jsonText is what a name says.
func jsonText(name hujson.ValueTrimmed) string {
	var s string
	_ = json.Unmarshal(name.(hujson.Literal), &s)
	return s
}

// The bounds keep hujson, which descends by recursion and takes a hundred bytes
// and more for each value, from running out of stack or memory. Settings are far
// below.
const (
	jsonMaxDepth  = 1000
	jsonMaxValues = 2_000_000
)

// jsonBounds tells what in a text must not get to hujson, nil when all may. It
// knows strings and comments as hujson does, so that what it counts is never less
// than what hujson will meet.
func jsonBounds(text string) error {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = max(i, commentEnd(text, i)-1)
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
		if depth > jsonMaxDepth {
			return wrongAt(text, i, fmt.Sprintf("this is nested more than %d levels deep", jsonMaxDepth))
		}
		if values > jsonMaxValues {
			return wrongAt(text, i, fmt.Sprintf("there are more than %d values", jsonMaxValues))
		}
	}
	return nil
}

// jsonSyntaxError is an error of hujson.Parse. Of the text it repeats one
// character at most: what is wrong may be a secret. hujson tells the place in the
// words of its error alone; without one it is the beginning. The settings end at
// length.
func jsonSyntaxError(text string, length int, err error) error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return wrongAt(text, 0, "this is not JSON")
	}
	offset := min(offsetOf(text, line, column), length)

	says := "this is no value of JSON"
	switch cause, rest := errors.Unwrap(err).Error(), text[offset:]; {
	case errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(rest, "/*"):
		says = "this comment has no end"
	case errors.Is(err, io.ErrUnexpectedEOF):
		says = "the text ends too early"
	case strings.HasPrefix(cause, "invalid character "):
		says = cause
	case strings.HasPrefix(rest, `"`):
		says = "in this string is a line break, another control character, or a wrong escape"
	}
	return wrongAt(text, offset, says)
}

package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"lamplighter/monitor"
)

// Object reads a body that is one JSON object with no other names than these,
// written like this, and each once at most. Some may be missing. The error says
// of the body what is wrong with it.
//
// encoding/json alone would take "Force" for "force" and the last of two, and
// would put U+FFFD in the place of what is no character, which leads to another
// file.
func Object(body []byte, names ...string) (map[string]json.RawMessage, error) {
	return object(body, names, func(name string) error {
		return fmt.Errorf("%s: there is no such field here", strconv.Quote(monitor.Shorten(monitor.Clean(name), 40)))
	})
}

// object is Object with what is said of another name; nil passes over it.
func object(body []byte, names []string, other func(name string) error) (map[string]json.RawMessage, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	values := make(map[string]json.RawMessage, len(names))
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		name, _ := key.(string) // the decoder allows nothing else there
		ours := slices.Contains(names, name)
		if !ours {
			if err := other(name); err != nil {
				return nil, err
			}
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: the value is not valid JSON", strconv.Quote(monitor.Shorten(monitor.Clean(name), 40)))
		}
		if !ours {
			continue
		}
		if halfCharacter(value) {
			return nil, fmt.Errorf(`%s holds half a character: a \u escape from d800 to dfff without its other half`, name)
		}
		values[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("the JSON object has no end")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return values, nil
}

// Decode reads a body that Object takes into a struct with fields of these
// names.
func Decode(body []byte, into any, names ...string) error {
	if _, err := Object(body, names...); err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// DecodeKnown is Decode that passes over other names, for bodies that clients
// may say more in than is asked of them. These names still have to be written
// like this, and each once at most.
func DecodeKnown(body []byte, into any, names ...string) error {
	values, err := object(body, names, func(string) error { return nil })
	if err != nil {
		return err
	}
	// Without the others: the decoder would take one in other letters for ours.
	known, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return json.Unmarshal(known, into)
}

// halfCharacter reports whether a string in a value that is valid JSON escapes
// one surrogate without the other.
func halfCharacter(value []byte) bool {
	for {
		i := bytes.IndexByte(value, '\\')
		if i < 0 {
			return false
		}
		value = value[i:]
		r := escaped(value)
		switch {
		case !utf16.IsSurrogate(r):
			value = value[2:] // what it escapes may be a backslash
		case utf16.DecodeRune(r, escaped(value[6:])) == utf8.RuneError:
			return true
		default:
			value = value[12:]
		}
	}
}

// escaped is what text begins with as \u and four digits, 0 where it does not.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // the decoder allows only digits there
	return rune(n)
}

package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

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
	duplicates := jsontext.AllowDuplicateNames(true) // of other names
	dec := jsontext.NewDecoder(bytes.NewReader(body), duplicates, jsontext.AllowInvalidUTF8(true))
	if first, err := dec.ReadToken(); err != nil || first.Kind() != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	values := make(map[string]json.RawMessage, len(names))
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		name := key.String()
		ours := slices.Contains(names, name)
		if !ours {
			if err := other(name); err != nil {
				return nil, err
			}
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		value, err := dec.ReadValue()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: the value is not valid JSON", strconv.Quote(monitor.Shorten(monitor.Clean(name), 40)))
		case !ours:
		case !value.IsValid(duplicates):
			return nil, fmt.Errorf(`%s holds half a character: a \u escape from d800 to dfff without its other half`, name)
		default:
			values[name] = json.RawMessage(value.Clone())
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errors.New("it is not valid JSON, or the JSON object has no end")
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
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

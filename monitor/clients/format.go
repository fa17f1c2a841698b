package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

// Format is how settings are written.
type Format string

// The formats.
const (
	JSON Format = "json" // with comments and trailing commas, as most clients take it
	TOML Format = "toml" // 1.0, and what the library takes of 1.1
)

// FormatOf tells the format by the name of the file, "" for one that is not
// known.
func FormatOf(path string) Format {
	return map[string]Format{".json": JSON, ".jsonc": JSON, ".toml": TOML}[strings.ToLower(filepath.Ext(path))]
}

// maxTOML is how large a file may be, in bytes. The library compares each name with
// all others, which takes two seconds for as many as there may be in that.
const maxTOML = 256 << 10

// Decode reads of settings, without a byte order mark, what leads to tables and what is
// below them. Of JSON the rest is skipped, because the history of all chats may be
// there; without a value it says nothing. An error of the syntax is a
// *jsontext.SyntacticError or a *toml.DecodeError, which know the place.
func (f Format) Decode(text []byte, tables [][]string) (decoded map[string]any, err error) {
	switch {
	case f == JSON:
		if decoded, err = decodeJSON(text, tables); err != nil {
			return decodeJSON(standardized(string(text)), tables)
		}
	case f == TOML && len(text) > maxTOML:
		return nil, fmt.Errorf("the file is larger than %d KiB, which no settings in TOML are", maxTOML>>10)
	case f == TOML:
		err = toml.Unmarshal(text, &decoded)
	}
	return decoded, err
}

// decodeJSON reads JSON as it is defined. Half of a surrogate pair becomes U+FFFD, and
// of a name that is there twice the last value counts, as for clients.
func decodeJSON(text []byte, tables [][]string) (map[string]any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := decodeBelow(d, tables)
	object, ok := value.(map[string]any)
	end := d.InputOffset()
	_, behind := d.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	case !ok:
		return nil, errors.New("these settings are no object")
	case behind == nil:
		return nil, &jsontext.SyntacticError{ByteOffset: end, Err: errors.New("there is a second value")}
	case !errors.Is(behind, io.EOF):
		return nil, behind
	}
	return object, nil
}

// decodeBelow reads a value, of which the tables say what is wanted.
func decodeBelow(d *jsontext.Decoder, tables [][]string) (any, error) {
	if d.PeekKind() != '{' || slices.ContainsFunc(tables, func(table []string) bool { return len(table) == 0 }) {
		text, err := d.ReadValue()
		var value any
		_ = json.Unmarshal(text, &value) // a number may be too large
		return value, err
	}
	object := map[string]any{}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var token jsontext.Token
		if token, err = d.ReadToken(); err != nil {
			break
		}
		name := token.String()
		var below [][]string
		for _, table := range tables {
			if table[0] == "*" || table[0] == name {
				below = append(below, table[1:])
			}
		}
		if below == nil {
			err = d.SkipValue()
		} else {
			object[name], err = decodeBelow(d, below)
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return object, err
}

// standardized is JSON without what only clients take: comments, and a comma behind the
// last element or member. The rest stays where it is.
func standardized(text string) []byte {
	standard := []byte(text)
	last, comma := byte('['), -1 // the sign before, and where it is a comma that may be too much
	for i := 0; i < len(text); i++ {
		sign := text[i]
		switch sign {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := CommentEnd(text, i)
			if end > i && text[i+1] == '*' && !strings.HasSuffix(text[i+2:end], "*/") {
				return standard // it has no end
			}
			if end > i {
				copy(standard[i:end], strings.Repeat(" ", end-i))
				i = end - 1
				continue
			}
		case ',':
			if comma = i; strings.IndexByte("[{,:", last) >= 0 {
				comma = -1
			}
		case ']', '}':
			if last == ',' && comma >= 0 {
				standard[comma] = ' '
			}
		}
		last = sign
	}
	return standard
}

// CommentEnd is where the comment ends that begins at i, the line break behind it not
// included; i when there is none. Between values no format has the signs of the other.
func CommentEnd(text string, i int) int {
	rest := text[i:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		_, behind, _ := strings.Cut(rest[2:], "*/")
		return len(text) - len(behind)
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"):
		line, _, found := strings.Cut(rest, "\n")
		if found {
			line = strings.TrimSuffix(line, "\r")
		}
		return i + len(line)
	}
	return i
}

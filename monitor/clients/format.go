package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"lamplighter/monitor"
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

// SyntaxError says where a text is not what its format asks for.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts characters
	Text         string // a part of a sentence, safe to show
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// ErrorAt says what is wrong at an offset of a text, in bytes. A line ends with \n.
func ErrorAt(text string, offset int, says string) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(line),
		Text:   says,
	}
}

// Decode reads settings, without a byte order mark. What is no text at all, and JSON
// that has no value, says nothing. The error is a *SyntaxError but for a format that
// is not known.
func (f Format) Decode(text string) (map[string]any, error) {
	if at := firstNotUTF8(text); at >= 0 {
		return nil, ErrorAt(text, at, "this is not UTF-8")
	}
	switch f {
	case JSON:
		return decodeJSON(text)
	case TOML:
		return decodeTOML(text)
	}
	return nil, fmt.Errorf("settings in the format %q cannot be read", string(f))
}

// firstNotUTF8 is the offset of the first byte that is not UTF-8, -1 for none.
func firstNotUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// decodeJSON reads JSON. Half of a surrogate pair becomes U+FFFD, and of a name that is
// there twice the last value counts, as for clients.
func decodeJSON(text string) (map[string]any, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}
	// hujson wants a line break behind the last comment, which clients do not.
	standard := []byte(text + "\n")
	var decoded any
	if json.Unmarshal(standard, &decoded) != nil { // hujson takes ten times the memory, and most settings do without it
		if hujson.Extra(standard).IsValid() {
			return nil, nil
		}
		var err error
		if standard, err = hujson.Standardize(standard); err != nil {
			return nil, jsonError(text, err)
		}
		_ = json.Unmarshal(standard, &decoded) // it is valid; a number may be too large
	}
	object, ok := decoded.(map[string]any)
	if !ok {
		return nil, ErrorAt(text, len(standard)-len(bytes.TrimLeft(standard, " \t\r\n")), "these settings are no object")
	}
	return object, nil
}

// The bounds keep hujson, which descends by recursion and takes a hundred bytes
// and more for each value, from running out of stack or memory. Settings are far
// below.
const (
	maxDepth  = 1000
	maxValues = 2_000_000
)

// checkSize tells what in JSON must not get to hujson, nil when all may. It
// knows strings and comments as hujson does, so that what it counts is never less
// than what hujson will meet.
func checkSize(text string) error {
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
			i = max(i, CommentEnd(text, i)-1)
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
		if depth > maxDepth {
			return ErrorAt(text, i, fmt.Sprintf("this is nested more than %d levels deep", maxDepth))
		}
		if values > maxValues {
			return ErrorAt(text, i, fmt.Sprintf("there are more than %d values", maxValues))
		}
	}
	return nil
}

// CommentEnd is where the comment ends that begins at i, the line break behind it not
// included; i when there is none. Between values no format has the signs of the other.
func CommentEnd(text string, i int) int {
	rest := text[i:]
	end := -1
	switch {
	case strings.HasPrefix(rest, "/*"):
		if end = strings.Index(rest[2:], "*/"); end >= 0 {
			end += 4
		}
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"):
		if end = strings.IndexByte(rest, '\n'); end > 0 && rest[end-1] == '\r' {
			end--
		}
	default:
		return i
	}
	if end < 0 {
		return len(text)
	}
	return i + end
}

// jsonError is an error of hujson. Of the text it repeats one character at most: what
// is wrong may be a secret. hujson tells the place in the words of its error alone;
// without one it is the beginning.
func jsonError(text string, err error) error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return ErrorAt(text, 0, "this is not JSON")
	}
	offset := min(offsetOf(text+"\n", line, column), len(text))

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
	return ErrorAt(text, offset, says)
}

// maxTOML is how large a file may be, in bytes. The library compares each name with
// all others, which takes two seconds for as many as there may be in that.
const maxTOML = 256 << 10

func decodeTOML(text string) (decoded map[string]any, err error) {
	if len(text) > maxTOML {
		return nil, ErrorAt(text, 0, fmt.Sprintf("the file is larger than %d KiB, which no settings in TOML are", maxTOML>>10))
	}
	if err := toml.Unmarshal([]byte(text), &decoded); err != nil {
		offset := 0
		if wrong := (*toml.DecodeError)(nil); errors.As(err, &wrong) {
			line, column := wrong.Position()
			offset = offsetOf(text, line, column)
		}
		says := strings.TrimPrefix(err.Error(), "toml: ")
		says = says[:min(len(says), 2000)] // for shortening takes its time
		return nil, ErrorAt(text, offset, monitor.Shorten(monitor.Clean(says), 200))
	}
	return decoded, nil
}

// offsetOf is the offset of a place, as libraries tell it: the column counts bytes.
func offsetOf(text string, line, column int) int {
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	return offset + column - 1
}

package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"

	"lamplighter/monitor"
)

// SyntaxError says where a text is not what its format asks for.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts characters
	Text         string // a part of a sentence, safe to show
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// errorAt says what is wrong at an offset of a text, in bytes. A line ends with \n.
func errorAt(text string, offset int, says string) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(line),
		Text:   says,
	}
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

// syntaxError is an error of what decodes settings, with its place where that is known.
// Of the text it repeats one character at most: what is wrong may be a secret.
func syntaxError(text string, err error) error {
	offset := 0
	inJSON, inTOML := (*jsontext.SyntacticError)(nil), (*toml.DecodeError)(nil)
	switch {
	case errors.As(err, &inJSON):
		offset, err = int(inJSON.ByteOffset), inJSON.Err
	case errors.As(err, &inTOML):
		line, column := inTOML.Position()
		offset = offsetOf(text, line, column)
	}
	says := strings.TrimPrefix(err.Error(), "toml: ")
	if escape := "invalid escape sequence"; strings.HasPrefix(says, escape) {
		says = escape + " in string"
	}
	says = says[:min(len(says), 2000)] // for shortening takes its time
	return errorAt(text, offset, monitor.Shorten(monitor.Clean(says), 200))
}

// offsetOf is the offset of a place, as libraries tell it: the column counts bytes.
func offsetOf(text string, line, column int) int {
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	return offset + column - 1
}

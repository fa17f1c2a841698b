package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The bounds keep hujson, which descends by recursion and takes a hundred bytes
// and more for each value, from running out of stack or memory. Settings are far
// below.
const (
	jsonMaxDepth  = 1000
	jsonMaxValues = 2_000_000
)

// jsonFault is something wrong at a place of a text.
type jsonFault struct {
	offset int // in bytes
	text   string
}

// jsonBounds tells what in a text must not get to hujson, nil when all may. It
// knows strings and comments as hujson does, so that what it counts is never less
// than what hujson will meet.
func jsonBounds(text []byte) *jsonFault {
	if at := firstNotUTF8(text); at >= 0 {
		return &jsonFault{at, notUTF8}
	}
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = jsonStringEnd(text, i)
		case '/':
			i = jsonCommentEnd(text, i)
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
		if depth > jsonMaxDepth {
			return &jsonFault{i, fmt.Sprintf("this is nested more than %d levels deep", jsonMaxDepth)}
		}
		if values > jsonMaxValues {
			return &jsonFault{i, fmt.Sprintf("there are more than %d values", jsonMaxValues)}
		}
	}
	return nil
}

// jsonStringEnd is the place of the quotation mark that ends the string at i, or
// the end of the text.
func jsonStringEnd(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// jsonCommentEnd is the place of the last byte of the comment at i; i when there
// is none.
func jsonCommentEnd(text []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(text[i+2:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return i + 2 + n + len(end) - 1
}

// jsonSyntaxFault is an error of hujson.Parse. Of the text it repeats one
// character at most: what is wrong may be a secret. hujson tells the place in the
// words of its error alone; without one it is the beginning.
func jsonSyntaxFault(text []byte, err error) *jsonFault {
	f := &jsonFault{text: "this is not JSON"}
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return f
	}
	for range line - 1 {
		f.offset += bytes.IndexByte(text[f.offset:], '\n') + 1
	}
	f.offset = min(f.offset+column-1, len(text))

	cause := err
	if inner := errors.Unwrap(err); inner != nil {
		cause = inner
	}
	rest := text[f.offset:]
	switch message := cause.Error(); {
	case errors.Is(err, io.ErrUnexpectedEOF) && bytes.HasPrefix(rest, []byte("/*")):
		f.text = "this comment has no end"
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.text = "the text ends too early"
	case strings.HasPrefix(message, "invalid character "):
		f.text = message
	case len(rest) > 0 && rest[0] == '"':
		f.text = "in this string is a line break, another control character, or a wrong escape"
	default:
		f.text = "this is no value of JSON"
	}
	return f
}

package document

import (
	"bytes"
	"unicode/utf8"
)

// wrongAt is what is wrong at an offset of a text, in bytes. A line ends with \n.
func wrongAt(text []byte, offset int, says string) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(line),
		Text:   says,
	}
}

const notUTF8 = "this is not UTF-8"

// firstNotUTF8 is the offset of the first byte that is not UTF-8, -1 for none.
func firstNotUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}

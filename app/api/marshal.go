package api

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"lamplighter/monitor"
)

// Marshal returns v as one line of JSON, without a newline, that cannot
// disturb a terminal: control, format and bidirectional characters are written
// as \uXXXX. Nothing is lost, a decoder gets the same text.
func Marshal(v any) ([]byte, error) {
	text, err := monitor.JSON(v, "")
	return escape(bytes.TrimSuffix(text, []byte("\n"))), err
}

// escape rewrites the characters that encoding/json leaves as they are. In
// valid JSON they can only stand inside a string.
func escape(text []byte) []byte {
	i := 0
	for i < len(text) && text[i] >= ' ' && text[i] < 0x7f {
		i++
	}
	if i == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+64), text[:i]...)
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case !monitor.Unprintable(r):
			out = append(out, text[i:i+n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = unicodeEscape(unicodeEscape(out, high), low)
		default:
			out = unicodeEscape(out, r)
		}
		i += n
	}
	return out
}

func unicodeEscape(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

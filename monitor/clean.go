package monitor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes foreign text safe to show on one line of a menu, a terminal or a
// log: control and format characters (escape sequences, bidirectional
// overrides, zero-width marks) vanish, runs of white space become one space,
// bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	space := false
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case Unprintable(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Unprintable reports whether r could disturb what is written after it.
func Unprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
}

// plain reports the common case that needs no work: printable ASCII without
// leading, trailing or double spaces.
func plain(s string) bool {
	prev := byte(' ')
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || (s[i] == ' ' && prev == ' ') {
			return false
		}
		prev = s[i]
	}
	return prev != ' ' || s == ""
}

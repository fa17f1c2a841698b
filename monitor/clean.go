package monitor

import (
	"strings"
	"unicode"
)

// Clean makes foreign text safe to show on one line of a menu, a terminal or a
// log: control and format characters (escape sequences, bidirectional
// overrides, zero-width marks) vanish, runs of white space become one space,
// bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	shown := strings.Map(func(r rune) rune {
		if Unprintable(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(shown), " ")
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

package monitor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"abcdefghij", 7, "abc…hij"},
		{"abcdefghij", 2, "a…"},
		{"abcdefghij", 1, "…"},
		{"abcdefghij", 0, ""},
		{"", 0, ""},
		{"two words here", 10, "two w…here"},
		{"漢字漢字漢字", 7, "漢…漢字"},
		{"ne\u0301ne\u0301ne\u0301ne\u0301", 5, "ne\u0301…ne\u0301"},
		{"🇩🇪🇫🇷🇮🇹🇪🇸", 6, "🇩🇪…🇪🇸"},
		{"👍🏽👍🏽👍🏽", 5, "👍🏽…👍🏽"},
		{"a" + strings.Repeat("\u0301", 100), 5, "a" + strings.Repeat("\u0301", maxRunes-1)},
	} {
		if got := Shorten(c.in, c.columns); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Clean(rapid.String().Draw(t, "s"))
		columns := rapid.IntRange(0, 60).Draw(t, "columns")
		got := Shorten(s, columns)
		if !utf8.ValidString(got) || Columns(got) > columns {
			t.Fatalf("%q is %d columns wide, want at most %d", got, Columns(got), columns)
		}
	})
}

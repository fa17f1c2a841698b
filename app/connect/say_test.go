package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestQuote: what is quoted is the end of the text, all of it if it fits.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 300),
			rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		).Draw(t, "text")
		limit := rapid.IntRange(2, 400).Draw(t, "limit")
		quoted := quote(text, limit)
		got, err := strconv.Unquote(quoted)
		if err != nil || len(quoted) > limit || !strings.HasSuffix(string(text), got) {
			t.Fatalf("%s: %v", quoted, err)
		}
		if whole := strconv.Quote(string(text)); len(whole) <= limit && quoted != whole {
			t.Fatalf("%s is not all of it", quoted)
		}
	})
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"a plain text":     "a plain text",
		"two\nlines\r\n":   "two lines  ",
		"\x1b[1m bold\x00": " [1m bold ",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	if n := len(oneLine(strings.Repeat("ü", maxLine))); n > maxLine/2 {
		t.Errorf("it has %d bytes", n)
	}
}

func TestCannot(t *testing.T) {
	_, err := os.Open("no such\nfile")
	got := cannot("open", "no such\nfile", err).Error()
	if !strings.HasPrefix(got, `cannot open "no such\nfile": `) || strings.Contains(got, "\n") {
		t.Errorf("%s", got)
	}
}

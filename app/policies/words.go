package policies

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lamplighter/monitor"
)

// span tells a length of time, rounded: "40 s", "5 min", "2 h".
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return fmt.Sprintf("%d days", int(d.Round(24*time.Hour)/(24*time.Hour)))
}

// sentence gives words a capital letter and a full stop; nothing stays nothing.
func sentence(s string) string {
	if s = strings.TrimRight(s, ". "); s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:] + "."
}

// byWords says who gave the word, behind something else.
func byWords(by string) string {
	if by = byOnly(by); by == "" {
		return ""
	}
	return ", " + by
}

func byOnly(by string) string {
	if by = monitor.Clean(by); by == "" {
		return ""
	}
	return "by " + by
}

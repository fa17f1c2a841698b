package monitor

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Span tells a length of time, rounded: "0.3 s", "45 s", "5 min", "2 h 30 min", "3
// days 4 h". From ten hours or days on the smaller unit is left out. A negative one is
// "0 s".
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	if d = max(d, 0); d < 10*time.Second {
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	}
	if d = d.Round(time.Second); d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	switch d = d.Round(time.Minute); {
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return inUnits(d, time.Hour, "h", time.Minute, "min")
	}
	return inUnits(d, day, "days", time.Hour, "h")
}

func inUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 && d < 10*large {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// Clock tells a moment in the time zone of now: the time of day, and before it as
// much of the date as differs from that of now.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.Year() != now.Year():
		return at.Format("2 Jan 2006 15:04")
	case at.YearDay() != now.YearDay():
		return at.Format("2 Jan 15:04")
	}
	return at.Format("15:04")
}

// Memory tells an amount of memory or disk, given in bytes: "512 B", "2.0 MB", "108
// MB", "54 GB". The units are powers of ten, as on desktops.
func Memory[N int | int64 | uint64](bytes N) string {
	value, unit := float64(bytes), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1000, next
	}
	if value < 9.95 && unit != "B" {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// Plural counts things: "1 server", "5 servers".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Sentence gives a part of a sentence a capital letter and a full stop; nothing
// stays nothing.
func Sentence(s string) string {
	if s = strings.TrimRight(s, ". "); s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:] + "."
}

// Quoted writes a command so that a person can copy it.
func Quoted(command []string) string {
	words := slices.Clone(command)
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"$&|;<>()*?`") {
			words[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
	}
	return Clean(strings.Join(words, " "))
}

// ProgramName is what a program is called: the base name of its executable or
// script in lower case, without the endings that systems, packagers and the
// kernel add. Both kinds of separator count, because a table recorded on one
// system is read on another.
func ProgramName(path string) string {
	path = strings.TrimSuffix(path, " (deleted)")
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	path = strings.ToLower(path)
	for _, ending := range []string{".exe", ".cmd", "-script.py", "-script.pyw", ".py", ".js", ".mjs", ".cjs"} {
		path = strings.TrimSuffix(path, ending)
	}
	return path
}

// PortOf is the port that an address such as http://127.0.0.1:24282/dashboard/
// names, 0 when it names none.
func PortOf(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}

// HasWord reports whether a word is in a list of words with blanks between them. The
// list is not taken apart: each process is looked up in some twenty.
func HasWord(list, word string) bool {
	if word == "" || strings.ContainsAny(word, " \t\n") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], word)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(word)
		if (at == 0 || list[at-1] <= ' ') && (end == len(list) || list[end] <= ' ') {
			return true
		}
		from = at + 1
	}
}

package doctor

import (
	"fmt"
	"strings"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// Style is how a report is printed.
type Style struct {
	ASCII  bool // where the terminal may not show other characters
	Colour bool
	Width  int // columns of the terminal; 0 does not wrap
}

// UTF8 reports whether text may hold any character, by the variables that say so:
// LC_ALL, LC_CTYPE and LANG, the first one that is set.
//
// Source: locale(7).
func UTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// narrowest is the width below which nothing is wrapped any more.
const narrowest = 40

// signs are what a report is drawn with.
type signs struct {
	mark  map[Mark]string // all of one width
	arrow string
}

var (
	drawn = signs{map[Mark]string{OK: "✓", Warn: "!", Broken: "✗"}, "→ "}
	typed = signs{map[Mark]string{OK: "ok", Warn: "! ", Broken: "x "}, "-> "}
)

// Text is the report for people: a heading per area, a line for each finding,
// below it what it means and what to do.
func (r Report) Text(s Style) string {
	if s.Width < narrowest {
		s.Width = 0
	}
	with := drawn
	if s.ASCII {
		with = typed
	}
	blank := func(text string) string { return strings.Repeat(" ", monitor.Columns(text)) }
	below := "  " + blank(with.mark[OK]) + " "
	var b strings.Builder
	var area Area
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Area != area {
			if area != "" {
				b.WriteByte('\n')
			}
			area = l.Area
			b.WriteString(s.plain(string(area)) + "\n")
		}
		s.write(&b, "  "+s.paint(l.Mark, with.mark[l.Mark])+" ", below, l.Text)
		s.write(&b, below, below, l.Means)
		for _, detail := range l.details() {
			s.write(&b, below+"  ", below+"    ", detail)
		}
		s.write(&b, below+with.arrow, below+blank(with.arrow), l.Do)
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary())
	return b.String()
}

// details are what a server is shared by, the files of a client, and the last
// words of a candidate that did not work, where they add something to the verdict.
func (l *Line) details() []string {
	if len(l.Facts) > 0 {
		return factsInShort(l.Facts)
	}
	var list []string
	for _, f := range l.Files {
		list = append(list, f.inShort())
	}
	c := l.Candidate
	if c == nil || l.Mark == OK || c.Untrusted || c.Problem == launch.ModuleNotFound {
		return list
	}
	const last = 3
	for _, line := range c.Stderr[max(len(c.Stderr)-last, 0):] {
		if !strings.Contains(c.Detail, line) {
			list = append(list, "it said: "+line)
		}
	}
	return list
}

// summary is the last line. That a way to start Serena does not work counts
// once, in the line above them all.
func (r Report) summary() string {
	broken, warned := 0, 0
	for i := range r.Lines {
		switch l := &r.Lines[i]; l.Mark {
		case Broken:
			if l.Candidate == nil {
				broken++
			}
		case Warn:
			warned++
		case OK:
		}
	}
	switch {
	case broken > 0 && warned > 0:
		return fmt.Sprintf("%d broken, %d to know about.", broken, warned)
	case broken > 0:
		return fmt.Sprintf("%d broken.", broken)
	case warned > 0:
		return fmt.Sprintf("Nothing is broken; %d to know about.", warned)
	}
	return "All is well."
}

// paint puts the colour of a mark around its sign (SGR).
func (s Style) paint(m Mark, sign string) string {
	if !s.Colour {
		return sign
	}
	code := map[Mark]string{OK: "32", Warn: "33", Broken: "31"}[m]
	return "\x1b[" + code + "m" + sign + "\x1b[0m"
}

// write writes text behind first, wrapped at spaces. The lines that follow
// begin with next, which is about as wide as first. Empty text is no line.
func (s Style) write(b *strings.Builder, first, next, text string) {
	if text == "" {
		return
	}
	indent := monitor.Columns(next)
	line, used := first, indent
	for i, word := range strings.Fields(s.plain(text)) {
		wide := monitor.Columns(word)
		switch {
		case i == 0:
		case s.Width > 0 && used+1+wide > s.Width && used > indent:
			b.WriteString(line + "\n")
			line, used = next, indent
		default:
			line, used = line+" ", used+1
		}
		line, used = line+word, used+wide
	}
	b.WriteString(line + "\n")
}

// plain is text that the terminal can show.
func (s Style) plain(text string) string {
	if !s.ASCII {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, typeable.Replace(text))
}

// typeable are the signs that have a like among those of a typewriter.
var typeable = strings.NewReplacer("…", "...", "“", `"`, "”", `"`, "’", "'", "–", "-")

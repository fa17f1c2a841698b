package cli

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// Limits of a diff. Those of a line are in characters: settings without line
// breaks are one line.
const (
	linesAround = 1 // lines of a diff around what differs

	diffLine  = 240 // a longer line is cut to what differs
	diffAbout = 40  // what is left before and behind that
	diffMost  = 1000
)

// diff is the unified diff of a change, with a line of what is around it and
// without secrets; "" when nothing changes.
func (s setupWords) diff(c setup.Change) string {
	if c.Before == nil || c.After == nil || string(c.Before) == string(c.After) {
		return ""
	}
	path := s.short(c.Path)
	before, after, ok := maskedPair(c)
	if !ok {
		return path + " changes. How is not shown, because what is secret in it cannot be told.\n"
	}
	unified, err := udiff.ToUnified(path, path, before, udiff.Lines(before, after), linesAround)
	if err != nil {
		return path + " changes. How cannot be shown: " + monitor.Clean(err.Error()) + "\n"
	}
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	cutDiff(lines)
	var b strings.Builder
	for i, line := range lines {
		line = diffText(line)
		if s.screen.colour {
			line = paintDiff(line, i < 2)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// maskedPair is both contents without secrets.
func maskedPair(c setup.Change) (before, after string, ok bool) {
	f := clients.FormatOf(c.Path)
	inBefore, inAfter := differing(c.Before, c.After)
	before, first := masked(f, c.Before, inBefore)
	after, second := masked(f, c.After, inAfter)
	return before, after, first && second
}

// cutDiff cuts long lines to what differs from the line that takes their place.
func cutDiff(lines []string) {
	var minus, plus []int // lines of one change, without what is said of their ends
	replace := func() {
		for k := range min(len(minus), len(plus)) {
			lines[minus[k]], lines[plus[k]] = cutBoth([]rune(lines[minus[k]]), []rune(lines[plus[k]]))
		}
		for _, i := range append(minus, plus...) {
			lines[i] = limited(lines[i], diffMost)
		}
		minus, plus = nil, nil
	}
	for i := 2; i < len(lines); i++ { // the first two name the file
		switch lines[i][:min(1, len(lines[i]))] {
		case "-":
			if len(plus) > 0 {
				replace()
			}
			minus = append(minus, i)
		case "+":
			plus = append(plus, i)
		case `\`:
		default:
			replace()
			lines[i] = limited(lines[i], diffLine)
		}
	}
	replace()
}

// cutBoth leaves out most of what two lines have in common at their ends, beside
// the mark in front of each.
func cutBoth(a, b []rune) (string, string) {
	if len(a) <= diffLine && len(b) <= diffLine {
		return string(a), string(b)
	}
	shortest := min(len(a), len(b))
	head := 1
	for head < shortest && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < shortest-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, behind := max(head-diffAbout, 1), max(tail-diffAbout, 0)
	part := func(line []rune) string {
		text := string(line[from : len(line)-behind])
		if from > 1 {
			text = "…" + text
		}
		if behind > 0 {
			text += "…"
		}
		return string(line[:1]) + text
	}
	return part(a), part(b)
}

func limited(line string, most int) string {
	if len(line) <= most { // bytes are no fewer than characters
		return line
	}
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

// diffText is a line that cannot disturb the terminal, with its white space as it
// is.
func diffText(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && monitor.Unprintable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
}

// paintDiff colours a line of a diff as version control does.
func paintDiff(line string, head bool) string {
	code := ""
	switch {
	case head:
		code = "1"
	case strings.HasPrefix(line, "@@"):
		code = "36"
	case strings.HasPrefix(line, "-"):
		code = "31"
	case strings.HasPrefix(line, "+"):
		code = "32"
	default:
		return line
	}
	return "\x1b[" + code + "m" + line + "\x1b[0m"
}

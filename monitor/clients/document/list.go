package document

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// list is a list of strings as it is written: behind the bracket what opens says,
// then each item, then what closes says.
type list struct {
	opens, closes string
	items         []item
	// lead is what stands before an item that is added: a space, or the line end
	// and the indentation of a list over several lines.
	lead     string
	shut     string // the line end and the indentation of a closing bracket
	trailing bool   // there is a comma behind the last item
}

// item is an element of a list: white space and comments on lines above it, the
// string, and what belongs to it behind, up to the end of its line.
type item struct {
	lead, raw, tail string
	comma           int // offset in tail, -1 for none
	word            string
	first           bool
}

// listOf takes the args of a server apart.
func (d *Document) listOf(s *server) list {
	text, value := d.text, s.args.value
	l := list{lead: d.space(s)}
	at := behindComments(text, value.start+1)
	l.opens = text[value.start+1 : at]
	for i, raw := range s.args.items {
		it := item{lead: text[at:raw.start], raw: raw.of(text), comma: -1, word: s.entry.Args[i], first: i == 0}
		at = raw.end
		if comma := commaBehind(text, at); comma >= 0 {
			it.comma = comma - at
			at = comma + 1
		}
		at = behindComments(text, at)
		it.tail = text[raw.end:at]
		l.trailing = it.comma >= 0
		l.items = append(l.items, it)
	}
	l.closes = text[at : value.end-1]
	l.style(text, value.start, d.ending(value.start))
	return l
}

// style finds out how items are set apart in a list that begins at start, on a line
// with this end.
func (l *list) style(text string, start int, ending string) {
	line := text[strings.LastIndexByte(text[:start], '\n')+1:]
	indent := line[:skipBlank(line, 0)]
	unit := "  "
	if strings.Contains(indent, "\t") {
		unit = "\t"
	}
	l.shut = ending + indent
	if len(l.items) > 1 && !hasComment(l.items[1].lead) {
		l.lead = l.items[1].lead
	}
	if strings.Contains(l.closes, "\n") {
		l.lead = ending + indent + unit
	}
	for _, it := range l.items {
		if i := strings.LastIndexByte(it.lead, '\n'); i >= 0 {
			l.lead = ending + it.lead[i+1:skipBlank(it.lead, i+1)]
			return
		}
		if strings.Contains(it.tail, "\n") {
			l.lead = ending + indent + unit
		}
	}
}

// with writes the list with other words. Those that stay keep their place and
// their comments.
func (l list) with(words []string, quote func(string) string) string {
	items := l.replaced(words, quote)
	if len(items) == 0 && strings.TrimSpace(l.opens+l.closes) == "" {
		return "[]"
	}
	var b strings.Builder
	b.WriteString("[" + l.opens)
	behind := l.opens
	for i, it := range items {
		last := i == len(items)-1
		switch {
		case !last && it.comma < 0:
			it.tail = "," + it.tail
		case last && it.comma >= 0 && !l.trailing:
			it.tail = it.tail[:it.comma] + it.tail[it.comma+1:]
		}
		b.WriteString(l.apart(behind, l.leadOf(it, i == 0, behind)) + it.raw + it.tail)
		behind = it.tail
	}
	b.WriteString(l.apart(behind, l.closes) + "]")
	return b.String()
}

// apart is what comes next, on a line of its own behind a comment that takes its line.
func (l list) apart(behind, next string) string {
	if !endsInComment(behind) || isLineEnd(next, skipBlank(next, 0)) {
		return next
	}
	return l.shut + strings.TrimLeft(next, " \t\r")
}

// leadOf is what stands before an item at its new place.
func (l list) leadOf(it item, first bool, behind string) string {
	switch {
	case hasComment(it.lead):
		return it.lead // the comment is about the item
	case endsInComment(behind) || !first && it.first:
		if strings.Contains(it.lead, "\n") {
			return it.lead
		}
		return l.lead
	case first && len(l.items) == 0 && !strings.Contains(l.lead, "\n"):
		return ""
	case first && len(l.items) > 0 && !hasComment(l.items[0].lead):
		return l.items[0].lead
	}
	return it.lead
}

// replaced returns the items for other words: those that stay, those that get
// another text, and new ones.
func (l list) replaced(words []string, quote func(string) string) []item {
	old := make([]string, len(l.items))
	for i, it := range l.items {
		old[i] = it.word
	}
	items := make([]item, 0, len(words))
	for i, at := range placed(old, words) {
		it := item{lead: l.lead, comma: 0, tail: ","}
		if at >= 0 {
			it = l.items[at]
		}
		if at < 0 || it.word != words[i] {
			it.raw = quote(words[i])
		}
		items = append(items, it)
	}
	return items
}

// placed tells for each of the new words which of the old ones it stands for, -1
// for none. Words that stay are themselves; others take the places of those
// between them that go, one for one, so that what is written around them stays. As
// many words as before stand for those.
func placed(old, words []string) []int {
	at := make([]int, 0, len(words))
	next := 0 // of the old ones
	changes := []lcs.Diff{{Start: len(old), End: len(old)}}
	if len(old) != len(words) {
		changes = append(lcs.DiffLines(old, words), changes...)
	}
	for _, d := range changes {
		for ; next < d.Start; next++ {
			at = append(at, next)
		}
		for range d.ReplEnd - d.ReplStart {
			if next < d.End {
				at = append(at, next)
				next++
			} else {
				at = append(at, -1)
			}
		}
		next = d.End
	}
	return at
}

// commaBehind returns where the comma stands behind an element, -1 for none.
func commaBehind(text string, i int) int {
	for strings.ContainsRune(" \t\r\n/#", rune(text[i])) {
		i = max(i+1, commentEnd(text, i))
	}
	if text[i] == ',' {
		return i
	}
	return -1
}

// behindComments returns the end of the line when nothing but comments follows on it,
// and i otherwise.
func behindComments(text string, i int) int {
	if end := skipComments(text, i); hasComment(text[i:end]) && isLineEnd(text, end) {
		return end
	}
	return i
}

// endsInComment reports whether a text of white space, commas and comments ends
// within a comment that takes its line.
func endsInComment(text string) bool {
	for i := 0; i < len(text); i++ {
		if end := commentEnd(text, i); end == len(text) {
			return !strings.HasPrefix(text[i:], "/*")
		} else if end > i {
			i = end - 1
		}
	}
	return false
}

package document

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"lamplighter/monitor/clients"
)

// list is a list of strings as it is written: behind the bracket what opens says,
// then each item, then what closes says.
type list struct {
	opens, closes string
	items         []item
	words         []string // what the items say
	// lead is what stands before an item that is added, and first before the first one: a
	// space, or the line end and the indentation of a list over several lines.
	lead, first string
	shut        string // the line end and the indentation of a closing bracket
	trailing    bool   // there is a comma behind the last item
}

// item is an element of a list: white space and comments on lines above it, the
// string, what stands before its comma, and comments behind that on its line.
type item struct{ lead, raw, own, tail string }

// listOf takes the args of a server apart.
func (d *Document) listOf(s *server) list {
	it, _ := readSource(d.format, s.now) // it was read before
	text, args := it.text, it.servers[0].args
	value := args.value
	l := list{lead: d.space(s), words: s.says.Args}
	at := behindComments(text, value.start+1)
	l.opens = text[value.start+1 : at]
	for _, raw := range args.items {
		it := item{lead: text[at:raw.start], raw: raw.of(text)}
		at = raw.end
		next := skipSpace(text, at)
		if l.trailing = text[next] == ','; l.trailing {
			it.own = text[at:next]
			at = next + 1
		}
		end := behindComments(text, at)
		it.tail = text[at:end]
		at = end
		l.items = append(l.items, it)
	}
	l.closes = text[at : value.end-1]
	begin := s.command.value.start
	if s.args != nil {
		begin = s.args.value.start
	}
	line := d.text[strings.LastIndexByte(d.text[:begin], '\n')+1:]
	l.style(d.ending(begin), line[:skipBlank(line, 0)])
	return l
}

// style finds out how items are set apart, in a list that begins on a line with this
// end and indentation.
func (l *list) style(ending, indent string) {
	unit := "  "
	if strings.Contains(indent, "\t") {
		unit = "\t"
	}
	if len(l.items) > 1 && !hasComment(l.items[1].lead) {
		l.lead = l.items[1].lead
	}
	if strings.Contains(l.closes, "\n") {
		l.lead = ending + indent + unit
	}
	for _, it := range slices.Backward(l.items) {
		if i := strings.LastIndexByte(it.lead, '\n'); i >= 0 {
			l.lead = ending + it.lead[i+1:skipBlank(it.lead, i+1)]
		}
	}
	l.shut = ending + indent
	l.first = l.lead
	switch {
	case len(l.items) > 0 && !hasComment(l.items[0].lead):
		l.first = l.items[0].lead
	case len(l.items) == 0 && !strings.Contains(l.lead, "\n"):
		l.first = ""
	}
}

// with writes the list with other words. Those that stay keep their place and
// their comments.
func (l list) with(words []string, quote func(string) string) string {
	text, behind := "["+l.opens, l.opens
	for i, at := range placed(l.words, words) {
		it := item{lead: l.lead}
		if at >= 0 {
			it = l.items[at]
		}
		if at < 0 || l.words[at] != words[i] {
			it.raw = quote(words[i])
		}
		switch {
		case hasComment(it.lead): // it is about the item
		case i == 0:
			it.lead = l.first
		case at == 0 && !strings.Contains(it.lead, "\n"):
			it.lead = l.lead
		}
		text += apart(behind, it.lead, l.lead) + it.raw
		behind = it.own + "," + it.tail
		if i == len(words)-1 && !l.trailing {
			behind = it.own + it.tail
		}
		text += behind
	}
	closes := apart(behind, l.closes, l.shut)
	if len(words) == 0 && strings.TrimSpace(l.opens+closes) == "" {
		return "[]"
	}
	return text + closes + "]"
}

// apart is what comes next. Behind a comment that takes its line that is on another
// one, which begins as lineBreak says.
func apart(behind, next, lineBreak string) string {
	if !endsInComment(behind) || isLineEnd(next, skipBlank(next, 0)) {
		return next
	}
	return lineBreak + strings.TrimLeft(next, " \t\r")
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

// skipSpace skips white space and comments in a list.
func skipSpace(text string, i int) int {
	for strings.ContainsRune(" \t\r\n/#", rune(text[i])) {
		i = max(i+1, clients.CommentEnd(text, i))
	}
	return i
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
		if end := clients.CommentEnd(text, i); end == len(text) {
			return !strings.HasPrefix(text[i:], "/*")
		} else if end > i {
			i = end - 1
		}
	}
	return false
}

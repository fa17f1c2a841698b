package document

import "strings"

// tomlList is a list of strings as it is written: behind the bracket what opens
// says, then each item, then what closes says.
type tomlList struct {
	opens, closes string
	items         []tomlListItem
	// lead is what stands before an item that is added: a space, or the line end
	// and the indentation of a list over several lines.
	lead     string
	shut     string // the line end and the indentation of a closing bracket
	trailing bool   // there is a comma behind the last item
}

// tomlListItem is an element of a list: white space and comments on lines above
// it, the string, and what belongs to it behind, up to the end of its line.
type tomlListItem struct {
	lead, raw, tail string
	comma           int // offset in tail, -1 for none
	text            string
	first           bool
}

// list takes the value of a list of strings apart.
func (m *tomlMember) list(text []byte) tomlList {
	at, end := m.value.start+1, m.value.end-1
	var l tomlList
	next := behindComment(text, at, end)
	l.opens, at = string(text[at:next]), next
	for i, item := range m.items {
		limit := end
		if i+1 < len(m.items) {
			limit = m.items[i+1].raw.start
		}
		part := tomlListItem{lead: string(text[at:item.raw.start]), raw: item.raw.of(text), comma: -1, text: item.text, first: i == 0}
		at = item.raw.end
		if comma := commaBefore(text, at, limit); comma >= 0 {
			part.comma = comma - at
			at = comma + 1
		}
		at = behindComment(text, at, limit)
		part.tail = string(text[item.raw.end:at])
		l.trailing = part.comma >= 0
		l.items = append(l.items, part)
	}
	l.closes = string(text[at:end])
	l.style(text, m.value)
	return l
}

// style finds out how items are set apart.
func (l *tomlList) style(text []byte, value span) {
	_, ending := lineEnd(text, value.start)
	if ending == "" {
		ending = "\n"
	}
	start := value.start
	for start > 0 && text[start-1] != '\n' {
		start--
	}
	indent := string(text[start:skipBlank(text, start)])
	l.lead, l.shut = " ", ending+indent
	for _, item := range l.items {
		if i := strings.LastIndexByte(item.lead, '\n'); i >= 0 {
			l.lead = ending + item.lead[i+1:]
			return
		}
		if strings.Contains(item.tail, "\n") {
			l.lead = ending + indent + "  "
		}
	}
	if strings.Contains(l.closes, "\n") {
		l.lead = ending + indent + "  "
	}
}

// with writes the list with other words. Those that stay keep their place and
// their comments.
func (l tomlList) with(words []string) string {
	items := l.replaced(words)
	if len(items) == 0 && strings.TrimSpace(l.opens+l.closes) == "" {
		return "[]"
	}
	var b strings.Builder
	b.WriteString("[" + l.opens)
	comment := l.opens != ""
	for i, item := range items {
		last := i == len(items)-1
		switch {
		case !last && item.comma < 0:
			item.tail = "," + item.tail
		case last && item.comma >= 0 && !l.trailing:
			item.tail = item.tail[:item.comma] + item.tail[item.comma+1:]
		}
		b.WriteString(l.leadOf(item, i == 0, comment) + item.raw + item.tail)
		comment = endsInComment(item.tail)
	}
	if comment && !strings.Contains(l.closes, "\n") {
		b.WriteString(l.shut)
	}
	b.WriteString(l.closes + "]")
	return b.String()
}

// leadOf is what stands before an item at its new place, behind a comment or not.
func (l tomlList) leadOf(item tomlListItem, first, comment bool) string {
	switch {
	case strings.Contains(item.lead, "#"):
		return item.lead // the comment is about the item, and ends its line
	case comment || !first && item.first:
		if strings.Contains(item.lead, "\n") {
			return item.lead
		}
		return l.lead
	case first && len(l.items) == 0 && l.lead == " ":
		return ""
	case first && len(l.items) > 0 && !strings.Contains(l.items[0].lead, "#"):
		return l.items[0].lead
	}
	return item.lead
}

// replaced returns the items for other words: those that stay, those that get
// another text, and new ones.
func (l tomlList) replaced(words []string) []tomlListItem {
	old := make([]string, len(l.items))
	for i, item := range l.items {
		old[i] = item.text
	}
	items := make([]tomlListItem, 0, len(words))
	for i, at := range placed(old, words) {
		item := tomlListItem{lead: l.lead, tail: ","}
		if at >= 0 {
			item = l.items[at]
		}
		if at < 0 || item.text != words[i] {
			item.text, item.raw = words[i], tomlString(words[i])
		}
		items = append(items, item)
	}
	return items
}

// commaBefore returns where the comma stands behind an element, -1 for none
// before limit.
func commaBefore(text []byte, i, limit int) int {
	for ; i < limit; i++ {
		switch text[i] {
		case ',':
			return i
		case '#':
			i, _ = lineEnd(text, i)
		}
	}
	return -1
}

// behindComment returns the end of the line when nothing but a comment follows
// on it, and i otherwise.
func behindComment(text []byte, i, limit int) int {
	if at := skipBlank(text, i); at < limit && text[at] == '#' {
		i, _ = lineEnd(text, at)
	}
	return i
}

// endsInComment reports whether a text of white space, commas and comments ends
// within a comment.
func endsInComment(text string) bool {
	return strings.Contains(text[strings.LastIndexByte(text, '\n')+1:], "#")
}

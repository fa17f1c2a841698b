package document

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// jsonList is a list of strings as it is written: behind the bracket what opens
// says, then each item, then what closes says.
type jsonList struct {
	opens, closes  hujson.Extra
	items          []jsonItem
	first, between hujson.Extra // before an item that is added, at the beginning and elsewhere
	comma          bool         // there is one behind the last item
}

// jsonItem is an element of a list: what is before it, the string, what is before
// its comma, and behind it the comments up to the end of the line.
type jsonItem struct {
	lead  hujson.Extra
	value hujson.ValueTrimmed
	own   hujson.Extra
	tail  hujson.Extra
}

// jsonListOf takes a list apart; spaced tells whether there is a space between
// elements where the list does not show it.
func jsonListOf(list *hujson.Array, spaced bool) jsonList {
	var l jsonList
	n := len(list.Elements)
	tail := &l.opens
	for i, e := range list.Elements {
		item := jsonItem{value: e.Value, own: e.AfterExtra}
		*tail, item.lead = jsonTail(e.BeforeExtra)
		l.items = append(l.items, item)
		if i == n-1 {
			l.comma = e.AfterExtra != nil
		}
		tail = &l.items[i].tail
	}
	*tail, l.closes = jsonTail(list.AfterExtra)
	if n > 0 && !l.comma && len(*tail) == 0 && jsonLineBreak(l.closes) < 0 {
		// A comment on the line of the bracket is about the last element.
		space := len(bytes.TrimRight(l.closes, " \t\r"))
		l.items[n-1].own, l.closes = l.closes[:space:space], l.closes[space:]
	}
	l.space(spaced)
	return l
}

// jsonTail parts what is behind a comma or a bracket: comments up to the end of
// the line, and what is behind them.
func jsonTail(e hujson.Extra) (tail, rest hujson.Extra) {
	if end := jsonLineBreak(e); end > 0 && jsonComment(e[:end]) {
		return e[:end:end], e[end:]
	}
	return nil, e
}

// space finds out how elements are set apart.
func (l *jsonList) space(spaced bool) {
	if spaced {
		l.between = hujson.Extra(" ")
	}
	if len(l.items) > 0 && !jsonComment(l.items[0].lead) {
		l.first = l.items[0].lead
	}
	for i, item := range l.items {
		if end := jsonLineBreak(item.lead); end >= 0 {
			indent := jsonIndent(item.lead[bytes.LastIndexByte(item.lead, '\n')+1:])
			l.between = slices.Concat(jsonLineEnd(item.lead[end:]), indent)
			if l.first == nil && jsonComment(l.items[0].lead) {
				l.first = l.between
			}
			return
		}
		if i == 1 && !jsonComment(item.lead) {
			l.between = item.lead
		}
	}
	tailed := len(l.items) > 0 && len(l.items[len(l.items)-1].tail) > 0
	if end := jsonLineBreak(l.closes); end >= 0 && (tailed || len(l.items) == 0) {
		indent := jsonIndent(l.closes[bytes.LastIndexByte(l.closes, '\n')+1:])
		unit := "  "
		if bytes.ContainsRune(indent, '\t') {
			unit = "\t"
		}
		l.between = slices.Concat(jsonLineEnd(l.closes[end:]), indent, hujson.Extra(unit))
		if !tailed {
			l.first = l.between
		}
	}
}

// jsonRefill makes args the elements of a list, in the style of the list. Words
// that stay, and those that come in the place of others, keep what is written
// around them.
func jsonRefill(list *hujson.Array, args []string, spaced bool) {
	words, _ := jsonStrings(list)
	if slices.Equal(words, args) {
		return
	}
	l := jsonListOf(list, spaced)
	elements := make([]hujson.Value, 0, len(args))
	behind := l.opens // what comes before the next element, or the bracket
	for i, at := range placed(words, args) {
		item := jsonItem{lead: l.between}
		if at >= 0 {
			item = l.items[at]
		}
		if at < 0 || words[at] != args[i] {
			item.value = hujson.String(args[i])
		}
		switch {
		case jsonComment(item.lead): // it is about the element
		case i == 0:
			item.lead = l.first
		case at == 0:
			item.lead = l.between
		}
		e := hujson.Value{BeforeExtra: l.joined(behind, item.lead), Value: item.value, AfterExtra: item.own}
		behind = item.tail
		if i == len(args)-1 && !l.comma {
			behind = slices.Concat(item.own, item.tail)
			e.AfterExtra = nil
		} else if i == len(args)-1 && e.AfterExtra == nil {
			e.AfterExtra = hujson.Extra{}
		}
		elements = append(elements, e)
	}
	list.Elements = elements
	if list.AfterExtra = l.joined(behind, l.closes); !jsonComment(list.AfterExtra) {
		if len(elements) == 0 || len(words) == 0 && jsonLineBreak(list.AfterExtra) < 0 {
			list.AfterExtra = nil
		}
	}
}

// joined is what stands between two elements, or at a bracket: comments, and what
// comes behind them, on another line when they end in one that takes its line.
func (l *jsonList) joined(comments, next hujson.Extra) hujson.Extra {
	end := bytes.IndexByte(next, '\n')
	if !jsonEndsInComment(comments) || end >= 0 && !jsonComment(next[:end]) {
		return slices.Concat(comments, next)
	}
	lineEnd := l.between
	if jsonLineBreak(lineEnd) != 0 {
		lineEnd = hujson.Extra("\n")
	}
	return slices.Concat(comments, lineEnd, bytes.TrimLeft(next, " \t\r"))
}

// jsonEndsInComment reports whether e ends in a comment that goes up to a line break.
func jsonEndsInComment(e hujson.Extra) bool {
	for i := 0; i < len(e); i++ {
		if e[i] == '/' {
			if i = jsonCommentEnd(e, i); i >= len(e) {
				return true
			}
		}
	}
	return false
}

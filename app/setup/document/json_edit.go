package document

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// jsonInsertArgs puts args right behind the command of an entry that has none: on
// a line of its own when the command has one, else on its line. jsonRemove is its
// inverse, byte for byte.
func jsonInsertArgs(entry *hujson.Object, args *hujson.Array) {
	at := jsonMember(entry, "command")
	command := &entry.Members[at]
	after := jsonAfter(entry, at)

	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String("args")},
		Value: hujson.Value{Value: args},
	}
	if jsonSpaced(*command) {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	begin := bytes.LastIndexByte(command.Name.BeforeExtra, '\n')
	if end := jsonLineBreak(*after); begin >= 0 && end >= 0 {
		// A comment behind the command stays on its line.
		m.Name.BeforeExtra = slices.Concat((*after)[:end],
			jsonLineEnd((*after)[end:]), jsonIndent(command.Name.BeforeExtra[begin+1:]))
		*after = (*after)[end:]
	} else if jsonSpaced(*command) {
		m.Name.BeforeExtra = hujson.Extra(" ")
	}
	if at == len(entry.Members)-1 && command.Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // a comma behind the last member
	}
	entry.Members = slices.Insert(entry.Members, at+1, m)
}

// jsonRemove takes a member out, and a comma. It is not the only one.
func jsonRemove(entry *hujson.Object, at int) {
	m := entry.Members[at]
	last := at == len(entry.Members)-1
	after := jsonAfter(entry, at)
	*after = jsonJoined(m.Name.BeforeExtra, m.Value.AfterExtra, *after, at == 0, last)
	if last {
		switch previous := &entry.Members[at-1].Value; {
		case m.Value.AfterExtra == nil && previous.AfterExtra != nil:
			*after = slices.Concat(previous.AfterExtra, *after)
			previous.AfterExtra = nil
		case m.Value.AfterExtra != nil && previous.AfterExtra == nil:
			previous.AfterExtra = hujson.Extra{}
		}
	}
	entry.Members = slices.Delete(entry.Members, at, at+1)
}

// jsonAfter is what stands between the member at and the next one, behind the
// comma, or the end of the object.
func jsonAfter(object *hujson.Object, at int) *hujson.Extra {
	if at+1 < len(object.Members) {
		return &object.Members[at+1].Name.BeforeExtra
	}
	return &object.AfterExtra
}

// jsonJoined is what stands where a member was taken out: before is what was
// before its name, own what was between its value and the comma, after what comes
// behind that; it was the first or the last member or neither. No comment is lost.
func jsonJoined(before, own, after hujson.Extra, first, last bool) hujson.Extra {
	if jsonComment(own) {
		return slices.Concat(before, own, after)
	}
	begin := bytes.LastIndexByte(before, '\n')
	ownLine := begin >= 0 && !jsonComment(before[begin:])
	rest := bytes.TrimLeft(after, " \t")
	breaks := bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n"))
	switch {
	case ownLine && breaks:
		before = before[:begin]
		if rest[0] == '\r' {
			before = bytes.TrimSuffix(before, []byte("\r"))
		}
		return slices.Concat(before, after)
	case jsonComment(before):
		return slices.Concat(before, after)
	case !last && !breaks && (begin >= 0 || first):
		// What was behind it on its line begins where it did.
		return slices.Concat(before, bytes.TrimLeft(after, " \t"))
	}
	return after
}

// jsonRefill makes args the elements of a list, in the style of the list. Elements
// that stay keep what is written around them.
func jsonRefill(list *hujson.Array, args []string, spaced bool) {
	old := list.Elements
	words, _ := jsonStrings(list)
	from, to, kept := jsonCommonRun(words, args)
	first, between := jsonSpacing(list, spaced)
	comma := len(old) > 0 && old[len(old)-1].AfterExtra != nil

	elements := make([]hujson.Value, 0, len(args))
	for i, arg := range args {
		e := hujson.Value{Value: hujson.String(arg)}
		was := i - to + from
		stays := i >= to && i < to+kept
		if stays {
			e = old[was]
		}
		if !stays || !jsonComment(e.BeforeExtra) && (i == 0) != (was == 0) {
			e.BeforeExtra = between
			if i == 0 {
				e.BeforeExtra = first
			}
		}
		elements = append(elements, e)
	}
	list.Elements = elements

	if len(elements) == 0 || len(old) == 0 && jsonLineBreak(list.AfterExtra) < 0 {
		if !jsonComment(list.AfterExtra) {
			list.AfterExtra = nil
		}
	}
	if len(elements) == 0 {
		return
	}
	if next := to + kept; kept > 0 && from+kept == len(old) && next < len(elements) {
		// A comment behind what was the last element stays on its line.
		if end := jsonLineBreak(list.AfterExtra); end > 0 && jsonLineBreak(between) >= 0 {
			elements[next].BeforeExtra = slices.Concat(list.AfterExtra[:end], between)
			list.AfterExtra = list.AfterExtra[end:]
		}
	}
	switch last := &elements[len(elements)-1]; {
	case comma && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !comma && last.AfterExtra != nil:
		list.AfterExtra = slices.Concat(last.AfterExtra, list.AfterExtra)
		last.AfterExtra = nil
	}
}

// jsonSpacing is what a list has before its first element and before others.
func jsonSpacing(list *hujson.Array, spaced bool) (first, between hujson.Extra) {
	if len(list.Elements) == 0 {
		end := jsonLineBreak(list.AfterExtra)
		if end < 0 {
			return nil, jsonSpace(spaced)
		}
		indent := jsonIndent(list.AfterExtra[bytes.LastIndexByte(list.AfterExtra, '\n')+1:])
		unit := "  "
		if bytes.ContainsRune(indent, '\t') {
			unit = "\t"
		}
		between = slices.Concat(jsonLineEnd(list.AfterExtra[end:]), indent, hujson.Extra(unit))
		return between, between
	}
	if before := list.Elements[0].BeforeExtra; !jsonComment(before) {
		first = before
	}
	for _, e := range list.Elements {
		if end := jsonLineBreak(e.BeforeExtra); end >= 0 {
			indent := jsonIndent(e.BeforeExtra[bytes.LastIndexByte(e.BeforeExtra, '\n')+1:])
			between = slices.Concat(jsonLineEnd(e.BeforeExtra[end:]), indent)
			if first == nil && jsonComment(list.Elements[0].BeforeExtra) {
				first = between
			}
			return first, between
		}
	}
	if len(list.Elements) > 1 && !jsonComment(list.Elements[1].BeforeExtra) {
		return first, list.Elements[1].BeforeExtra
	}
	return first, jsonSpace(spaced)
}

// jsonCommonRun is the longest run of words that both lists have: it begins at
// from in the old one and at to in the new one.
func jsonCommonRun(before, after []string) (from, to, length int) {
	const most = 4_000_000 // comparisons; more is no command
	if len(before)*len(after) > most {
		return 0, 0, 0
	}
	// ending[j] is the length of the run that ends before after[j].
	ending := make([]int, len(after)+1)
	for i, word := range before {
		for j := len(after); j > 0; j-- {
			if after[j-1] != word {
				ending[j] = 0
				continue
			}
			ending[j] = ending[j-1] + 1
			if ending[j] > length {
				length = ending[j]
				from, to = i+1-length, j-length
			}
		}
	}
	return from, to, length
}

// jsonSpaced tells whether there is space behind the colon of a member, as all
// but the tersest writers put it.
func jsonSpaced(m hujson.ObjectMember) bool { return len(m.Value.BeforeExtra) > 0 }

func jsonSpace(spaced bool) hujson.Extra {
	if spaced {
		return hujson.Extra(" ")
	}
	return nil
}

// jsonComment tells whether there is a comment: nothing else between values has a
// slash.
func jsonComment(e hujson.Extra) bool { return bytes.IndexByte(e, '/') >= 0 }

// jsonLineBreak is the place of the first line break that is not in a block
// comment, -1 for none.
func jsonLineBreak(e hujson.Extra) int {
	for i := 0; i < len(e); i++ {
		if e[i] == '/' {
			if i = jsonCommentEnd(e, i); i >= len(e) {
				return -1
			}
		}
		if e[i] == '\n' {
			if i > 0 && e[i-1] == '\r' {
				return i - 1
			}
			return i
		}
	}
	return -1
}

// jsonLineEnd is the line break at the beginning of e.
func jsonLineEnd(e hujson.Extra) hujson.Extra {
	return e[:bytes.IndexByte(e, '\n')+1]
}

// jsonIndent are the spaces and tabs at the beginning of e.
func jsonIndent(e hujson.Extra) hujson.Extra {
	return e[:len(e)-len(bytes.TrimLeft(e, " \t"))]
}

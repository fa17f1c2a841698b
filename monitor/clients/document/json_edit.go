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

// jsonSpaced reports whether there is space behind the colon of a member, as all
// but the tersest writers put it.
func jsonSpaced(m hujson.ObjectMember) bool { return len(m.Value.BeforeExtra) > 0 }

// jsonComment reports whether there is a comment: nothing else between values has a
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

package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlString writes a string on one line: as a literal one when backslashes
// would have to be doubled and nothing speaks against it.
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, unicode.IsControl) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlArrayOf writes a list of strings on one line.
func tomlArrayOf(words []string) string {
	written := make([]string, len(words))
	for i, word := range words {
		written[i] = tomlString(word)
	}
	return "[" + strings.Join(written, ", ") + "]"
}

// tomlSource reads a value that is written on its own, with nothing around it.
func tomlSource(written string) (*tomlMember, error) {
	const key = "v="
	r := tomlReader{text: []byte(key + written), names: map[tomlName]int{}, nodes: []tomlNode{{kind: tomlTable}}}
	r.parser.Reset(r.text)
	if !r.parser.NextExpression() {
		return nil, errors.New("it is no value")
	}
	n := r.parser.Expression()
	whole := span{len(key), len(r.text)}
	if n.Kind != unstable.KeyValue || spanOf(n.Raw).end != whole.end || skipBlank(r.text, whole.start) != whole.start {
		return nil, errors.New("it is no value alone")
	}
	return newTOMLMember(n.Value(), whole), nil
}

// add is the edit that gives args to a server which has none: right behind its
// command, in the same style.
func (e *tomlEditor) add(s *tomlServer, args string) tomlEdit {
	m := s.members["command"]
	prefix := string(e.text[m.key.start:m.last.start])
	equals := string(e.text[m.last.end:m.value.start])
	if m.inline {
		return tomlEdit{span{m.value.end, m.value.end}, ", " + prefix + "args" + equals + args}
	}
	if before := strings.Index(equals, "="); before > 1 {
		// The equals signs stand below each other.
		equals = strings.Repeat(" ", m.last.end-m.last.start-len("args")) + equals
	}
	end, ending := lineEnd(e.text, m.value.end)
	if ending == "" {
		_, ending = lineEnd(e.text, 0)
	}
	if ending == "" {
		ending = "\n"
	}
	return tomlEdit{span{end, end}, ending + indentBefore(e.text, m.key.start) + prefix + "args" + equals + args}
}

// remove is the edit that takes out args. It takes back add, and what else it
// finds it leaves readable.
func (e *tomlEditor) remove(m *tomlMember) tomlEdit {
	switch {
	case !m.inline:
		start, behind := m.key.start-len(indentBefore(e.text, m.key.start)), skipBlank(e.text, m.value.end)
		end, ending := lineEnd(e.text, m.value.end)
		switch {
		case behind < end: // a comment stays
			return tomlEdit{at: span{m.key.start, behind}}
		case start > 0:
			start--
			if start > 0 && e.text[start-1] == '\r' {
				start--
			}
			return tomlEdit{at: span{start, end}}
		default:
			return tomlEdit{at: span{start, end + len(ending)}}
		}
	case m.before >= 0 && isComma(e.text[m.before:m.key.start]):
		return tomlEdit{at: span{m.before, m.value.end}}
	case m.after >= 0 && isComma(e.text[m.value.end:m.after]):
		return tomlEdit{at: span{m.key.start, m.after}}
	default: // with line breaks or comments around; no arguments are as good as no args
		return tomlEdit{m.value, "[]"}
	}
}

// isComma reports whether a text is a comma and spaces.
func isComma(text []byte) bool { return string(bytes.Trim(text, " \t")) == "," }

// lineEnd returns where the line of an offset ends, and how; "" at the end of the
// text.
func lineEnd(text []byte, offset int) (end int, ending string) {
	i := bytes.IndexByte(text[offset:], '\n')
	if i < 0 {
		return len(text), ""
	}
	end = offset + i
	if end > 0 && text[end-1] == '\r' {
		return end - 1, "\r\n"
	}
	return end, "\n"
}

// indentBefore returns the spaces and tabs in front of an offset.
func indentBefore(text []byte, offset int) string {
	start := offset
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	return string(text[start:offset])
}

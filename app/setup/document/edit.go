package document

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"lamplighter/monitor/clients"
)

// edit replaces a part of the text.
type edit struct {
	at   span
	text string
}

// edits make the command of a server what it is to be.
func (d *Document) edits(s *server) []edit {
	list := []edit{{s.command.value, s.now.Command}}
	switch {
	case s.args != nil && s.now.HasArgs:
		list = append(list, edit{s.args.value, s.now.Args})
	case s.args != nil:
		list = append(list, d.remove(s.args))
	case s.now.HasArgs:
		list = append(list, d.add(s, s.now.Args))
	}
	return list
}

// quote writes a string on one line. In TOML it is a literal one when backslashes
// would have to be doubled and nothing speaks against it.
func (d *Document) quote(s string) string {
	quoted := string(hujson.String(s))
	if d.format == clients.JSON {
		return quoted
	}
	if strings.Contains(s, `\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, unicode.IsControl) {
		return "'" + s + "'"
	}
	return strings.ReplaceAll(quoted, "\x7f", `\u007F`)
}

// space is what an entry has between two things on one line: nothing in the tersest
// JSON, which has nothing behind a colon.
func (d *Document) space(s *server) string {
	if d.format == clients.JSON && d.text[s.command.value.start-1] == ':' {
		return ""
	}
	return " "
}

// add is the edit that gives args to a server which has none: right behind its
// command, in the same style, on a line of its own when the command begins one.
func (d *Document) add(s *server, args string) edit {
	c := s.command
	indent, first := indentBefore(d.text, c.key.start)
	line := d.ending(c.value.end) + indent
	member := d.text[c.key.start:c.last.start] + "args" + d.text[c.last.end:c.value.start] + args
	if !c.braces {
		end, _ := lineEnd(d.text, c.value.end)
		return edit{span{end, end}, line + member}
	}
	if d.format == clients.JSON {
		member = `"args":` + d.space(s) + args
	}
	if !first {
		line = d.space(s)
	}
	return edit{span{c.value.end, c.value.end}, "," + line + member}
}

// remove is the edit that takes out args. It takes back add, and what else it
// finds it leaves readable.
func (d *Document) remove(m *member) edit {
	switch {
	case m.braces && m.before >= 0 && isComma(d.text[m.before:m.key.start]):
		return edit{at: span{m.before, m.value.end}}
	case m.braces && m.after >= 0 && isComma(d.text[m.value.end:m.after]):
		return edit{at: span{m.key.start, m.after}}
	case m.braces: // with comments around; no arguments are as good as no args
		return edit{m.value, "[]"}
	}
	indent, _ := indentBefore(d.text, m.key.start)
	start := m.key.start - len(indent)
	end, ending := lineEnd(d.text, m.value.end)
	switch behind := skipBlank(d.text, m.value.end); {
	case behind < end: // a comment stays
		return edit{at: span{m.key.start, behind}}
	case start > 0:
		return edit{at: span{len(strings.TrimSuffix(d.text[:start-1], "\r")), end}}
	}
	return edit{at: span{start, end + len(ending)}}
}

// isComma reports whether a text is a comma and white space.
func isComma(text string) bool { return strings.TrimSpace(text) == "," }

// lineEnd returns where the line of an offset ends, and how; "" at the end of the
// text.
func lineEnd(text string, offset int) (end int, ending string) {
	i := strings.IndexByte(text[offset:], '\n')
	if i < 0 {
		return len(text), ""
	}
	end = offset + i
	if end > 0 && text[end-1] == '\r' {
		return end - 1, "\r\n"
	}
	return end, "\n"
}

// ending is how the line of an offset ends, or else another one.
func (d *Document) ending(offset int) string {
	_, this := lineEnd(d.text, offset)
	_, first := lineEnd(d.text, 0)
	return cmp.Or(this, first, "\n")
}

// indentBefore returns the spaces and tabs in front of an offset, and whether they are
// the first on their line.
func indentBefore(text string, offset int) (indent string, first bool) {
	before := text[:offset]
	indent = before[len(strings.TrimRight(before, " \t")):]
	return indent, strings.HasSuffix(before[:offset-len(indent)], "\n")
}

// skipBlank returns the first offset from i on that is no space and no tab.
func skipBlank(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// skipComments skips spaces, tabs and comments.
func skipComments(text string, i int) int {
	for {
		i = skipBlank(text, i)
		end := clients.CommentEnd(text, i)
		if end == i {
			return i
		}
		i = end
	}
}

func hasComment(text string) bool { return strings.ContainsAny(text, "/#") }

// isLineEnd reports whether a line ends at i.
func isLineEnd(text string, i int) bool {
	return strings.HasPrefix(text[i:], "\n") || strings.HasPrefix(text[i:], "\r\n")
}

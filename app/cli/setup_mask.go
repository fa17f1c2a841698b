package cli

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/secret"
)

// literal is a name or a value in settings.
type literal struct {
	start, end int // its place, with the quotation marks
	text       string
	quoted     bool // it is a text
	name       bool
	path       []string // of names that lead to a value
	before     string   // the text before it in the same list, "" for none
}

// masked is settings with what looks like a secret left out: values of members
// with such a name, all that is below env and headers, and words in commands and
// comments that look like one. It keeps line for line; of what is not in shown
// nothing is left but the line breaks. Not ok: it cannot be understood, so nobody
// knows what is secret in it.
func masked(f clients.Format, content []byte, shown span) (text string, ok bool) {
	read := jsonLiterals
	if f == clients.TOML {
		read = tomlLiterals
	}
	mark := len(content)
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	mark -= len(content)
	list, ok := read(content)
	if !ok {
		return "", false
	}
	var b strings.Builder
	at := 0
	write := func(end int, show func(part string) string) {
		part := string(content[at:end])
		if end+mark < shown.from || at+mark > shown.to {
			b.WriteString(strings.Repeat("\n", strings.Count(part, "\n")))
		} else {
			b.WriteString(show(part))
		}
		at = end
	}
	between := func(part string) string { return maskedBetween(f, part) }
	for _, l := range list {
		if l.start < at || l.end < l.start || l.end > len(content) {
			return "", false // the parser has told nonsense
		}
		write(l.start, between)
		write(l.end, func(part string) string { return maskedLiteral(l, part) })
	}
	write(len(content), between)
	return b.String(), true
}

// span is a part of a text.
type span struct{ from, to int }

// differing are the parts of two texts that differ, with the lines around them
// that a diff shows.
func differing(a, b []byte) (inA, inB span) {
	shortest := min(len(a), len(b))
	head, tail := 0, 0
	for head < shortest && a[head] == b[head] {
		head++
	}
	for tail < shortest-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	around := func(text []byte) span {
		from, to := head, len(text)-tail
		for range linesAround + 2 {
			from = max(bytes.LastIndexByte(text[:from], '\n'), 0)
			if n := bytes.IndexByte(text[to:], '\n'); n >= 0 {
				to += n + 1
			} else {
				to = len(text)
			}
		}
		return span{from, to}
	}
	return around(a), around(b)
}

// maskedLiteral is a literal as it is shown.
func maskedLiteral(l literal, raw string) string {
	if l.name {
		return raw
	}
	show := l.text
	switch {
	case secretPath(l.path):
		show = secret.Hidden
		if raw == "true" || raw == "false" || raw == "null" {
			return raw
		}
	case l.quoted:
		show = secret.Behind(l.before, l.text)
	}
	if show == l.text {
		return raw
	}
	if !l.quoted {
		return secret.Hidden
	}
	quoted, err := monitor.JSON(show, "")
	if err != nil {
		return `"` + secret.Hidden + `"`
	}
	return strings.TrimSuffix(string(quoted), "\n") + strings.Repeat("\n", strings.Count(raw, "\n"))
}

// maskedBetween is what stands between literals: marks and comments.
func maskedBetween(f clients.Format, gap string) string {
	if !strings.ContainsAny(gap, "#/") {
		return gap
	}
	var b strings.Builder
	for gap != "" {
		start, end := commentIn(f, gap)
		b.WriteString(gap[:start])
		for i, line := range strings.Split(gap[start:end], "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(maskedComment(line))
		}
		gap = gap[end:]
	}
	return b.String()
}

// commentIn is the place of the first comment, at the end when there is none.
func commentIn(f clients.Format, gap string) (start, end int) {
	line := func(from int) int {
		if n := strings.IndexByte(gap[from:], '\n'); n >= 0 {
			return from + n
		}
		return len(gap)
	}
	if f == clients.TOML {
		if i := strings.IndexByte(gap, '#'); i >= 0 {
			return i, line(i)
		}
		return len(gap), len(gap)
	}
	i := strings.IndexByte(gap, '/')
	switch {
	case i < 0:
		return len(gap), len(gap)
	case strings.HasPrefix(gap[i:], "/*"):
		if n := strings.Index(gap[i+2:], "*/"); n >= 0 {
			return i, i + 2 + n + 2
		}
		return i, len(gap)
	}
	return i, line(i)
}

// Where in a comment something other than prose begins: settings that are
// switched off.
var settingsInComment = regexp.MustCompile(`["'=]|:(?:[^/]|$)`)

// maskedComment is a line of a comment. What is no prose may hold anything.
func maskedComment(line string) string {
	if at := settingsInComment.FindStringIndex(line); at != nil && strings.TrimSpace(line[at[1]:]) != "" {
		return line[:at[0]+1] + secret.Hidden
	}
	return secret.Text(line)
}

// secretPath reports whether what is below these names is secret. The names of
// servers and directories say nothing.
func secretPath(path []string) bool {
	for i, name := range path {
		server := i > 0 && serverTables[path[i-1]] && i < len(path)-1
		if server || strings.ContainsAny(name, `/\`) {
			continue
		}
		lower := strings.ToLower(name)
		if secret.Name(name) || i < len(path)-1 && (strings.HasPrefix(lower, "env") || strings.Contains(lower, "header")) || lower == "env" {
			return true
		}
	}
	return false
}

// serverTables are those whose members are called as users like.
var serverTables = map[string]bool{"mcpServers": true, "mcp_servers": true, "servers": true, "context_servers": true}

// jsonLiterals are those of JSON with comments, in their order.
func jsonLiterals(content []byte) ([]literal, bool) {
	// A comment has to end with its line, also the last one.
	value, err := hujson.Parse(append(bytes.Clone(content), '\n'))
	if err != nil {
		return nil, false
	}
	var list []literal
	var walk func(v *hujson.Value, path []string, before string)
	walk = func(v *hujson.Value, path []string, before string) {
		switch x := v.Value.(type) {
		case hujson.Literal:
			quoted := x.Kind() == '"'
			text := string(x)
			if quoted {
				text = x.String()
			}
			list = append(list, literal{start: v.StartOffset, end: v.EndOffset, text: text, quoted: quoted, path: path, before: before})
		case *hujson.Object:
			for i := range x.Members {
				m := &x.Members[i]
				name := ""
				if n, ok := m.Name.Value.(hujson.Literal); ok {
					name = n.String()
				}
				list = append(list, literal{start: m.Name.StartOffset, end: m.Name.EndOffset, name: true})
				walk(&m.Value, below(path, name), "")
			}
		case *hujson.Array:
			last := ""
			for i := range x.Elements {
				walk(&x.Elements[i], path, last)
				last = ""
				if n, ok := x.Elements[i].Value.(hujson.Literal); ok && n.Kind() == '"' {
					last = n.String()
				}
			}
		}
	}
	walk(&value, nil, "")
	return list, true
}

// tomlLiterals are those of TOML, in their order.
func tomlLiterals(content []byte) ([]literal, bool) {
	var list []literal
	var p unstable.Parser
	place := func(n *unstable.Node) literal {
		start := int(n.Raw.Offset)
		return literal{start: start, end: start + int(n.Raw.Length), text: string(n.Data)}
	}
	names := func(n *unstable.Node) (path []string) {
		for it := n.Key(); it.Next(); {
			l := place(it.Node())
			l.name = true
			list = append(list, l)
			path = append(path, l.text)
		}
		return path
	}
	var walk func(v *unstable.Node, path []string, before string)
	walk = func(v *unstable.Node, path []string, before string) {
		switch v.Kind {
		case unstable.InlineTable:
			for it := v.Children(); it.Next(); {
				if member := it.Node(); member.Kind == unstable.KeyValue {
					walk(member.Value(), below(path, names(member)...), "")
				}
			}
		case unstable.Array:
			last := ""
			for it := v.Children(); it.Next(); {
				walk(it.Node(), path, last)
				if last = ""; it.Node().Kind == unstable.String {
					last = string(it.Node().Data)
				}
			}
		case unstable.String, unstable.Bool, unstable.Float, unstable.Integer, unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
			l := place(v)
			l.quoted, l.path, l.before = v.Kind == unstable.String, path, before
			list = append(list, l)
		}
	}
	var table []string
	p.Reset(content)
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = names(e)
		case unstable.KeyValue:
			path := below(table, names(e)...)
			walk(e.Value(), path, "")
		}
	}
	return list, p.Error() == nil
}

// below is a path with more names behind it, in a place of its own.
func below(path []string, names ...string) []string {
	return append(append(make([]string, 0, len(path)+len(names)), path...), names...)
}

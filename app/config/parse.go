package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lamplighter/monitor"
)

// maxBrackets bounds the nesting that reaches the YAML parser, whose time
// grows with the square of the depth (65,000 brackets: 19 s).
const maxBrackets = 1000

// parse reads the text of a settings file. With problems the settings are
// Default. A byte order mark and CRLF line ends, as editors on Windows write
// them, are accepted.
func parse(text []byte) (Settings, []Problem) {
	settings := Default()
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if p := notText(text); p != nil {
		return Default(), []Problem{*p}
	}
	body, p := document(text)
	if p != nil {
		return Default(), []Problem{*p}
	}
	all := reflect.ValueOf(&settings).Elem()
	problems := fill(all, "", body)
	if len(problems) == 0 {
		problems = fits(all, "", 0, body)
	}
	if len(problems) > 0 {
		return Default(), problems
	}
	return settings, nil
}

// notText finds what no YAML parser explains well.
func notText(text []byte) *Problem {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return &Problem{Line: 1, Text: "is written in UTF-16; save it as UTF-8"}
	}
	line, brackets, indent := 1, 0, true
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			return &Problem{Line: line, Text: fmt.Sprintf("byte 0x%02x is not UTF-8 text; save the file as UTF-8", rest[0])}
		case r == '\n':
			line++
		case r == '\t' && indent:
			return &Problem{Line: line, Text: "starts with a tab; indent with spaces"}
		case (r < ' ' && r != '\t' && r != '\r') || (r >= 0x7f && r < 0xa0):
			return &Problem{Line: line, Text: fmt.Sprintf("control character 0x%02x; this is not a text file", r)}
		case r == '[' || r == '{':
			brackets++
		}
		if brackets > maxBrackets {
			return &Problem{Line: line, Text: "too many brackets for a settings file"}
		}
		indent = r == '\n' || (indent && r == ' ')
		rest = rest[n:]
	}
	return nil
}

// document parses text and returns the one mapping in it, nil when it says
// nothing.
func document(text []byte) (body *ast.MappingNode, problem *Problem) {
	// The parser is foreign code over foreign bytes: a panic in it is a broken
	// file, not a reason to end.
	defer func() {
		if r := recover(); r != nil {
			body, problem = nil, &Problem{Text: "is not valid YAML"}
		}
	}()
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, explain(err, 0, "")
	}
	for _, doc := range file.Docs {
		switch n := doc.Body.(type) {
		case nil, *ast.DirectiveNode, *ast.CommentGroupNode, *ast.NullNode:
		case *ast.MappingNode:
			if body != nil {
				return nil, &Problem{Line: line(n), Text: "starts a second document; keep all settings in one"}
			}
			body = n
		default:
			return nil, &Problem{Line: line(n), Text: "is not a setting; write lines of the form name: value"}
		}
	}
	return body, nil
}

// explain turns an error of the YAML library into a problem. Its own text
// spans several lines and shows an excerpt, which is nothing for a log line.
func explain(err error, at int, key string) *Problem {
	text := err.Error()
	var located yaml.Error
	if errors.As(err, &located) {
		text = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			at = t.Position.Line
		}
	}
	if key == "" {
		return &Problem{Line: at, Text: monitor.Clean(text)}
	}
	return &Problem{Line: at, Text: monitor.Clean(key + ": " + text)}
}

func keyName(entry *ast.MappingValueNode) string {
	switch entry.Key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return entry.Key.GetToken().Value
	}
	return entry.Key.String()
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

func unknown(key string, names []string) string {
	text := "unknown setting " + excerpt(key)
	if near := Nearest(key, names); near != "" {
		return text + "; did you mean " + strconv.Quote(near) + "?"
	}
	return text + "; known are " + strings.Join(names, ", ")
}

// Nearest returns the name that differs least from what was written, empty
// when none is near enough to be what was meant.
func Nearest(written string, names []string) string {
	if len(written) > 64 {
		return ""
	}
	written = strings.ReplaceAll(strings.ToLower(written), "-", "_")
	best, least := "", max(1, len(written)/3)+1
	for _, name := range names {
		if d := distance(written, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with
// their neighbour (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// excerpt quotes foreign text for a message, cut to a readable length.
func excerpt(s string) string {
	const most = 40
	s = monitor.Clean(s)
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}

package document

import (
	"reflect"
	"strings"
	"testing"
)

// Each is the value of the server "s", before Set and after it; putting back what
// braces of the server "s".
func TestJSONSet(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
		command             string
		args                []string
	}{
		{name: "one line", before: `{"command": "serena", "args": ["a"], "env": {}}`,
			after: `{"command": "/c", "args": ["connect", "--", "serena", "a"], "env": {}}`},
		{name: "terse", before: `{"args":["a","b"],"command":"serena"}`,
			after: `{"args":["connect","--","serena","a","b"],"command":"/c"}`},
		{name: "terse, one word", before: `{"args":["a"],"command":"serena"}`,
			after: `{"args":["connect","--","serena","a"],"command":"/c"}`},
		{name: "spaces within", before: `{ "command" : "serena", "args" : [ "a", "b" ] }`,
			after: `{ "command" : "/c", "args" : [ "connect", "--", "serena", "a", "b" ] }`},
		{name: "own lines", before: "{\n\t\"command\": \"serena\",\n\t\"args\": [\n\t\t\"a\",\n\t\t\"b\"\n\t]\n}",
			after: "{\n\t\"command\": \"/c\",\n\t\"args\": [\n\t\t\"connect\",\n\t\t\"--\",\n\t\t\"serena\",\n\t\t\"a\",\n\t\t\"b\"\n\t]\n}"},
		{name: "own lines, CRLF, commas at the end", before: "{\r\n  \"command\": \"serena\",\r\n  \"args\": [\r\n    \"a\",\r\n  ],\r\n}",
			after: "{\r\n  \"command\": \"/c\",\r\n  \"args\": [\r\n    \"connect\",\r\n    \"--\",\r\n    \"serena\",\r\n    \"a\",\r\n  ],\r\n}"},
		{name: "begun on the line", before: "{\"command\": \"serena\", \"args\": [\"a\",\n  \"b\"]}",
			after: "{\"command\": \"/c\", \"args\": [\"connect\",\n  \"--\",\n  \"serena\",\n  \"a\",\n  \"b\"]}"},
		{name: "pairs stay pairs", before: "{\"command\": \"serena\", \"args\": [\n  \"a\",\n  \"--p\", \".\"\n]}",
			after: "{\"command\": \"/c\", \"args\": [\n  \"connect\",\n  \"--\",\n  \"serena\",\n  \"a\",\n  \"--p\", \".\"\n]}", args: []string{"connect", "--", "serena", "a", "--p", "."}},
		{name: "comments in the list", before: "{\"command\": \"serena\", \"args\": [ // words\n  // first\n  \"a\", // a\n  \"b\" /* b */ // end\n]}",
			after:   "{\"command\": \"/c\", \"args\": [ // words\n  \"serena\",\n  // first\n  \"a\", // a\n  \"b\", /* b */ // end\n  \"--open\"\n]}",
			command: "/c", args: []string{"serena", "a", "b", "--open"}},
		{name: "a word for another", before: "{\"command\": \"/c\", \"args\": [ // words\n  \"a\", // a\n  // on\n  \"--page\", \"true\", // page\n  \"b\" // b\n  // end\n]}",
			after: "{\"command\": \"/c\", \"args\": [ // words\n  \"a\", // a\n  // on\n  \"--page\", \"false\", // page\n  \"b\" // b\n  // end\n]}", args: []string{"a", "--page", "false", "b"}},
		{name: "a word between", before: "{\"command\": \"/c\", \"args\": [\n  \"connect\", // first\n  \"--\", \"serena\" /* s */,\n  \"a\" // a\n]}",
			after: "{\"command\": \"/c\", \"args\": [\n  \"connect\", // first\n  \"--or-direct\",\n  \"--\", \"serena\" /* s */,\n  \"a\" // a\n]}", args: []string{"connect", "--or-direct", "--", "serena", "a"}},
		{name: "words in several places", before: "{\"command\": \"/c\", \"args\": [\n\t\"a\", // a\n\t\"b\", // b\n\t\"c\", // c\n\t\"d\", // d\n]}",
			after: "{\"command\": \"/c\", \"args\": [\n\t\"a\", // a\n\t\"x\",\n\t\"b\", // b\n\t\"d\", // d\n\t\"y\",\n]}", args: []string{"a", "x", "b", "d", "y"}},
		{name: "behind a comment on the first line", before: "{\"command\": \"/c\", \"args\": [\"a\", // a\n  \"b\"]}",
			after: "{\"command\": \"/c\", \"args\": [\"a\" // a\n ]}", args: []string{"a"}},
		{name: "fewer words", before: "{\"command\": \"/c\", \"args\": [\n  \"connect\",\n  \"--\",\n  \"serena\",\n  \"a\", // a\n]}",
			after: "{\"command\": \"serena\", \"args\": [\n  \"a\", // a\n]}", command: "serena", args: []string{"a"}},
		{name: "fewer words on the line", before: `{"command": "/c", "args": ["connect", "--", "serena", "a" /* a */, "b"]}`,
			after: `{"command": "serena", "args": ["a" /* a */]}`, command: "serena", args: []string{"a"}},
		{name: "fewer words, none of the first line", before: "{\"command\": \"/c\", \"args\": [\"connect\",\n   \"a\",\n   \"b\"]}",
			after: "{\"command\": \"serena\", \"args\": [\"a\",\n   \"b\"]}", command: "serena", args: []string{"a", "b"}},
		{name: "no words", before: "{\"command\": \"/c\", \"args\": [\n  \"a\",\n]}", after: `{"command": "b", "args": []}`, command: "b", args: []string{}},
		{name: "no words, a comment", before: "{\"command\": \"/c\", \"args\": [\n  \"a\",\n // none\n]}", after: "{\"command\": \"b\", \"args\": [\n // none\n]}", command: "b", args: []string{}},
		{name: "empty list", before: `{"command": "serena", "args": []}`, after: `{"command": "/c", "args": ["connect", "--", "serena"]}`},
		{name: "empty list with space", before: `{"command": "serena", "args": [ ]}`, after: `{"command": "/c", "args": ["connect", "--", "serena" ]}`},
		{name: "empty list over lines", before: "{\n\t\"command\": \"serena\",\n\t\"args\": [\n\t]}", after: "{\n\t\"command\": \"/c\",\n\t\"args\": [\n\t\t\"b\",\n\t\t\"c\"\n\t]}", args: []string{"b", "c"}},
		{name: "empty list with a comment", before: "{\"command\": \"serena\", \"args\": [/* none */]}", after: "{\"command\": \"/c\", \"args\": [\"b\", \"c\"/* none */]}", args: []string{"b", "c"}},
		{name: "no list", before: `{"command": "serena", "env": {}}`, after: `{"command": "/c", "args": ["connect", "--", "serena"], "env": {}}`},
		{name: "no list, last", before: `{ "command": "serena" }`, after: `{ "command": "/c", "args": ["connect", "--", "serena"] }`},
		{name: "no list, last, comma", before: `{"command": "serena",}`, after: `{"command": "/c", "args": ["connect", "--", "serena"],}`},
		{name: "no list, terse", before: `{"env":{},"command":"serena"}`, after: `{"env":{},"command":"/c","args":["connect","--","serena"]}`},
		{name: "no list, own line", before: "{\r\n  \"command\": \"serena\",\r\n  \"env\": {}\r\n}",
			after: "{\r\n  \"command\": \"/c\",\r\n  \"args\": [\"connect\", \"--\", \"serena\"],\r\n  \"env\": {}\r\n}"},
		{name: "no list, own line, last", before: "{\n\t// it\n\t\"command\": \"serena\" // s\n\t// end\n}",
			after: "{\n\t// it\n\t\"command\": \"/c\",\n\t\"args\": [\"connect\", \"--\", \"serena\"] // s\n\t// end\n}"},
		{name: "no list, own line, last, comma", before: "{\n  \"command\": \"serena\" , /* s\n */ // t\n}",
			after: "{\n  \"command\": \"/c\",\n  \"args\": [\"connect\", \"--\", \"serena\"] , /* s\n */ // t\n}"},
		{name: "no list, shared line", before: "{\n  \"command\": \"serena\", \"env\": {}\n}",
			after: "{\n  \"command\": \"/c\",\n  \"args\": [\"connect\", \"--\", \"serena\"], \"env\": {}\n}"},
		{name: "no list and none wanted", before: "{\"command\": \"serena\"}", after: "{\"command\": \"x\"}", command: "x", args: []string{}},
		{name: "the same again", before: "{\"command\": \"\\u0061\\/b\", \"args\": [ \"\\u0061\" ,\n\"b\"/**/, ]}",
			after: "{\"command\": \"\\u0061\\/b\", \"args\": [ \"\\u0061\" ,\n\"b\"/**/, ]}", command: "a/b", args: []string{"a", "b"}},
		{name: "characters", before: `{"command": "serena", "args": []}`,
			after: `{"command": "C:\\<é>\u0001\t", "args": ["&\"\n", "😀", ""]}`, command: "C:\\<é>\x01\t", args: []string{"&\"\n", "😀", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			frame := func(s string) string {
				return "{\"x\": 1e3, \"mcpServers\": {\"r\": {\"command\": \"r\"},\n \"s\": " + s + " , /* c */ \"t\": {\"command\": \"t\", \"args\": [\"1\"]}}}"
			}
			d := mustParseJSON(t, frame(test.before))
			path := []string{"mcpServers", "s"}
			old := d.Servers()
			if test.command == "" {
				test.command = "/c"
			}
			if test.args == nil {
				test.args = append([]string{"connect", "--", "serena"}, old[1].Args...)
			}
			source, err := d.Source(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Set(path, test.command, test.args); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != frame(test.after) {
				t.Errorf("it is\n%s\nnot\n%s", got, frame(test.after))
			}
			got, read := d.Servers(), mustParseJSON(t, string(d.Bytes())).Servers()
			for i := range read {
				read[i].Line = got[i].Line // that of what was parsed
			}
			if !reflect.DeepEqual(got, read) {
				t.Errorf("the entries are\n%+v\nand, read again,\n%+v", got, read)
			}
			if !reflect.DeepEqual(got[0], old[0]) || got[1].Command != test.command || strings.Join(got[1].Args, "\x00") != strings.Join(test.args, "\x00") {
				t.Errorf("the entries are %+v", got)
			}
			read2 := mustParseJSON(t, string(d.Bytes()))
			for _, d := range []*Document{d, read2} {
				if err := d.Restore(path, source); err != nil {
					t.Fatal(err)
				}
				if got := string(d.Bytes()); got != frame(test.before) {
					t.Errorf("put back, it is\n%s\nnot\n%s", got, frame(test.before))
				}
			}
		})
	}
}

// The file was written anew by others since args were put in.
func TestJSONRestoreReformatted(t *testing.T) {
	for _, test := range []struct{ name, before, after string }{
		{"one line", `{"command": "/c", "args": ["a"], "env": {}}`, `{"command": "x", "env": {}}`},
		{"first", `{"args": ["a"], "command": "/c"}`, `{"command": "x"}`},
		{"last", `{"command": "/c", "env": {}, "args": ["a"]}`, `{"command": "x", "env": {}}`},
		{"last with comma", `{"command": "/c","args": ["a"],}`, `{"command": "x",}`},
		{"last, space before commas", `{"command": "/c" , "args": ["a"] }`, `{"command": "x" }`},
		{"over lines", "{\n  \"command\": \"/c\",\n  \"args\": [\n    \"a\"\n  ]\n}", "{\n  \"command\": \"x\"\n}"},
		{"first of lines", "{\n  \"args\": [],\n  \"command\": \"/c\"\n}", "{\n  \"command\": \"x\"\n}"},
		{"others on its line", "{\n  \"command\": \"/c\",\n  \"args\": [], \"env\": {}\n}", "{\n  \"command\": \"x\", \"env\": {}\n}"},
		{"brace on its line", "{\n  \"command\": \"/c\",\n  \"args\": []}", "{\n  \"command\": \"x\"}"},
		{"behind others", "{\r\n  \"command\": \"/c\", \"args\": [],\r\n  \"env\": {}\r\n}", "{\r\n  \"command\": \"x\",\r\n  \"env\": {}\r\n}"},
		{"comma first", "{\n    \"command\": \"/c\"\n  , \"args\": []\n  , \"env\": {}\n}", "{\n    \"command\": \"x\"\n  , \"env\": {}\n}"},
		{"comments", "{\n  \"command\": \"/c\", // c\n  // a\n  \"args\": [] /* b */, // e\n  \"env\": {}\n}", "{\n  \"command\": \"x\", // c\n  // a\n  \"args\": [] /* b */, // e\n  \"env\": {}\n}"},
		{"there is none", `{"command": "/c"}`, `{"command": "x"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := mustParseJSON(t, `{"mcpServers": {"s": `+test.before+`}}`)
			if err := d.Restore([]string{"mcpServers", "s"}, Source{Command: `"x"`}); err != nil {
				t.Fatal(err)
			}
			if got, want := string(d.Bytes()), `{"mcpServers": {"s": `+test.after+`}}`; got != want {
				t.Errorf("it is\n%s\nnot\n%s", got, want)
			}
			mustParseJSON(t, string(d.Bytes()))
		})
	}
}

func TestJSONRestorePutsArgsBack(t *testing.T) {
	d := mustParseJSON(t, "{\"mcpServers\": {\"s\": {\n  \"command\": \"/c\",\n  \"env\": {}}}}")
	if err := d.Restore([]string{"mcpServers", "s"}, Source{Command: `"\u0061"`, Args: "[ // x\n\"1\",]", HasArgs: true}); err != nil {
		t.Fatal(err)
	}
	want := "{\"mcpServers\": {\"s\": {\n  \"command\": \"\\u0061\",\n  \"args\": [ // x\n\"1\",],\n  \"env\": {}}}}"
	if got := string(d.Bytes()); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
}

func TestJSONRestoreRefuses(t *testing.T) {
	text := `{"mcpServers": {"s": {"command": "/c", "args": ["a"]}}}`
	d := mustParseJSON(t, text)
	path := []string{"mcpServers", "s"}
	for _, s := range []Source{
		{},
		{Command: `x`},
		{Command: `"x`},
		{Command: `""`},
		{Command: `"x" `},
		{Command: `"x", "env": {}`},
		{Command: `["x"]`},
		{Command: `1`},
		{Command: "\"\xff\""},
		{Command: `"\ud800"`},
		{Command: `"x"`, HasArgs: true},
		{Command: `"x"`, HasArgs: true, Args: `null`},
		{Command: `"x"`, HasArgs: true, Args: `["a"`},
		{Command: `"x"`, HasArgs: true, Args: `["a", 1]`},
		{Command: `"x"`, HasArgs: true, Args: `["a"] // b` + "\n"},
		{Command: `"x"`, HasArgs: true, Args: ` ["a"]`},
		{Command: `"x"`, HasArgs: true, Args: `{"a": "b"}`},
		{Command: `"x"`, HasArgs: true, Args: `["a"], "b": ["c"]`},
		{Command: `"x"`, HasArgs: true, Args: strings.Repeat("[", 10_000_000)},
	} {
		if err := d.Restore(path, s); err == nil {
			t.Errorf("%.80q was put back", s.Command+s.Args)
		}
	}
	for _, path := range [][]string{nil, {"mcpServers"}, {"mcpServers", "S"}, {"mcpServers", "s", "command"}, {`mcpServers""s`}} {
		if err := d.Set(path, "x", nil); err == nil {
			t.Errorf("%q was set", path)
		}
	}
	for _, words := range [][]string{{""}, {"\xff"}, {"a\x00"}, {"a", "\xc3"}, {"a", "b", "\x00"}} {
		if err := d.Set(path, words[0], words[1:]); err == nil {
			t.Errorf("%q was written", words)
		}
	}
	if string(d.Bytes()) != text {
		t.Errorf("it is %s", d.Bytes())
	}
}

func TestJSONErrorsAreSafeToShow(t *testing.T) {
	d := mustParseJSON(t, "{}")
	err := d.Set([]string{"mcpServers", "\x1b[2J" + strings.Repeat("é", 500)}, "x", nil)
	if err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
		t.Errorf("%q", err)
	}
}

package document

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/clients"
)

// jsonTestTables are what the tests look for.
func jsonTestTables() [][]string {
	return [][]string{{"mcpServers"}, {"projects", "*", "mcpServers"}}
}

func mustParseJSON(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse(clients.JSON, []byte(text), jsonTestTables())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("parsed only, it is\n%q, not\n%q", got, text)
	}
	return d
}

func TestJSONEntries(t *testing.T) {
	d := mustParseJSON(t, "\uFEFF// mine\r\n{\r\n"+
		`  "projects": {"/w.x/a": {"mcpServers": {"b.c": {"command": "x"}}}, "/none": {"history": []}, "/odd": 7, "*": {"mcpServers": {}}},`+"\r\n"+
		`  "theme": 1, "theme": 2,`+"\r\n"+
		`  "mcp\u0053ervers": {`+"\r\n"+
		`    "serena": { /* s */`+"\r\n"+
		`      "command": "C:\\bin\\ser\u0065na", // "command": 3`+"\r\n"+
		`      "args": ["start", "\ud83d\ude00é",], "env": {"A": "1", "A": "2"}, "cwd": "/w", "disabled": true,`+"\r\n"+
		`    },`+"\r\n"+
		`    "": {"httpUrl": "https://a/mcp", "url": "", "enabled": false},`+"\r\n"+
		`    "w": {"serverUrl": "https://b", "disabled": false, "enabled": true, "args": []},`+"\r\n"+
		`    "7": 7, "list": [], "null": null,`+"\r\n"+
		`    "c": {"command": ["x"]}, "d": {"command": null}, "e": {"command": ""}, "f": {},`+"\r\n"+
		`    "g": {"command": "x", "args": "y"}, "h": {"command": "x", "args": ["y", 1]}, "i": {"command": "x", "args": null},`+"\r\n"+
		`    "j": {"command": "x", "url": "https://c"}, "k": {"command": "\ud83d"}, "l": {"command": "x", "args": ["\u0000"]},`+"\r\n"+
		`    "m": {"command": "\ude00\ud83d"}, "n": {"command": "\\ud83d"},`+"\r\n"+
		`    "o": {"command": {"path": "x", "args": ["y"], "env": {}}}, "p": {"command": {"args": ["y"]}}`+"\r\n"+
		"  },\r\n}\r\n// the end")
	in := func(name string) []string { return []string{"mcpServers", name} }
	want := []clients.Server{
		{Path: []string{"projects", "/w.x/a", "mcpServers", "b.c"}, Line: 3, Command: "x"},
		{Path: in("serena"), Line: 6, Command: `C:\bin\serena`, Args: []string{"start", "😀é"}, Dir: "/w", Off: true},
		{Path: in(""), Line: 10, URL: "https://a/mcp", Off: true},
		{Path: in("w"), Line: 11, URL: "https://b"},
		{Path: in("7"), Line: 12, Odd: "it is no object or table"},
		{Path: in("list"), Line: 12, Odd: "it is no object or table"},
		{Path: in("null"), Line: 12, Odd: "it is no object or table"},
		{Path: in("c"), Line: 13, Command: "x", Args: []string{}, List: true},
		{Path: in("d"), Line: 13, Odd: "it has neither a command nor an address"},
		{Path: in("e"), Line: 13, Odd: "its command is empty"},
		{Path: in("f"), Line: 13, Odd: "it has neither a command nor an address"},
		{Path: in("g"), Line: 14, Odd: "its args are no list of strings"},
		{Path: in("h"), Line: 14, Odd: "its args are no list of strings"},
		{Path: in("i"), Line: 14, Odd: "its args are no list of strings"},
		{Path: in("j"), Line: 15, URL: "https://c", Odd: "it has both a command and an address"},
		{Path: in("k"), Line: 15, Odd: "its command holds a character that no command can hold"},
		{Path: in("l"), Line: 15, Odd: "its args hold a character that no command can hold"},
		{Path: in("m"), Line: 16, Odd: "its command holds a character that no command can hold"},
		{Path: in("n"), Line: 16, Command: `\ud83d`},
		{Path: in("o"), Line: 17, Command: "x", Args: []string{"y"}, List: true},
		{Path: in("p"), Line: 17, Odd: "its command is no string"},
	}
	got := d.Servers()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("entry %d is not as wanted: %+v\n%+v", i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
	for _, e := range got {
		if e.Odd == "" && e.URL == "" {
			continue
		}
		before := d.Bytes()
		if err := d.Set(e.Path, "x", nil); err == nil {
			t.Errorf("%v was set", e.Path)
		}
		if _, err := d.Source(e.Path); err == nil {
			t.Errorf("%v has a source", e.Path)
		}
		if err := d.Restore(e.Path, Source{Command: `"x"`}); err == nil {
			t.Errorf("%v was restored", e.Path)
		}
		if !bytes.Equal(before, d.Bytes()) {
			t.Fatal("an edit that failed has changed something")
		}
	}
}

func TestJSONTables(t *testing.T) {
	text := `{"servers": {"a": {"command": "x"}}, "b": {"command": "y"}, "mcp": {"servers": {"c": {"command": "z"}}}, "n": null}`
	for _, test := range []struct {
		tables [][]string
		want   []string
	}{
		{nil, nil},
		{[][]string{{"none"}, {"none"}, {"mcp", "none"}}, nil},
		{[][]string{{"mcp", "servers"}, {"servers"}}, []string{"a", "c"}},
		{[][]string{{"servers"}, {"*"}, {"servers"}}, []string{"a", "command", "servers"}},
		{[][]string{{"*", "servers"}}, []string{"c"}},
		{[][]string{{}}, []string{"servers", "b", "mcp", "n"}},
	} {
		checkServers(t, clients.JSON, text, test.tables, test.want, "")
	}
}

// checkServers looks for the names of the servers of a text, or for an error that says
// something.
func checkServers(t *testing.T, f clients.Format, text string, tables [][]string, want []string, says string) {
	t.Helper()
	d, err := Parse(f, []byte(text), tables)
	if says != "" || err != nil {
		if err == nil || says == "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%v in %s: error %v, want %q", tables, text, err, says)
		}
		return
	}
	var got []string
	for _, e := range d.Servers() {
		got = append(got, e.Path[len(e.Path)-1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v in %s: %q, not %q", tables, text, got, want)
	}
}

// What is no table is left out beside one.
func TestJSONTablesThatAreNone(t *testing.T) {
	tables := [][]string{{"mcpServers"}, {"projects", "*", "mcpServers"}, {"mcp", "servers"}, {"servers"}}
	for _, test := range []struct {
		text string
		want []string
		says string
	}{
		{text: `{"mcpServers": {"a": {}}, "servers": ["eu"]}`, want: []string{"a"}},
		{text: `{"servers": "http://x", "mcpServers": {"a": {}}, "mcp": {"servers": 1}}`, want: []string{"a"}},
		{text: `{"mcpServers": {"a": {}}, "mcp": [], "projects": 1}`, want: []string{"a"}},
		{text: `{"projects": {"/v": {"mcpServers": null}, "/w": {"mcpServers": {"b": {}}}}}`, want: []string{"b"}},
		{text: `{"projects": {"/v": {"mcpServers": 7}, "/w": {"mcpServers": {"b": {}}}}}`, want: []string{"b"}},
		{text: `{"mcpServers": null, "projects": null, "mcp": {"servers": null}}`},
		{text: `{"mcpServers": null, "servers": {"c": {}}}`, want: []string{"c"}},
		{text: `{"mcpServers": {}, "servers": 1}`},
		{text: `{"mcpServers": [], "servers": 1}`, says: `line 1, column 2: "mcpServers" is no object`},
		{text: `{"servers": 1, "mcpServers": []}`, says: `line 1, column 2: "servers" is no object`},
		{text: `{"mcpServers": {}, "servers": 1, "servers": 1}`, says: "a second time"},
		{text: `null`, says: "these settings are no object"},
	} {
		checkServers(t, clients.JSON, test.text, tables, test.want, test.says)
	}
}

func TestIsServer(t *testing.T) {
	d := mustParseJSON(t, `{"mcpServers": {"a": {}, "b": 1, "c": {"env": {}, "args": []}, "d": {"command": 7}, "e": {"url": "x"}, "f": {"command": "x", "url": "y"}, "g": {"command": "x"}}}`)
	var got []string
	for _, e := range d.Servers() {
		if e.IsServer() {
			got = append(got, e.Path[1])
		}
	}
	if want := []string{"d", "e", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("%q are servers, not %q", got, want)
	}
}

func TestJSONNothing(t *testing.T) {
	for _, text := range []string{"", "\uFEFF", " \t\r\n", "// nothing", "\uFEFF// nothing\r\n/* yet */", "{}", "{\"mcpServers\":{}}// x", "{\"a\": \"" + strings.Repeat(",", maxValues+1) + "\"}"} {
		d := mustParseJSON(t, text)
		if got := d.Servers(); len(got) != 0 {
			t.Errorf("%.60q has %v", text, got)
		}
		if d.Set([]string{"mcpServers", "a"}, "x", nil) == nil || string(d.Bytes()) != text {
			t.Errorf("%q was set", text)
		}
		if _, err := d.Source(nil); err == nil {
			t.Errorf("%q has a source", text)
		}
	}
}

func TestJSONSyntax(t *testing.T) {
	for _, test := range []struct {
		text         string
		line, column int
		says         string
	}{
		{"{", 1, 2, "unexpected EOF"},
		{"{\n\"a\": 1", 2, 7, "unexpected EOF"},
		{"{\n\"é😀\": sk-secret}", 2, 7, "invalid character 's' at start of value"},
		{"\uFEFF{\"é\" 1}", 1, 6, "invalid character '1' after object name"},
		{"{\r\n  \"a\": \"sk-\\q\"}", 2, 12, "invalid escape sequence in string"},
		{"{\r\n  \"a\": \"b\r\n\"}", 2, 10, "in string"},
		{"{} x", 1, 4, "invalid character 'x'"}, {"{} {}", 1, 3, "there is a second value"},
		{"{}\x00", 1, 3, `invalid character '\x00'`},
		{"{\"a\x00\": 1}", 1, 4, "in string"},
		{"{\n /* b", 2, 2, "invalid character '/'"}, {"{} /*/", 1, 4, "invalid character '/'"},
		{"{\"a\": 'b'}", 1, 7, `invalid character '\''`},
		{"{,}", 1, 2, "invalid character ','"},
		{"[1}", 1, 3, "invalid character '}'"},
		{"{a: 1}", 1, 2, "invalid character 'a'"},
		{"{\n\"\xff\": 1}", 2, 2, "this is not UTF-8"},
		{"// \xc3\n{}", 1, 4, "this is not UTF-8"},
		{"\xff\xfe{\x00}\x00", 1, 1, "this is not UTF-8"},
		{"{\x00\"\x00", 1, 2, `invalid character '\x00'`},
		{"{\n} // \u2028", 2, 6, `invalid character '\u2028' in line comment`},
		{"[]", 1, 1, "these settings are no object"},
		{" \"x\"", 1, 1, "these settings are no object"},
		{"{\n \"mcpServers\": []}", 2, 2, `"mcpServers" is no object`},
		{"{\"projects\": 1}", 1, 2, `"projects" is no object`},
		{"{\"projects\": {\"a\": {\"mcpServers\": 1}}}", 1, 21, `"mcpServers" is no object`},
		{"{\"mcpServers\": {},\n \"mcp\\u0053ervers\": {}}", 2, 2, `"mcpServers" is there a second time`},
		{"{\"projects\": {},\n \"projects\": {}}", 2, 2, `"projects" is there a second time`},
		{"{\"projects\": {\"/é\": 1,\n \"/é\": {}}}", 2, 2, `"/é" is there a second time`},
		{"{\"projects\": {\"/\": {\"mcpServers\": {}, \"é\": 1, \"mcpServers\": {}}}}", 1, 47, `"mcpServers" is there a second time`},
		{"{\"mcpServers\": {\"a\": 1,\n  \"a\": 2}}", 2, 3, `"a" is there a second time`},
		{"{\"mcpServers\": {\"a\": {\"command\": \"\",\n  \"command\": 2}}}", 2, 3, `"command" is there a second time`},
		{"{\"mcpServers\": {\"\\u001b[2J\": 1, \"\\u001b[2J\": 2}}", 1, 33, `"[2J" is there a second time`},
		{"{\"mcpServers\": {\"" + strings.Repeat("n", 100) + "\": 1, \"" + strings.Repeat("n", 100) + "\": 2}}", 1, 124, `…nnn`},
		{strings.Repeat("[", 10_000) + "\n[", 2, 1, "exceeded max depth"},
		{`{"` + strings.Repeat(`a":{"`, 8_000_000), 1, 1 + 5*10_000, "exceeded max depth"},
		{`{"a": [` + strings.Repeat("[],", 5_000_000) + "]}", 1, 1, "there are more than 2000000 values"},
		{`{"a": [` + strings.Repeat(strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+",", 3000) + "]}", 1, 1, "there are more than 2000000 values"},
		{"{" + strings.Repeat(" ", 8_000_000) + strings.Repeat("/", 8_000_000) + strings.Repeat("\n", 8_000_000), 8_000_001, 1, "unexpected EOF"},
		{`"` + strings.Repeat(`\`, 32_000_000), 1, 32_000_002, "unexpected EOF"},
		{"/*" + strings.Repeat(" /*", 8_000_000), 1, 1, "invalid character '/'"},
	} {
		_, err := Parse(clients.JSON, []byte(test.text), jsonTestTables())
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60q: %v", test.text, err)
			continue
		}
		if syntax.Line != test.line || syntax.Column != test.column || !strings.Contains(syntax.Text, test.says) {
			t.Errorf("%.60q: %v, want %d:%d %s", test.text, err, test.line, test.column, test.says)
		}
		if len(syntax.Text) > 200 || strings.Contains(syntax.Text, "sk-") || strings.Contains(syntax.Text, "\x1b") {
			t.Errorf("%.60q: it shows %q", test.text, syntax.Text)
		}
	}
}

// Brackets in strings and comments are none.
func TestJSONDepth(t *testing.T) {
	deep := strings.Repeat("[", 5000)
	mustParseJSON(t, `{"a\\": "`+deep+`\"`+deep+`" /* `+deep+" */ // "+deep+"\n}")
	mustParseJSON(t, `{"a": `+strings.Repeat("[", 1000-1)+strings.Repeat("]", 1000-1)+"}")
}

func TestJSONLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\"history\": [\n")
	for b.Len() < 16<<20 {
		b.WriteString("  {\"display\": \"" + strings.Repeat("word ", 40) + "\", \"n\": 1}, // c\n")
	}
	b.WriteString("],\n\"mcpServers\": {")
	const n = 1000
	for i := range n {
		b.WriteString("\n\"" + strings.Repeat("s", i+1) + "\": {\"command\": \"serena\"},")
	}
	b.WriteString("}}")
	d := mustParseJSON(t, b.String())
	sources := map[string]Source{}
	for _, e := range d.Servers() {
		s, err := d.Source(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		sources[Key(e.Path)] = s
		if err := d.Set(e.Path, "/opt/lamplighter-connect", []string{"connect", "--", "serena"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Servers(); len(got) != n || len(got[n-1].Args) != 3 {
		t.Fatalf("%d entries", len(got))
	}
	for _, e := range d.Servers() {
		if err := d.Restore(e.Path, sources[Key(e.Path)]); err != nil {
			t.Fatal(err)
		}
	}
	if string(d.Bytes()) != b.String() {
		t.Error("it is not as before")
	}
}

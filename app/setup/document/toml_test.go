package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/clients"
)

var codexTables = [][]string{{"mcp_servers"}, {"profiles", "*", "mcp_servers"}}

// byCodex is what `codex mcp add` of codex-cli 0.169.0 has written into an empty
// home, called with --env, with --url, without arguments, and with quotation
// marks, backslashes and a line break in arguments.
const byCodex = `[mcp_servers.serena]
command = "uvx"
args = ["--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server", "--context", "codex", "--project", '''C:\Users\Ann Other\it's "x"''']

[mcp_servers.other]
command = "npx"
args = ["-y", "some"]

[mcp_servers.other.env]
API_KEY = "abc"

[mcp_servers.noargs]
command = "prog"

[mcp_servers.remote]
url = "https://example.com/mcp"

[mcp_servers.dotted]
command = "serena"
args = ["start-mcp-server", """
a
b\u0001"""", 'C:\a']
`

func parsedTOML(t testing.TB, text string, tables [][]string) *Document {
	t.Helper()
	d, err := Parse(clients.TOML, []byte(text), tables)
	if err != nil {
		t.Fatalf("Parse(%.300q): %v", text, err)
	}
	return d
}

// tomlShort is an entry on one line.
func tomlShort(e clients.Server) string {
	parts := []string{strings.Join(e.Path, "/"), e.Command, strings.Join(e.Args, ","), e.Dir, e.URL, e.Odd}
	if e.Off {
		parts = append(parts, "off")
	}
	return strings.TrimRight(strings.Join(parts, "|"), "|")
}

func TestTOMLEntries(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":   {"", nil},
		"nothing": {"model = 'gpt'\n", nil},
		"by codex": {byCodex, []string{
			`mcp_servers/serena|uvx|--from,git+https://github.com/oraios/serena,serena,start-mcp-server,--context,codex,--project,C:\Users\Ann Other\it's "x"`,
			"mcp_servers/other|npx|-y,some", "mcp_servers/noargs|prog", "mcp_servers/remote||||https://example.com/mcp",
			"mcp_servers/dotted|serena|start-mcp-server,a\nb\x01\",C:\\a",
		}},
		"name in quotation marks":       {"[mcp_servers.\"my serena\"]\ncommand='s'\n", []string{"mcp_servers/my serena|s"}},
		"name with escapes":             {"[mcp_servers.'a.b'.env]\nA='1'\n[mcp_servers.\"a\\u002eb\"]\ncommand='s'", []string{"mcp_servers/a.b|s"}},
		"empty name":                    {"[mcp_servers.'']\ncommand='s'\n", []string{"mcp_servers/|s"}},
		"key in quotation marks":        {"[ mcp_servers . s ]\n\"command\" = 's'\n'args'=['a']\n", []string{"mcp_servers/s|s|a"}},
		"dotted at the root":            {"mcp_servers.s.command = 's'\nmcp_servers . s . args = ['a']\nmcp_servers.t.url='u'", []string{"mcp_servers/s|s|a", "mcp_servers/t||||u"}},
		"dotted in the table":           {"[mcp_servers]\ns.command='s'\ns.args=[]\ns.env.A='1'\n", []string{"mcp_servers/s|s"}},
		"inline":                        {"[mcp_servers]\ns = { command = 's', args = ['a', 'b'], env = {A='1'} }\n", []string{"mcp_servers/s|s|a,b"}},
		"inline, all of it":             {"mcp_servers = {s={command='s'},t.command='t',t.args=['x']}", []string{"mcp_servers/s|s", "mcp_servers/t|t|x"}},
		"inline over lines":             {"mcp_servers.s = {\n command = 's', # c\n args = ['a'],\n}\n", []string{"mcp_servers/s|s|a"}},
		"several lines":                 {"[mcp_servers.s]\ncommand='''\ns'''\nargs = [ # c ]\n  'a', # ] b\n  # 'no',\n  \"\"\"\nx\\\n   y]\"\"\",\n]", []string{"mcp_servers/s|s|a,xy]"}},
		"args first":                    {"[mcp_servers.s]\nargs=['a']\ncommand='s'\n", []string{"mcp_servers/s|s|a"}},
		"order of the file":             {"[mcp_servers.z]\ncommand='z'\n[mcp_servers.a]\ncommand='a'\n", []string{"mcp_servers/z|z", "mcp_servers/a|a"}},
		"any name":                      {"[profiles.x.mcp_servers.s]\ncommand='s'\n[profiles]\ny = 1\n[[profiles.z]]\nmcp_servers={}\n", []string{"profiles/x/mcp_servers/s|s"}},
		"CRLF":                          {"[mcp_servers.s]\r\ncommand='s'\r\nargs=[\r\n'a',\r\n]\r\n", []string{"mcp_servers/s|s|a"}},
		"byte order mark":               {"\uFEFF[mcp_servers.s]\ncommand='s'", []string{"mcp_servers/s|s"}},
		"directory":                     {"[mcp_servers.s]\ncommand='s'\ncwd='/d'\n", []string{"mcp_servers/s|s||/d"}},
		"off":                           {"[mcp_servers.s]\ncommand='s'\nenabled=false\n[mcp_servers.t]\ncommand='t'\ndisabled = true\n", []string{"mcp_servers/s|s|||||off", "mcp_servers/t|t|||||off"}},
		"on":                            {"[mcp_servers.s]\ncommand='s'\nenabled=true\n[mcp_servers.t]\ncommand='t'\ndisabled = 'true'\n", []string{"mcp_servers/s|s", "mcp_servers/t|t"}},
		"sub-table only":                {"[mcp_servers.s.env]\ncommand='no'\n", []string{"mcp_servers/s|||||it has neither a command nor an address"}},
		"no table":                      {"[mcp_servers]\ns = 'x'\nt = ['x']\n", []string{"mcp_servers/s|||||it is no object or table", "mcp_servers/t|||||it is no object or table"}},
		"list of tables":                {"[[mcp_servers.s]]\ncommand='s'\n[[mcp_servers.s]]\ncommand='t'\n[mcp_servers.t]\ncommand='t'", []string{"mcp_servers/s|||||it is no object or table", "mcp_servers/t|t"}},
		"list of inline tables":         {"[mcp_servers]\ns = [{command='s'}, {command='t'}]", []string{"mcp_servers/s|||||it is no object or table"}},
		"command is a list":             {"[mcp_servers.s]\ncommand=['s']\nargs=['a']\n", []string{"mcp_servers/s|||||its command is no string"}},
		"command is a table":            {"[mcp_servers.s.command]\na=1\n", []string{"mcp_servers/s|||||its command is no string"}},
		"command is a dotted table":     {"[mcp_servers.s]\ncommand.a=1\n", []string{"mcp_servers/s|||||its command is no string"}},
		"command is a list of tables":   {"[[mcp_servers.s.command]]\na=1\n[[mcp_servers.s.command]]\na=1\n", []string{"mcp_servers/s|||||its command is no string"}},
		"command is empty":              {"[mcp_servers.s]\ncommand=''\n", []string{"mcp_servers/s|||||its command is empty"}},
		"command with a NUL":            {"[mcp_servers.s]\ncommand=\"\\u0000\"\n", []string{"mcp_servers/s|||||its command holds a character that no command can hold"}},
		"args are a string":             {"[mcp_servers.s]\ncommand='s'\nargs='a b'\n", []string{"mcp_servers/s|||||its args are no list of strings"}},
		"args with a number":            {"[mcp_servers.s]\ncommand='s'\nargs=['a',1]\n", []string{"mcp_servers/s|||||its args are no list of strings"}},
		"args with a list":              {"[mcp_servers.s]\ncommand='s'\nargs=[['a']]\n", []string{"mcp_servers/s|||||its args are no list of strings"}},
		"args with a NUL":               {"[mcp_servers.s]\ncommand='s'\nargs=[\"\\u0000\"]\n", []string{"mcp_servers/s|||||its args hold a character that no command can hold"}},
		"args are a table":              {"[mcp_servers.s]\ncommand='s'\n[mcp_servers.s.args]\n", []string{"mcp_servers/s|||||its args are no list of strings"}},
		"both a command and an address": {"[mcp_servers.s]\ncommand='s'\nurl='u'\n", []string{"mcp_servers/s||||u|it has both a command and an address"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := parsedTOML(t, c.text, codexTables)
			var got []string
			for _, e := range d.Servers() {
				got = append(got, tomlShort(e))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("entries\n%q, want\n%q", got, c.want)
			}
			if string(d.Bytes()) != c.text {
				t.Errorf("bytes %q, want %q", d.Bytes(), c.text)
			}
		})
	}
}

func TestTOMLEntryLines(t *testing.T) {
	d := parsedTOML(t, "\uFEFF# c\r\n[mcp_servers.a]\r\ncommand='''\r\n\r\nx'''\r\n[mcp_servers]\nb.url='x'\nc = {\ncommand='x'}", codexTables)
	var lines []int
	for _, e := range d.Servers() {
		lines = append(lines, e.Line)
	}
	if !slices.Equal(lines, []int{2, 7, 8}) {
		t.Errorf("lines %v, want 2, 7, 8", lines)
	}
}

func TestTOMLSyntaxErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text         string
		line, column int
		says         string
	}{
		"no value":                          {"a = 1\nb = \n", 2, 5, "start of value"},
		"cut off":                           {"a = [1,\n", 1, 8, "array"},
		"cut off in a string":               {"a = \"é", 1, 7, "string"},
		"column of characters":              {"a = 'äöü' x\n", 1, 11, "newline"},
		"behind a byte order mark":          {"\uFEFFa a\n", 1, 3, "="},
		"JSON":                              {"{\"a\": 1}", 1, 1, "key"},
		"not UTF-8":                         {"a = 1\n# \xff\n", 2, 3, "this is not UTF-8"},
		"not UTF-8, in a string":            {"a = 'é\xff'\n", 1, 7, "this is not UTF-8"},
		"Latin 1":                           {"a = 1\nb\xfc = 2\n", 2, 2, "this is not UTF-8"},
		"UTF-16":                            {"\xff\xfea\x00=\x001\x00", 1, 1, "this is not UTF-8"},
		"NUL":                               {"a = 'x\x00'\n", 1, 7, "control"},
		"NUL between":                       {"a = 1\n\x00", 2, 1, "key"},
		"lone carriage return":              {"a = 1\rb = 2\n", 1, 6, "newline"},
		"deep nesting":                      {"a = " + strings.Repeat("[", 1<<16), 1, 10005, "nested"},
		"deep inline tables":                {"a = " + strings.Repeat("{a=", 1<<16), 1, 30005, "nested"},
		"float too large":                   {"a = -1e999\n", 1, 5, "float"},
		"number too large":                  {"a = 1\nb = [99999999999999999999]\n", 2, 6, "too large"},
		"impossible date":                   {"a = { b = 2025-02-30 }\n", 1, 19, "date"},
		"key twice":                         {"[mcp_servers.s]\ncommand='s'\ncommand='t'\n", 3, 1, "key command is already defined"},
		"key twice, written otherwise":      {"[mcp_servers.s]\ncommand='s'\n\"comm\\u0061nd\"='t'\n", 3, 1, "key command is already defined"},
		"key twice, elsewhere":              {"[x]\na.b=1\na.b.c=1\n", 3, 1, "key b is already defined"},
		"key twice, inline":                 {"x=[{a=1},{a=1,b={c=1,c=2}}]\n", 1, 1, "key c is already defined"},
		"table twice":                       {"[mcp_servers.s]\n[mcp_servers.t]\n[mcp_servers.s]\n", 3, 2, "table s already exists"},
		"inline table is extended":          {"mcp_servers={}\n[mcp_servers.s]\n", 2, 2, "already exists as a value"},
		"inline table is extended by a key": {"[mcp_servers]\ns={command='s'}\ns.args=[]\n", 3, 1, "key s is already defined"},
		"dotted table again":                {"mcp_servers.s.command='s'\n[mcp_servers.s]\n", 2, 2, "table s already exists"},
		"table and list":                    {"[a]\n[[a]]\n", 2, 3, "should be an array table"},
		"servers are no table":              {"mcp_servers = 1\n", 1, 1, `"mcp_servers" is no object or table`},
		"servers are a list":                {"[[mcp_servers]]\n", 1, 3, `"mcp_servers" is no object or table`},
		"servers of a profile":              {"[profiles.x]\nmcp_servers = []\n", 2, 1, "is no object or table"},
		"control characters in names":       {"\"\\u001b[2J\"=1\n\"\\u001b[2J\"=1\n", 2, 1, "key [2J is already defined"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(clients.TOML, []byte(c.text), codexTables)
			var wrong *SyntaxError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v, want a SyntaxError", err)
			}
			if wrong.Line != c.line || wrong.Column != c.column || !strings.Contains(wrong.Text, c.says) {
				t.Errorf("%v, want line %d, column %d with %q", wrong, c.line, c.column, c.says)
			}
		})
	}
}

// What is no table is left out beside one.
func TestTOMLTablesThatAreNone(t *testing.T) {
	tables := [][]string{{"mcp_servers"}, {"profiles", "*", "mcp_servers"}, {"mcpServers"}, {"servers"}}
	for _, c := range []struct {
		text string
		want []string
		says string
	}{
		{text: "[mcpServers.a]\n[[servers]]\nip='x'\n[[servers]]\n", want: []string{"a"}},
		{text: "servers='http://x'\n[mcpServers.a]\n", want: []string{"a"}},
		{text: "servers=['x']\nmcp_servers={a={}}\n", want: []string{"a"}},
		{text: "servers=[{b={}}]\nprofiles=1\nmcp_servers.a.url='x'\n", want: []string{"a"}},
		{text: "profiles.x.mcp_servers=1\nprofiles.y.mcp_servers.b={}\n", want: []string{"b"}},
		{text: "servers=1\n[mcp_servers]\n"},
		{text: "servers=1\nmcp_servers={}\n"},
		{text: "[[servers]]\n[[mcp_servers]]\n", says: `"servers" is no object or table`},
		{text: "mcp_servers=1\nservers=1\n", says: `"mcp_servers" is no object or table`},
	} {
		checkServers(t, clients.TOML, c.text, tables, c.want, c.says)
	}
}

// TestTOMLSet writes connect and a program in front of what is there, and puts it
// back.
func TestTOMLSet(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"one line": {
			"[mcp_servers.s] # c\n command = \"serena\" # d\n args = [\"a\"] # e\n env = { A = \"1\" }\n",
			"[mcp_servers.s] # c\n command = \"/x/connect\" # d\n args = [\"connect\", \"serena\", \"a\"] # e\n env = { A = \"1\" }\n",
		},
		"empty args": {
			"[mcp_servers.s]\ncommand = \"serena\"\nargs = [ ]\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [\"connect\", \"serena\" ]\n",
		},
		"spaces": {
			"mcp_servers.s={args=[ 'a','b' ],command='serena'}",
			"mcp_servers.s={args=[ \"connect\",\"serena\",'a','b' ],command=\"/x/connect\"}",
		},
		"several lines": {
			"[mcp_servers.s]\ncommand = \"serena\"\nargs = [\n\t\"a\", # why\n\t# \"not\",\n\t'b'\n]\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [\n\t\"connect\",\n\t\"serena\",\n\t\"a\", # why\n\t# \"not\",\n\t'b'\n]\n",
		},
		"several lines, the first behind the bracket": {
			"[mcp_servers.s]\ncommand = \"serena\"\nargs = ['a',\n        'b']\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [\"connect\",\n        \"serena\",\n        'a',\n        'b']\n",
		},
		"several lines, comment above the first": {
			"[mcp_servers.s]\r\ncommand = \"serena\"\r\nargs = [ # all\r\n  # a\r\n  'a', 'b',\r\n]",
			"[mcp_servers.s]\r\ncommand = \"/x/connect\"\r\nargs = [ # all\r\n  \"connect\",\r\n  \"serena\",\r\n  # a\r\n  'a', 'b',\r\n]",
		},
		"several lines, none there": {
			"  [mcp_servers.s]\n  command = \"serena\"\n  args = [\n    # 'a',\n  ]\n",
			"  [mcp_servers.s]\n  command = \"/x/connect\"\n  args = [\n    \"connect\",\n    \"serena\"\n    # 'a',\n  ]\n",
		},
		"leading commas": {
			"[mcp_servers.s]\ncommand = \"serena\"\nargs = [ 'a' # a\n       , 'b' # b\n       ]\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [ \"connect\",\n  \"serena\",\n  'a' # a\n       , 'b' # b\n       ]\n",
		},
		"no args": {
			"[mcp_servers.s]\ncommand = \"serena\"\n[mcp_servers.t]\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [\"connect\", \"serena\"]\n[mcp_servers.t]\n",
		},
		"no args, comment": {
			"[mcp_servers.s]\n\tcommand='serena' # c  \n\n# d\n",
			"[mcp_servers.s]\n\tcommand=\"/x/connect\" # c  \n\targs=[\"connect\", \"serena\"]\n\n# d\n",
		},
		"no args, end of the file": {
			"[mcp_servers.s]\r\ncommand = 'serena' ",
			"[mcp_servers.s]\r\ncommand = \"/x/connect\" \r\nargs = [\"connect\", \"serena\"]",
		},
		"no args, one line": {
			"mcp_servers.s.command = 'serena'",
			"mcp_servers.s.command = \"/x/connect\"\nmcp_servers.s.args = [\"connect\", \"serena\"]",
		},
		"no args, byte order mark": {
			"\uFEFFmcp_servers . \"s\" . command = 'serena'\r\nx=1\r\n",
			"\uFEFFmcp_servers . \"s\" . command = \"/x/connect\"\r\nmcp_servers . \"s\" . args = [\"connect\", \"serena\"]\r\nx=1\r\n",
		},
		"no args, inline": {
			"[mcp_servers]\ns = { command = 'serena', env = {} } # c\n",
			"[mcp_servers]\ns = { command = \"/x/connect\", args = [\"connect\", \"serena\"], env = {} } # c\n",
		},
		"no args, inline dotted": {
			"mcp_servers={s.command='serena'}\n",
			"mcp_servers={s.command=\"/x/connect\", s.args=[\"connect\", \"serena\"]}\n",
		},
		"no args, inline over lines": {
			"mcp_servers.s = {\n  command = 'serena' # c\n  , env = {}, # d\n}\n",
			"mcp_servers.s = {\n  command = \"/x/connect\",\n  args = [\"connect\", \"serena\"] # c\n  , env = {}, # d\n}\n",
		},
		"no args, string over lines": {
			"[mcp_servers.s]\ncommand = '''\nserena''' # c\n[x]\n",
			"[mcp_servers.s]\ncommand = \"/x/connect\" # c\nargs = [\"connect\", \"serena\"]\n[x]\n",
		},
		"args first": {
			"[mcp_servers.s]\nargs = []\ncommand = 'serena'\n",
			"[mcp_servers.s]\nargs = [\"connect\", \"serena\"]\ncommand = \"/x/connect\"\n",
		},
		"sub-tables": {
			"[mcp_servers.s.env]\nA = '1'\n[mcp_servers.s]\ncommand = 'serena'\n[mcp_servers.s.tools.x]\nargs = ['n']\n",
			"[mcp_servers.s.env]\nA = '1'\n[mcp_servers.s]\ncommand = \"/x/connect\"\nargs = [\"connect\", \"serena\"]\n[mcp_servers.s.tools.x]\nargs = ['n']\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := parsedTOML(t, c.before, codexTables)
			path := []string{"mcp_servers", "s"}
			source, err := d.Source(path)
			if err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, e := range d.Servers() {
				if slices.Equal(e.Path, path) {
					args = e.Args
				}
			}
			if err := d.Set(path, "/x/connect", slices.Concat([]string{"connect", "serena"}, args)); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != c.after {
				t.Errorf("after Set\n%q, want\n%q", got, c.after)
			}
			again := parsedTOML(t, string(d.Bytes()), codexTables)
			if err := again.Restore(path, source); err != nil {
				t.Fatal(err)
			}
			if got := string(again.Bytes()); got != c.before {
				t.Errorf("after Restore\n%q, want\n%q", got, c.before)
			}
		})
	}
}

// TestTOMLLarge reads and edits a large file, which must not take the square of
// its size: that would be hours.
func TestTOMLLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("[mcp_servers.s]\ncommand='c'\n[many]\n")
	for i := 0; b.Len() < 128<<10; i++ {
		fmt.Fprintf(&b, "%d=1\n", i)
	}
	d := parsedTOML(t, b.String(), codexTables)
	if err := d.Set([]string{"mcp_servers", "s"}, "x", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(b.String(), "'c'", "\"x\"\nargs=[\"a\"]", 1); string(d.Bytes()) != want {
		t.Error("Set has changed something else")
	}
	if _, err := Parse(clients.TOML, make([]byte, 256<<10+1), codexTables); err == nil || !strings.Contains(err.Error(), "256 KiB") {
		t.Errorf("too large: %v", err)
	}
}

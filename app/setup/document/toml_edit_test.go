package document

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/clients"
)

// TestTOMLSetWords changes the words of a list in all ways.
func TestTOMLSetWords(t *testing.T) {
	const head = "[mcp_servers.s]\ncommand = 'c'\nargs = "
	for name, c := range map[string]struct {
		before string
		args   string // separated by spaces
		after  string
	}{
		"in place":           {"['a', 'b', 'c']", "a x c", `['a', "x", 'c']`},
		"in place, comments": {"[\n 'a', # a\n 'b', # b\n 'c' # c\n]", "a x y", "[\n 'a', # a\n \"x\", # b\n \"y\" # c\n]"},
		"appended, lines":    {"[\n  'a', # a\n  'b' # b\n  # end\n]", "a b x", "[\n  'a', # a\n  'b', # b\n  \"x\"\n  # end\n]"},
		"around":             {"[\n\t'a',\n\t'b',\n]", "x a b y", "[\n\t\"x\",\n\t'a',\n\t'b',\n\t\"y\",\n]"},
		"last away, bracket": {"['a', # a\n 'b']", "a", "['a' # a\n]"},
		"all away, comment":  {"[ # c\n 'a']", "", "[ # c\n]"},
		"other order":        {"['a', 'b']", "b a", `["b", "a"]`},
		"comment at the end": {"['a' # a\n]", "a x", "['a', # a\n  \"x\"\n]"},
		"middle away":        {"['a', # a\n 'b', 'c']", "a c", "['a', # a\n 'c']"},
		"late comma":         {"['a' # a\n , 'b']", "x", "[\"x\" # a\n ]"},
		"string over lines":  {"['''\na''', \"\"\"\nb\"\"\"]", "x a b", "[\"x\", '''\na''', \"\"\"\nb\"\"\"]"},
		"only a comment":     {"[ # c\n]", "x", "[ # c\n  \"x\"\n]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parsedTOML(t, head+c.before+"\n", codexTables)
			if err := d.Set([]string{"mcp_servers", "s"}, "c", strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(strings.TrimPrefix(string(d.Bytes()), head), "\n"); got != c.after {
				t.Errorf("args\n%q, want\n%q", got, c.after)
			}
		})
	}
}

func TestTOMLStrings(t *testing.T) {
	for s, want := range map[string]string{
		"":                   `""`,
		"it's":               `"it's"`,
		`say "x"`:            `"say \"x\""`,
		`C:\Users\Ann "O"`:   `'C:\Users\Ann "O"'`,
		`C:\it's`:            `"C:\\it's"`,
		"C:\\a\n\t\r\b\f":    `"C:\\a\n\t\r\b\f"`,
		"\x1b[1m\x7f\u0085é": "\"\\u001b[1m\\u007F\u0085é\"",
		"😀\u2028<&>":         "\"😀\u2028<&>\"",
	} {
		d := parsedTOML(t, "[mcp_servers.s]\ncommand = 'c'", codexTables)
		path := []string{"mcp_servers", "s"}
		if err := d.Set(path, "c", []string{s}); err != nil {
			t.Fatal(err)
		}
		if source, err := d.Source(path); err != nil || source.Args != "["+want+"]" {
			t.Errorf("%q is written %s (%v), want %s", s, source.Args, err, want)
		}
		if got := d.Servers()[0].Args; !slices.Equal(got, []string{s}) {
			t.Errorf("%s is read %q, want %q", want, got, s)
		}
	}
}

// TestTOMLRestoreRemovesArgs takes args out that were edited since they were
// added.
func TestTOMLRestoreRemovesArgs(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"comment behind": {"[mcp_servers.s]\ncommand='x'\n args=[] # why\ny=1\n", "[mcp_servers.s]\ncommand='c'\n # why\ny=1\n"},
		"in between":     {"[mcp_servers.s]\ncommand='x'\n\ny=1\nargs=[\n'a']  \nz=1", "[mcp_servers.s]\ncommand='c'\n\ny=1\nz=1"},
		"first line":     {"mcp_servers.s.args=[]\r\nmcp_servers.s.command='x'", "mcp_servers.s.command='c'"},
		"inline first":   {"mcp_servers.s={ args=[], command='x' }", "mcp_servers.s={ command='c' }"},
		"inline, lines":  {"mcp_servers.s={ command='x', # c\nargs=['a'] # d\n, }", "mcp_servers.s={ command='c', # c\nargs=[] # d\n, }"},
		"inline, comma":  {"mcp_servers.s={ command='x', args=[], }", "mcp_servers.s={ command='c', }"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parsedTOML(t, c.before, codexTables)
			if err := d.Restore([]string{"mcp_servers", "s"}, Source{Command: "'c'"}); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != c.after {
				t.Errorf("after Restore\n%q, want\n%q", got, c.after)
			}
		})
	}
}

func TestTOMLRestorePutsArgsBack(t *testing.T) {
	d := parsedTOML(t, "[mcp_servers.s]\ncommand = 'x' # c\n", codexTables)
	if err := d.Restore([]string{"mcp_servers", "s"}, Source{"'c'", "[ # d\n 'a' ]", true}); err != nil {
		t.Fatal(err)
	}
	want := "[mcp_servers.s]\ncommand = 'c' # c\nargs = [ # d\n 'a' ]\n"
	if got := string(d.Bytes()); got != want {
		t.Errorf("after Restore\n%q, want\n%q", got, want)
	}
}

func TestTOMLRefuses(t *testing.T) {
	const text = "[mcp_servers.s]\ncommand = 's'\n[mcp_servers.odd]\ncommand = 1\n[mcp_servers.far]\nurl = 'u'\n"
	d := parsedTOML(t, text, codexTables)
	at := func(name string) []string { return []string{"mcp_servers", name} }
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"set what is not there":     {d.Set(at("no"), "c", nil), "the entry mcp_servers › no cannot be changed: it is not in the settings"},
		"set a table":               {d.Set(at("s")[:1], "c", nil), "not in the settings"},
		"set what is odd":           {d.Set(at("odd"), "c", nil), "its command is no string"},
		"set what is far":           {d.Set(at("far"), "c", nil), "it has no command"},
		"set nothing":               {d.Set(at("s"), "", nil), "no command to write"},
		"set a NUL":                 {d.Set(at("s"), "c", []string{"\x00"}), "NUL"},
		"set bytes":                 {d.Set(at("s"), "\xff", nil), "not UTF-8"},
		"restore what is odd":       {d.Restore(at("odd"), Source{Command: "'c'"}), "cannot be put back: its command is no string"},
		"restore nothing":           {d.Restore(at("s"), Source{}), "no command with a list of strings"},
		"restore a word":            {d.Restore(at("s"), Source{Command: "c"}), "no command with a list of strings"},
		"restore a number":          {d.Restore(at("s"), Source{Command: "1"}), "no command with a list of strings"},
		"restore with more":         {d.Restore(at("s"), Source{Command: "'c'\nx = 1"}), "no command with a list of strings"},
		"restore with a line end":   {d.Restore(at("s"), Source{Command: "'c'\n"}), "no command with a list of strings"},
		"restore with a comment":    {d.Restore(at("s"), Source{Command: "'c' # c"}), "no command with a list of strings"},
		"restore with spaces":       {d.Restore(at("s"), Source{Command: " 'c'"}), "no command with a list of strings"},
		"restore an empty command":  {d.Restore(at("s"), Source{Command: "''"}), "no command with a list of strings"},
		"restore args of numbers":   {d.Restore(at("s"), Source{"'c'", "[1]", true}), "no command with a list of strings"},
		"restore args of nothing":   {d.Restore(at("s"), Source{"'c'", "", true}), "no command with a list of strings"},
		"restore a string for args": {d.Restore(at("s"), Source{"'c'", "'a'", true}), "no command with a list of strings"},
		"restore args with more":    {d.Restore(at("s"), Source{"'c'", "[] ]", true}), "no command with a list of strings"},
		"restore args cut off":      {d.Restore(at("s"), Source{"'c'", "['a'", true}), "no command with a list of strings"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: error %v, want one with %q", name, c.err, c.says)
		}
	}
	if _, err := d.Source(at("odd")); err == nil {
		t.Error("the source of an odd entry is returned")
	}
	if string(d.Bytes()) != text {
		t.Errorf("refusing has changed the text to %q", d.Bytes())
	}
}

// Edits that touch, and second ones of an entry, come one after the other.
func TestTOMLEditsThatTouch(t *testing.T) {
	const text = `mcp_servers = {a.command = "x", b.args = ["1"], b.command = "y"}`
	doc, err := Parse(clients.TOML, []byte(text), [][]string{{"mcp_servers"}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := []string{"mcp_servers", "a"}, []string{"mcp_servers", "b"}
	before, err := doc.Source(b)
	if err != nil {
		t.Fatal(err)
	}
	without := before
	without.Args, without.HasArgs = "", false
	for _, err := range []error{doc.Set(a, "x", []string{"2"}), doc.Restore(b, without), doc.Set(b, "z", nil), doc.Set(a, "v", []string{"3"})} {
		if err != nil {
			t.Error(err)
		}
	}
	if got, want := string(doc.Bytes()), `mcp_servers = {a.command = "v", a.args = ["3"], b.command = "z"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"lamplighter/monitor/clients"
)

// jsonWriter writes settings as no sane person would. Each comment outside of an
// args list is there once and is to be there forever; one in a list as long as no
// word goes.
type jsonWriter struct {
	t    *rapid.T
	b    strings.Builder
	keep []string
	list bool     // within args
	args []string // the comments in lists
}

func (w *jsonWriter) space() {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"})
	for range rapid.IntRange(0, 3).Draw(w.t, "spaces") {
		switch rapid.IntRange(0, 7).Draw(w.t, "space") {
		case 0, 1:
			w.b.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t", "\r"}).Draw(w.t, "blank"))
		case 2, 3, 4:
			w.b.WriteString(eol.Draw(w.t, "line end") + rapid.SampledFrom([]string{"", "  ", "\t\t"}).Draw(w.t, "indent"))
		case 5:
			w.b.WriteString(w.comment("//") + eol.Draw(w.t, "line end"))
		case 6:
			w.b.WriteString(w.comment("/*") + "*/")
		case 7:
			w.b.WriteString(w.comment("/*") + eol.Draw(w.t, "line end") + "// \" */")
		}
	}
}

func (w *jsonWriter) comment(start string) string {
	if w.list {
		c := fmt.Sprintf("%sé [{\"%d\"* ", start, len(w.args))
		w.args = append(w.args, c)
		return c
	}
	c := fmt.Sprintf("%s{[\"%d\",* ", start, len(w.keep))
	w.keep = append(w.keep, c)
	return c
}

// members writes what stands between two brackets, with space and commas.
func (w *jsonWriter) members(brackets string, n int, each func(int)) {
	w.b.WriteByte(brackets[0])
	for i := range n {
		w.space()
		each(i)
		w.space()
		if i < n-1 || rapid.Bool().Draw(w.t, "comma at the end") {
			w.b.WriteByte(',')
		}
	}
	w.space()
	w.b.WriteByte(brackets[1])
}

func (w *jsonWriter) value(depth int) {
	kind := 4
	if depth > 0 {
		kind = 6
	}
	switch rapid.IntRange(0, kind).Draw(w.t, "kind") {
	case 0:
		w.string(rapid.String().Draw(w.t, "string"))
	case 1:
		w.b.WriteString(rapid.SampledFrom([]string{"0", "-1.50e+9", "1E400"}).Draw(w.t, "number"))
	case 2, 3, 4:
		w.b.WriteString(rapid.SampledFrom([]string{"true", "false", "null"}).Draw(w.t, "literal"))
	case 5:
		w.members("[]", rapid.IntRange(0, 3).Draw(w.t, "n"), func(int) { w.value(depth - 1) })
	case 6:
		w.members("{}", rapid.IntRange(0, 3).Draw(w.t, "n"), func(i int) {
			w.string(rapid.SampledFrom([]string{"a", "b", "args", "command"}).Draw(w.t, "name"))
			w.colon()
			w.value(depth - 1)
		})
	}
}

func (w *jsonWriter) colon() {
	w.space()
	w.b.WriteByte(':')
	w.space()
}

// string writes a string, now and then with more escapes than it needs.
func (w *jsonWriter) string(s string) {
	if rapid.IntRange(0, 3).Draw(w.t, "escaped") > 0 {
		w.b.Write(hujson.String(s))
		return
	}
	b, _ := json.Marshal(s)
	w.b.Write(b)
}

func (w *jsonWriter) word() { w.string(rapid.SampledFrom(jsonTestWords()).Draw(w.t, "word")) }

func jsonTestWords() []string {
	return []string{"connect", "--", "serena", "start-mcp-server", "", "C:\\a b", "é😀\u2028", "<&>\"\t"}
}

// entry writes a server that can be edited.
func (w *jsonWriter) entry() {
	names := []string{"command"}
	for _, name := range []string{"args", "env", "cwd", "disabled", "type"} {
		if rapid.Bool().Draw(w.t, name) {
			names = append(names, name)
		}
	}
	names = rapid.Permutation(names).Draw(w.t, "order")
	w.members("{}", len(names), func(i int) {
		w.string(names[i])
		w.colon()
		switch names[i] {
		case "command":
			w.string(rapid.SampledFrom([]string{"serena", "/bin/x", "ü"}).Draw(w.t, "command"))
		case "args":
			w.list = true
			w.members("[]", rapid.IntRange(0, 5).Draw(w.t, "words"), func(int) { w.word() })
			w.list = false
		default:
			w.value(2)
		}
	})
}

func (w *jsonWriter) settings() string {
	w.b.WriteString(rapid.SampledFrom([]string{"", "\uFEFF"}).Draw(w.t, "mark"))
	w.space()
	parts := rapid.Permutation([]string{"mcpServers", "projects", "x", "x"}).Draw(w.t, "parts")
	servers := func() {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"serena", "a.b", "*", "", "é \""}), 0, 3, rapid.ID[string]).Draw(w.t, "servers")
		w.members("{}", len(names), func(i int) {
			w.string(names[i])
			w.colon()
			if rapid.IntRange(0, 4).Draw(w.t, "odd") == 0 {
				w.value(2)
				return
			}
			w.entry()
		})
	}
	w.members("{}", rapid.IntRange(1, len(parts)).Draw(w.t, "n"), func(i int) {
		w.string(parts[i])
		w.colon()
		switch parts[i] {
		case "mcpServers":
			servers()
		case "projects":
			w.members("{}", 1, func(int) {
				w.string("/w")
				w.colon()
				w.members("{}", 1, func(int) {
					w.string("mcpServers")
					w.colon()
					servers()
				})
			})
		default:
			w.value(3)
		}
	})
	w.space()
	return w.b.String()
}

func TestJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &jsonWriter{t: t}
		text := w.settings()
		d, err := Parse(clients.JSON, []byte(text), jsonTestTables())
		if err != nil {
			// The values of the writer may hold a name twice.
			if strings.Contains(err.Error(), "a second time") {
				return
			}
			t.Fatalf("%v\n%q", err, text)
		}
		for _, e := range d.Servers() {
			if e.Odd != "" || e.Command == "" || e.List {
				continue
			}
			args := rapid.SliceOfN(rapid.SampledFrom(jsonTestWords()), 0, 6).Draw(t, "args")
			keep := w.keep
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				args = slices.Concat([]string{"connect", "--", e.Command}, e.Args, args)
				keep = slices.Concat(keep, w.args)
			case 1: // between
				at := rapid.IntRange(0, len(e.Args)).Draw(t, "at")
				args = slices.Concat(e.Args[:at], args, e.Args[at:])
				keep = slices.Concat(keep, w.args)
			case 2: // words for others
				args = slices.Clone(e.Args)
				for i := range args {
					if rapid.Bool().Draw(t, "other") {
						args[i] = fmt.Sprint("other", i)
					}
				}
				keep = slices.Concat(keep, w.args)
			}
			after := jsonRoundTrip(t, []byte(text), e.Path, rapid.SampledFrom([]string{"/c", e.Command}).Draw(t, "becomes"), args)
			for _, c := range keep {
				if !bytes.Contains(after, []byte(c)) {
					t.Fatalf("the comment %q is gone:\n%q\n%q", c, text, after)
				}
			}
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// jsonRoundTrip sets an entry and puts it back, with all that must be so, and
// returns the settings in between.
func jsonRoundTrip(t fataler, text []byte, path []string, command string, args []string) []byte {
	t.Helper()
	parse := func(text []byte) *Document {
		d, err := Parse(clients.JSON, text, jsonTestTables())
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		if got := d.Bytes(); !bytes.Equal(got, text) {
			t.Fatalf("parsed only, it is\n%q, not\n%q", got, text)
		}
		return d
	}
	d := parse(text)
	before := d.Servers()
	source, err := d.Source(path)
	if err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	if err := d.Set(path, command, args); err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	after := d.Bytes()
	again := parse(after)
	want := slices.Clone(before)
	for i := range want {
		if slices.Equal(want[i].Path, path) {
			want[i].Command, want[i].Args = command, args
		}
	}
	for _, got := range [][]clients.Server{d.Servers(), again.Servers()} {
		if len(got) != len(want) {
			t.Fatalf("%d entries, not %d\n%q\n%q", len(got), len(want), text, after)
		}
		for i := range got {
			if !slices.Equal(got[i].Args, want[i].Args) {
				t.Fatalf("args %q, not %q\n%q\n%q", got[i].Args, want[i].Args, text, after)
			}
			got[i].Args, got[i].Line = want[i].Args, want[i].Line
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%+v, not %+v\n%q\n%q", got[i], want[i], text, after)
			}
		}
	}
	if a, b := jsonWithout(t, text, path), jsonWithout(t, after, path); !reflect.DeepEqual(a, b) {
		t.Fatalf("something else has changed:\n%q\n%q", text, after)
	}
	for _, d := range []*Document{d, again} {
		if err := d.Restore(path, source); err != nil {
			t.Fatalf("%v\n%q", err, after)
		}
		if got := d.Bytes(); !bytes.Equal(got, text) {
			t.Fatalf("put back, it is\n%q, not\n%q, after\n%q", got, text, after)
		}
		put := d.Servers()
		for i := range put {
			put[i].Line = before[i].Line // that of what was parsed
		}
		if !reflect.DeepEqual(put, before) {
			t.Fatalf("put back, there are %+v, not %+v\n%q", d.Servers(), before, text)
		}
	}
	return after
}

// jsonWithout is what encoding/json reads, without the command and the args of an
// entry.
func jsonWithout(t fataler, text []byte, path []string) any {
	t.Helper()
	// Standardize writes into what it is given.
	text = slices.Concat(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\n"))
	standard, err := hujson.Standardize(text)
	if err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	read := json.NewDecoder(bytes.NewReader(standard))
	read.UseNumber()
	var tree any
	if err := read.Decode(&tree); err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	at := tree
	for _, name := range path {
		at = at.(map[string]any)[name]
	}
	delete(at.(map[string]any), "command")
	delete(at.(map[string]any), "args")
	return tree
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		"", "\uFEFF", "// x", "{", "[", "{}", "\x00", "\xff\xfe{\x00", `{"mcpServers":{}}`,
		`{"mcpServers":{"s":{"command":"serena","args":["a"]}}}`,
		"\uFEFF{\r\n  // c\r\n  \"mcpServers\": {\r\n    \"s\": {\r\n      \"command\": \"serena\", // d\r\n    },\r\n  },\r\n}",
		"{\"projects\": {\"/w\": {\"mcpServers\": {\"s\": {\"args\": [\n\"a\" /**/,\n // b\n], \"command\": \"\\u0061\" , }}}}}",
		`{"mcpServers":{"s":{"url":"x"},"t":{"command":"\ud800"},"u":7,"v":{"command":"x","args":"y"}}}`,
		`{"mcpServers":{"s":{"command":"x"},"s":{}}}`,
		strings.Repeat("[", 1001),
	} {
		f.Add([]byte(text), "/c", "connect")
	}
	f.Fuzz(func(t *testing.T, text []byte, command, word string) {
		d, err := Parse(clients.JSON, text, jsonTestTables())
		if err != nil {
			if e, ok := err.(*SyntaxError); !ok || e.Line < 1 || e.Column < 1 || e.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if got := d.Bytes(); !bytes.Equal(got, text) {
			t.Fatalf("%q is %q", text, got)
		}
		for _, e := range d.Servers() {
			if e.Odd == "" && e.Command != "" && command != "" && jsonHolds(command) && jsonHolds(word) {
				jsonRoundTrip(t, text, e.Path, command, append([]string{word, "--", e.Command}, e.Args...))
				jsonRoundTrip(t, text, e.Path, command, nil)
				continue
			}
			if err := d.Set(e.Path, command, []string{word}); err == nil {
				t.Fatalf("%+v was set", e)
			}
		}
	})
}

func jsonHolds(word string) bool {
	return strings.ToValidUTF8(word, "") == word && !strings.Contains(word, "\x00")
}

// FuzzJSONRestore puts back what may be anything.
func FuzzJSONRestore(f *testing.F) {
	for _, s := range [][3]string{
		{"{\"mcpServers\":{\"s\":{\n\"command\":\"/c\", // c\n\"args\": [\"a\"] /* d */,\n}}}", `"x"`, `["y", // z` + "\n]"},
		{`{"mcpServers":{"s":{"args":[],"command":"/c"}}}`, `"x"`, ""},
		{`{"mcpServers":{"s":{"a":1,/**/"args":[],"command":"/c"}}}`, "1", "{}"},
	} {
		f.Add([]byte(s[0]), s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text []byte, command, args string) {
		d, err := Parse(clients.JSON, text, jsonTestTables())
		if err != nil {
			return
		}
		for _, e := range d.Servers() {
			s := Source{Command: command, Args: args, HasArgs: args != ""}
			before := d.Bytes()
			if err := d.Restore(e.Path, s); err != nil {
				if !bytes.Equal(d.Bytes(), before) {
					t.Fatalf("%v, but %q is now %q", err, before, d.Bytes())
				}
				continue
			}
			after := d.Bytes()
			if !reflect.DeepEqual(jsonWithout(t, before, e.Path), jsonWithout(t, after, e.Path)) {
				t.Fatalf("something else has changed:\n%q\n%q", before, after)
			}
			again, err := Parse(clients.JSON, after, jsonTestTables())
			if err != nil {
				t.Fatalf("%v\n%q", err, after)
			}
			got, err := again.Source(e.Path)
			if got.Args == "[]" && !s.HasArgs {
				got.Args, got.HasArgs = "", false // no arguments are as good as no args
			}
			if err != nil || got != s {
				t.Fatalf("%v: %+v, not %+v\n%q", err, got, s, after)
			}
		}
	})
}

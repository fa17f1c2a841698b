package document

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lamplighter/monitor/clients"
)

// checkTOMLRoundTrip sets each server that can be edited to other words, and
// fails unless that alone changes, and Restore gives back the bytes.
func checkTOMLRoundTrip(t rapid.TB, text []byte, command string, args []string) {
	t.Helper()
	d, err := Parse(clients.TOML, text, codexTables)
	if err != nil {
		return
	}
	if !bytes.Equal(d.Bytes(), text) {
		t.Fatalf("parsed %q, it has become %q", text, d.Bytes())
	}
	before := d.Servers()
	for i, e := range before {
		source, err := d.Source(e.Path)
		if editable := e.Odd == "" && e.Command != "" && !e.List; editable != (err == nil) {
			t.Fatalf("the source of %+v: %v", e, err)
		}
		if err != nil {
			continue
		}
		// In front of what is there, as setup does it, and all others.
		for _, words := range [][]string{slices.Concat(args, []string{e.Command}, e.Args), slices.Concat(e.Args, args), args} {
			if err := d.Set(e.Path, command, words); err != nil {
				t.Fatalf("Set(%q, %q, %q) in %q: %v", e.Path, command, words, text, err)
			}
			after := d.Servers()
			if after[i].Command != command || !slices.Equal(after[i].Args, words) {
				t.Fatalf("Set(%q, %q) of %+v in %q gives %q", command, words, e, text, d.Bytes())
			}
			same := slices.Clone(before)
			same[i].Command, same[i].Args = after[i].Command, after[i].Args
			for j := range same {
				same[j].Line = after[j].Line
			}
			if !reflect.DeepEqual(same, after) {
				t.Fatalf("Set(%q, %q) of %+v in %q has changed others: %q", command, words, e, text, d.Bytes())
			}
		}
		if err := d.Restore(e.Path, source); err != nil {
			t.Fatalf("Restore(%q, %+v) of %q: %v", e.Path, source, d.Bytes(), err)
		}
		if !bytes.Equal(d.Bytes(), text) {
			t.Fatalf("set and restored %q, it has become %q", text, d.Bytes())
		}
	}
}

// FuzzTOML reads any bytes.
func FuzzTOML(f *testing.F) {
	for _, text := range []string{
		byCodex,
		"\uFEFFmcp_servers = { s = { command = 's', args = ['a', # b\r\n \"c\"] , }, }",
		"[mcp_servers]\ns.command = '''s''' # c\ns.args = [\n 'a' # b\n , # c\n]\n[[a]]\n[a.b]\nx=1979-05-27T07:32:00Z\n[[a]]\nb=0xff\n",
		"[profiles.x.mcp_servers.s]\r\ncommand = \"s\"\r\nargs = []",
	} {
		f.Add([]byte(text), "/x/connect", "connect -- C:\\a")
	}
	f.Fuzz(func(t *testing.T, text []byte, command, args string) {
		if len(command) == 0 || !utf8.ValidString(command) || !utf8.ValidString(args) || strings.ContainsRune(command+args, 0) {
			return
		}
		checkTOMLRoundTrip(t, text, command, strings.Split(args, " "))
	})
}

// tomlBlank draws what may stand between the parts of a line.
var tomlBlank = rapid.SampledFrom([]string{"", "", " ", "  ", "\t"})

// drawTOMLWord draws a string with the way it is written.
func drawTOMLWord(t *rapid.T, name string) string {
	return rapid.SampledFrom([]string{
		`"a"`, `'b'`, `"c d"`, `'C:\x'`, `"\"\\"`, `"]#"`, `',}'`, "\"\"\"\nx\ny\"\"\"", "'''\nz # '\n'''", `"--"`, `"é😀"`,
	}).Draw(t, name)
}

// drawTOMLList draws a list of strings.
func drawTOMLList(t *rapid.T, eol string) string {
	gap := func(name string) string {
		return rapid.SampledFrom([]string{
			"", " ", eol, eol + "  ", " # c" + eol, eol + "# ,']" + eol + "\t", eol + eol,
		}).Draw(t, name)
	}
	var b strings.Builder
	b.WriteString("[" + gap("opens"))
	n := rapid.IntRange(0, 4).Draw(t, "items")
	for i := range n {
		b.WriteString(drawTOMLWord(t, "item") + gap("before comma"))
		if i < n-1 || rapid.Bool().Draw(t, "trailing comma") {
			b.WriteString("," + gap("behind comma"))
		}
	}
	return b.String() + "]"
}

// drawTOML draws settings with servers written in all ways.
func drawTOML(t *rapid.T) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
	ends := func() string {
		return rapid.SampledFrom([]string{"", "  ", " # c '\"["}).Draw(t, "comment") + eol
	}
	var dotted, below, tables strings.Builder
	for i := range rapid.IntRange(1, 4).Draw(t, "servers") {
		name := fmt.Sprintf(rapid.SampledFrom([]string{"s%d", "\"s %d\"", "'s.%d'"}).Draw(t, "name"), i)
		equals := tomlBlank.Draw(t, "before") + "=" + tomlBlank.Draw(t, "behind")
		pairs := []string{"command" + equals + drawTOMLWord(t, "command")}
		if rapid.Bool().Draw(t, "args") {
			pairs = append(pairs, "args"+equals+drawTOMLList(t, eol))
		}
		if rapid.Bool().Draw(t, "more") {
			pairs = append(pairs, "env"+equals+"{ args"+equals+"['n'] }")
		}
		pairs = rapid.Permutation(pairs).Draw(t, "order")
		switch rapid.IntRange(0, 3).Draw(t, "way") {
		case 0:
			tables.WriteString("[mcp_servers." + name + "]" + ends())
			for _, pair := range pairs {
				tables.WriteString(tomlBlank.Draw(t, "indentation") + pair + ends())
			}
		case 1:
			for _, pair := range pairs {
				dotted.WriteString("profiles.p.mcp_servers . " + name + "." + pair + ends())
			}
		case 2:
			for _, pair := range pairs {
				below.WriteString(tomlBlank.Draw(t, "indentation") + name + "." + pair + ends())
			}
		case 3:
			gap := rapid.SampledFrom([]string{"", " ", eol, " # c" + eol}).Draw(t, "gap")
			last := rapid.SampledFrom([]string{"", ","}).Draw(t, "trailing comma")
			below.WriteString(name + equals + "{" + gap + strings.Join(pairs, gap+","+gap) + gap + last + gap + "}" + ends())
		}
	}
	text := dotted.String() + "[mcp_servers]" + ends() + below.String() + tables.String()
	if rapid.Bool().Draw(t, "without a last line end") {
		text = strings.TrimSuffix(text, eol)
	}
	return rapid.SampledFrom([]string{"", "\uFEFF"}).Draw(t, "mark") + text
}

func TestTOMLRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawTOML(t)
		if _, err := Parse(clients.TOML, []byte(text), codexTables); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		word := rapid.StringOf(rapid.RuneFrom([]rune("ab \"'\\\n\t#],=é\u0085\x1b😀")))
		args := rapid.SliceOfN(word, 0, 4).Draw(t, "args")
		checkTOMLRoundTrip(t, []byte(text), "c"+word.Draw(t, "command"), args)
	})
}

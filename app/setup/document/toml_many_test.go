package document

import (
	"fmt"
	"strings"
	"testing"
)

// Many entries are edited in one go: reading the whole text for each of them took
// more than a minute. It still says the same as one edit after the other.
func TestTOMLManyEdits(t *testing.T) {
	const many = 5000
	var b, want strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "[mcp_servers.s%d]\ncommand = 'serena' # mine\n", i)
		fmt.Fprintf(&want, "[mcp_servers.s%d]\ncommand = 'connect' # mine\nargs = ['--', 'serena']\n", i)
	}
	doc, err := Parse(TOML, []byte(b.String()), [][]string{{"mcp_servers"}})
	if err != nil {
		t.Fatal(err)
	}
	reads := doc.editor.(*tomlEditor)
	first := reads.servers[0]
	sources := make([]Source, many)
	for i := range many {
		path := []string{"mcp_servers", fmt.Sprintf("s%d", i)}
		if sources[i], err = doc.Source(path); err == nil {
			err = doc.Set(path, "connect", []string{"--", "serena"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if reads.servers[0] != first {
		t.Error("the text was read again for single edits")
	}
	if got := strings.ReplaceAll(string(doc.Bytes()), `"`, "'"); got != want.String() {
		t.Errorf("%.300s", got)
	}
	for i := range many {
		if err := doc.Restore([]string{"mcp_servers", fmt.Sprintf("s%d", i)}, sources[i]); err != nil {
			t.Fatal(err)
		}
	}
	if string(doc.Bytes()) != b.String() {
		t.Errorf("%.300s", doc.Bytes())
	}
}

// Edits that touch, and second ones of an entry, come one after the other.
func TestTOMLEditsThatTouch(t *testing.T) {
	const text = `mcp_servers = {a.command = "x", b.args = ["1"], b.command = "y"}`
	doc, err := Parse(TOML, []byte(text), [][]string{{"mcp_servers"}})
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

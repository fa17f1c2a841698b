package document

import (
	"testing"
)

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

package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn is what one generated entry runs.
type drawn struct {
	command string
	args    []string
}

func drawEntry(t *rapid.T, connect string) drawn {
	serena := []string{"start-mcp-server"}
	serena = append(serena, rapid.SliceOfN(rapid.SampledFrom([]string{"--context", "ide", "--project", "/a b", "--open-web-dashboard", "true", "--", "ä\"'"}), 0, 6).Draw(t, "args")...)
	e := drawn{"serena", serena}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		e = drawn{"npx", []string{"-y", "x"}}
	case 1:
		e = drawn{"bash", []string{"-c", "serena start-mcp-server"}}
	case 2:
		e = drawn{"serena", nil}
	case 3:
		if connect != "" {
			e = drawn{connect, append(rapid.SampledFrom([][]string{{"connect", "--"}, {"connect", "--or-direct", "--"}}).Draw(t, "flags"), append([]string{"serena"}, serena...)...)}
		}
	}
	return e
}

// drawJSON writes settings as people and programs do.
func drawJSON(t *rapid.T, connect string) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n", " ", ""}).Draw(t, "newline")
	comment := func() string {
		if newline == "\n" || newline == "\r\n" {
			return rapid.SampledFrom([]string{"", " // ä", " /* x */"}).Draw(t, "comment")
		}
		return rapid.SampledFrom([]string{"", "/* x */"}).Draw(t, "comment")
	}
	indent := rapid.SampledFrom([]string{"", "\t", "  "}).Draw(t, "indent")
	quote := func(s string) string {
		return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
	}
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "\ufeff", "// top\n"}).Draw(t, "top"))
	b.WriteString("{" + newline + indent + `"mcpServers": {` + newline)
	n := rapid.IntRange(0, 4).Draw(t, "entries")
	for i := range n {
		e := drawEntry(t, connect)
		members := []string{`"command": ` + quote(e.command)}
		if len(e.args) > 0 || rapid.Bool().Draw(t, "empty") {
			var list strings.Builder
			for j, a := range e.args {
				list.WriteString(newline + indent + quote(a))
				if j+1 < len(e.args) || rapid.Bool().Draw(t, "trailing") {
					list.WriteString(",")
				}
				list.WriteString(comment())
			}
			members = append(members, `"args": [`+list.String()+newline+`]`)
		}
		if rapid.Bool().Draw(t, "env") {
			members = append(members, `"env": {"K": "v"}`)
		}
		if rapid.Bool().Draw(t, "off") {
			members = append(members, `"disabled": true`)
		}
		members = rapid.Permutation(members).Draw(t, "order")
		fmt.Fprintf(&b, `%s"s%d": {`, indent+indent, i)
		for j, m := range members {
			b.WriteString(newline + indent + m)
			if j+1 < len(members) || rapid.Bool().Draw(t, "last comma") {
				b.WriteString(",")
			}
			b.WriteString(comment())
		}
		b.WriteString(newline + "}")
		if i+1 < n {
			b.WriteString("," + comment() + newline)
		}
	}
	b.WriteString(newline + "}" + rapid.SampledFrom([]string{"", ","}).Draw(t, "end") + newline + "}" + newline)
	return b.String()
}

// drawTOML likewise.
func drawTOML(t *rapid.T, connect string) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	comment := func() string { return rapid.SampledFrom([]string{"", " # ä"}).Draw(t, "comment") }
	quote := func(s string) string {
		if !strings.ContainsAny(s, `'`) && rapid.Bool().Draw(t, "literal") {
			return `'` + s + `'`
		}
		return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
	}
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "\ufeff", "# top" + newline, "model = 'x'" + newline}).Draw(t, "top"))
	for i := range rapid.IntRange(0, 2).Draw(t, "in a line") {
		e := drawEntry(t, connect)
		var words []string
		for _, a := range e.args {
			words = append(words, quote(a))
		}
		fmt.Fprintf(&b, "mcp_servers.s%d = { command = %s, args = [%s] }%s%s", i, quote(e.command), strings.Join(words, ", "), comment(), newline)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "tables") {
		e := drawEntry(t, connect)
		members := []string{"command = " + quote(e.command) + comment()}
		if len(e.args) > 0 || rapid.Bool().Draw(t, "empty") {
			var list strings.Builder
			for j, a := range e.args {
				list.WriteString(newline + "  " + quote(a))
				if j+1 < len(e.args) || rapid.Bool().Draw(t, "trailing") {
					list.WriteString(",")
				}
				list.WriteString(comment())
			}
			if list.Len() > 0 {
				list.WriteString(newline)
			}
			members = append(members, "args = ["+list.String()+"]"+comment())
		}
		if rapid.Bool().Draw(t, "off") {
			members = append(members, "enabled = false")
		}
		members = rapid.Permutation(members).Draw(t, "order")
		fmt.Fprintf(&b, "[mcp_servers.t%d]%s%s%s%s", i, comment(), newline, strings.Join(members, newline), newline)
		if rapid.Bool().Draw(t, "env") {
			fmt.Fprintf(&b, "[mcp_servers.t%d.env]%sK = 'v'%s", i, newline, newline)
		}
	}
	return b.String()
}

// propertyBed is a bed for one of many cases.
func propertyBed(t *testing.T, r *rapid.T) (b *bed, clean func()) {
	top, err := os.MkdirTemp(t.TempDir(), "case")
	if err != nil {
		r.Fatal(err)
	}
	b = newBed(t)
	b.home, b.state = filepath.Join(top, "home"), filepath.Join(top, "state")
	b.o.Home, b.o.State, b.o.Dir = b.home, b.state, ""
	return b, func() { os.RemoveAll(top) }
}

// For all settings: what Do has done Undo undoes, byte for byte; Do again does
// nothing; what changed elsewhere meanwhile stays; and nothing but commands is
// ever touched.
func TestDoThenUndoIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b, clean := propertyBed(t, r)
		defer clean()
		isTOML := rapid.Bool().Draw(r, "TOML")
		connect := rapid.SampledFrom([]string{"", "", "/gone/lamplighter-connect", "lamplighter"}).Draw(r, "ours")
		file, text, elsewhere := cursorFile, "", "\n// elsewhere\n"
		if isTOML {
			file, text, elsewhere = codexFile, drawTOML(r, connect), "\n# elsewhere\n"
		} else {
			text = drawJSON(r, connect)
		}
		path := b.write(file, text)
		w := Wanted{NoPage: rapid.Bool().Draw(r, "no page")}
		try := func(w Wanted) Result {
			result, err := New(b.o).Do(t.Context(), w)
			if err != nil || result.Failed() {
				r.Fatalf("%+v: %+v, %v\n%s", w, result, err, b.read(path))
			}
			return result
		}
		// Where setup changes nothing, nothing but the words of what is ours is known.
		want := text
		if connect != "" {
			try(Wanted{Undo: true})
			want = b.read(path)
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				r.Fatal(err)
			}
			b.write(file, text)
		}
		first := try(w)
		after := b.read(path)
		if after != text {
			want = text
		}
		if second := try(w); b.read(path) != after {
			r.Fatalf("done twice: %+v\n%s\n%s", second, after, b.read(path))
		}
		if len(first.Changes) > 0 && len(first.Changes[0].Entries) > 0 == (after == text) {
			r.Fatalf("%+v\n%s", first, after)
		}
		if rapid.Bool().Draw(r, "elsewhere") {
			b.write(file, after+elsewhere)
			want += elsewhere
		}
		try(Wanted{Undo: true})
		if got := b.read(path); got != want {
			r.Fatalf("undone:\n%q\nwant\n%q\nafter\n%q", got, want, after)
		}
	})
}

package setup

import (
	"os"
	"path/filepath"
	"testing"
)

// What uv runs is Serena only where it is Serena itself, not where another program is
// given the command of Serena as its arguments. By its name that runs as it is.
func TestSerenaThroughUV(t *testing.T) {
	for file, want := range map[string]struct {
		serena bool
		why    string
	}{
		"claude-code-guard-uvx.json":               {false, "It starts Serena through uvx, which cannot be shared. Write the command itself, or name the entry, with lamplighter setup --server serena, to have lamplighter run it as it is."},
		"claude-code-guard-uv-run.json":            {false, "It starts Serena through uv, which cannot be shared. Write the command itself, or name the entry, with lamplighter setup --server serena, to have lamplighter run it as it is."},
		"claude-code-uv-directory-before-run.json": {true, ""},
	} {
		b := newBed(t)
		b.program("bin", "uv")
		b.program("bin", "uvx")
		text, err := os.ReadFile(filepath.Join("..", "..", "monitor", "clients", "testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		path := b.write(".claude.json", string(text))
		e := b.listed(path, "serena")
		if e.State != Direct || e.Serena != want.serena || (e.Becomes != "") != want.serena || e.Why != want.why || want.serena && e.Alone != "" {
			t.Errorf("%s: %+v", file, e)
		}
		if changed := len(b.done(Wanted{NoPage: true}).Entries) > 0; changed != want.serena || (b.read(path) != string(text)) != want.serena {
			t.Errorf("%s: changed %v: %s", file, changed, b.read(path))
		}
		if want.serena {
			b.done(Wanted{Undo: true})
		}
		runs := e.Runs
		if c := b.done(Wanted{Servers: []string{"serena"}}); len(c.Entries) != 1 || c.Entries[0].State != Shared || c.Entries[0].Runs != runs {
			t.Errorf("%s by its name: %+v", file, c)
		}
		if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != string(text) {
			t.Errorf("%s is not undone: %s", file, b.read(path))
		}
	}
}

package setup

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lamplighter/monitor/clients"
)

// A list that is null in JSON would say that it is not known.
func TestNoListIsNull(t *testing.T) {
	b := newBed(t)
	check := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"path", "entries", "left", "changes", "running", "files"} {
			if strings.Contains(string(text), `"`+list+`":null`) {
				t.Errorf("%s is null in %s", list, text)
			}
		}
		if strings.HasPrefix(string(text), "null") {
			t.Error("the list itself is null")
		}
	}
	all := func() {
		t.Helper()
		for _, w := range []Wanted{{DryRun: true}, {Undo: true, DryRun: true}, {}, {Undo: true}} {
			result, err := New(b.o).Do(t.Context(), w)
			check(result, err)
			if len(result.Changes) > 0 && result.Changes[0].Before != nil {
				t.Error("contents that nobody wants")
			}
		}
		list, err := New(b.o).List(t.Context(), Wanted{})
		check(list, err)
	}
	all()
	b.write(cursorFile, direct)
	b.write(codexFile, "x")
	all()
	b.write(cursorFile, `{"mcpServers": {}}`)
	all()
}

// What a client does with a file that nobody expects is told beside its entries.
func TestNotes(t *testing.T) {
	const serena = `{"serena": {"command": "serena", "args": ["start-mcp-server"]}}`
	for _, test := range []struct{ path, text, want string }{
		{".vscode/mcp.json", `{"servers": ` + serena + `}`, ""},
		{".vscode/mcp.json", `{"mcpServers": ` + serena + `}`, `VS Code reads none of its servers: they stand below "mcpServers", and it looks for them below "servers".`},
		{".vscode/mcp.json", `{"mcpServers": ` + serena + `, "servers": ` + serena + `}`, ""},
		{".vscode/mcp.json", `{"inputs": []}`, ""},
		{".cursor/mcp.json", "\ufeff" + `{"mcpServers": ` + serena + `}`, ""},
		{"claude_desktop_config.json", "\ufeff" + `{"mcpServers": ` + serena + `}`, "Claude Desktop does not read this file, because it begins with a byte order mark. Save it without one."},
	} {
		b := newBed(t)
		dir := b.dir
		if filepath.Dir(test.path) == "." {
			dir = ""
			for _, p := range clients.Places(runtime.GOOS, b.home, b.dir, b.o.Getenv) {
				if filepath.Base(p.Path) == test.path {
					dir = filepath.Dir(p.Path)
				}
			}
		}
		path := b.write(filepath.Join(dir, test.path), test.text)
		list, err := New(b.o).List(t.Context(), Wanted{File: path})
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].Files[0].Note; got != test.want {
			t.Errorf("%s %s: %q, want %q", test.path, test.text, got, test.want)
		}
	}
}

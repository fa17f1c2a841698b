package setup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lamplighter/monitor/clients"
)

// What the documentation of clients shows is found in a file that is no known place.
func TestGuess(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "monitor", "clients", "testdata", "*.*"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if filepath.Ext(path) == ".md" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := guess("", path, User)
		doc, err := p.parse(text)
		if err != nil || len(p.servers(doc)) == 0 {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, s := range p.servers(doc) {
			if s.Odd != "" {
				t.Errorf("%s: %q is odd: %s", path, s.Path, s.Odd)
			}
		}
	}
	for _, p := range clients.Places("linux", "/home/ada", "/src", func(string) string { return "" }) {
		for _, table := range p.Tables {
			if !slices.ContainsFunc(guess("", p.Path, User).Tables, func(known []string) bool { return slices.Equal(known, table) }) {
				t.Errorf("%s: its table %q is not looked for in a file of any name", p.Path, table)
			}
		}
	}
	for path, want := range map[string]string{"/x/opencode.jsonc": "mcp", "/x/a.json": "mcpServers", `C:\x\CONFIG.TOML`: "mcp_servers"} {
		if got := guess("", path, User).Tables[0][0]; got != want {
			t.Errorf("%s has its servers in %s, want %s", path, got, want)
		}
	}
}

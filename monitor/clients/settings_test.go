package clients

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is asked for is read once, and again when it has changed: the user's settings,
// those of a project in it alone, and those of plugins that are switched on.
func TestSettings(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "src", "alpha")
	write := func(text string, path ...string) {
		t.Helper()
		file := filepath.Join(append([]string{home}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(name string) string { return `"` + name + `": {"command": "node", "args": ["` + name + `.js"]}` }
	write(`{"mcpServers": {`+entry("mine")+`, "far": {"url": "https://x"}}, "projects": {"`+filepath.ToSlash(project)+`": {"mcpServers": {`+entry("local")+`}}}}`, ".claude.json")
	write(`{"mcpServers": {`+entry("shared")+`}}`, "src", "alpha", ".mcp.json")
	write(`{`+entry("plugged")+`}`, ".claude", "plugins", "cache", "market", "good", "1.0", ".mcp.json")
	write(`{`+entry("off")+`}`, ".claude", "plugins", "cache", "market", "bad", "1.0", ".mcp.json")
	write(`{"name": "inline", "mcpServers": {`+entry("inline")+`}}`, ".claude", "plugins", "cache", "market", "good", "1.0", ".claude-plugin", "plugin.json")
	write(`{"name": "named", "mcpServers": ["./config/servers.json", "https://x/y.mcpb", "../../../../../../.codex/config.toml"]}`, ".claude", "plugins", "cache", "market", "named", "2", ".claude-plugin", "plugin.json")
	write(`{`+entry("elsewhere")+`}`, ".claude", "plugins", "cache", "market", "named", "2", "config", "servers.json")
	write(`{"name": "one", "mcpServers": "more.json"}`, ".claude", "plugins", "cache", "market", "good", "2.0", ".claude-plugin", "plugin.json")
	write(`{"mcpServers": {`+entry("more")+`}}`, ".claude", "plugins", "cache", "market", "good", "2.0", "more.json")
	write(`{`+entry("ofproject")+`}`, ".claude", "plugins", "cache", "market", "ofproject", "1.0", ".mcp.json")
	write(`{"enabledPlugins": {"good@market": true, "bad@market": false, "named@market": true}}`, ".claude", "settings.json")
	write(`{"enabledPlugins": {"ofproject@market": true, "bad@market": true}}`, "src", "alpha", ".claude", "settings.json")
	write(`{"enabledPlugins": {"bad@market": false}}`, "src", "alpha", ".claude", "settings.local.json")
	write(`{"mcpServers": {`+entry("above")+`}}`, "src", ".mcp.json")
	write(`{"name": "weather", "mcpServers": {"weather": {"command": "node", "args": ["${extensionPath}${/}dist${/}index.js"]}}}`, ".gemini", "extensions", "weather", "gemini-extension.json")
	write(`{"name": "prompts", "version": "1.0.0"}`, ".gemini", "extensions", "prompts", "gemini-extension.json")
	write(`{"name": "maps", "mcpServers": {`+entry("maps")+`}}`, ".qwen", "extensions", "maps", "qwen-extension.json")
	write(`{"mcp": {"open": {"type": "local", "command": ["npx", "-y", "open-server"]}}}`, ".config", "opencode", "opencode.json")
	write("[mcp_servers.sun]\ncommand = 'sun'\n", ".codex", "config.toml")
	write(`{"mcpServers": {"broken"`, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Join(home, ".gemini", "settings.json"), 0o700); err != nil { // no file at all
		t.Fatal(err)
	}
	s := NewSettings("linux", home, func(string) string { return "" })
	names := func(dir string) map[string]string {
		list, current := s.Entries(dir, time.Time{})
		if !current {
			t.Fatalf("%q was not read", dir)
		}
		found := map[string]string{}
		for _, e := range list {
			found[e.Name] = e.Client + " " + string(e.Scope) + " " + e.Plugin
		}
		return found
	}
	if list, current := s.Entries("", time.Time{}); len(list) > 0 || current {
		t.Errorf("before the first look: %v, %v", list, current)
	}
	s.Entries(project, time.Time{})
	s.Look()
	user := map[string]string{
		"mine": "claude-code user ", "plugged": "claude-code user good@market", "inline": "claude-code user good@market", "elsewhere": "claude-code user named@market", "more": "claude-code user good@market",
		"open": "opencode user ", "sun": "codex user ", "weather": "gemini-cli user weather", "maps": "qwen-code user maps",
	}
	same := func(when string, got map[string]string, more ...string) {
		t.Helper()
		if len(got) != len(user)+len(more)/2 {
			t.Errorf("%s: %v", when, got)
		}
		for name, want := range user {
			if got[name] != want {
				t.Errorf("%s: %s is %q, want %q", when, name, got[name], want)
			}
		}
		for i := 0; i < len(more); i += 2 {
			if got[more[i]] != more[i+1] {
				t.Errorf("%s: %s is %q, want %q", when, more[i], got[more[i]], more[i+1])
			}
		}
	}
	same("nowhere", names(""))
	same("in the project", names(project), "local", "claude-code project ", "shared", "claude-code project ", "above", "claude-code project ", "ofproject", "claude-code user ofproject@market")
	list, _ := s.Entries("", time.Time{})
	i := slices.IndexFunc(list, func(e Entry) bool { return e.Name == "weather" })
	if want := filepath.Join(home, ".gemini", "extensions", "weather", "dist", "index.js"); !slices.Equal(list[i].Args, []string{want}) {
		t.Errorf("the extension runs %q, want %s", list[i].Args, want)
	}

	write("[mcp_servers.moon]\ncommand = 'moon'\n", ".codex", "config.toml")
	later := time.Now()
	if _, current := s.Entries("", later); current {
		t.Error("what was read before counts as read after")
	}
	ctx, cancel := context.WithCancel(t.Context())
	changed := make(chan bool, 9)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, func() { changed <- true }) }()
	<-changed
	delete(user, "sun")
	user["moon"] = "codex user "
	if _, current := s.Entries("", later); !current {
		t.Error("it was not read again")
	}
	same("changed", names(""))
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended without an error")
	}
}

// A file may be as large as the history of all chats makes it, and anything may stand
// beside its servers.
func TestLargeSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".claude.json")
	history := `"projects": {"/p": {"history": [` + strings.Repeat(`{"display": "\ud83d", "large": 1e999, "display": "`+strings.Repeat("x", 1000)+`"}, `, 10_000) + `null]}}`
	for _, c := range []struct {
		text string
		want int
	}{
		{`{` + history + `, "mcpServers": {"big": {"command": "big-mcp"}}}`, 1},
		{`{` + history + `, "mcpServers": {"big": {"command": "big-mcp"},}} // with comments`, 1},
		{`{"mcpServers": {"big": {"command": "big-mcp"}}, ` + history + `]`, 0},
		{`{"mcpServers": {"big": {"command": "big-mcp"}}` + strings.Repeat(" ", maxSettings) + `}`, 0},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (Place{Path: path, Format: JSON, Tables: tablesIn(mcpServersOfProjects)}).entries(); len(got) != c.want {
			t.Errorf("%d entries in %d bytes that end in %q, want %d", len(got), len(c.text), c.text[len(c.text)-20:], c.want)
		}
	}
}

// The settings of one project count in it, and below it.
func TestEntryIn(t *testing.T) {
	for _, c := range []struct {
		of, dir string
		want    bool
	}{{"", "", true}, {"", "/a", true}, {"/a", "", false}, {"/a", "/a", true}, {"/a/", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}} {
		if got := (Entry{Dir: c.of}).In(c.dir); got != c.want {
			t.Errorf("of %q in %q: %v", c.of, c.dir, got)
		}
	}
}

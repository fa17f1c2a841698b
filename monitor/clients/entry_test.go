package clients

import (
	"strings"
	"testing"
)

// What a process runs is what its entry says, behind launchers, interpreters and
// titles, and with the same arguments.
func TestRuns(t *testing.T) {
	words := func(line string) []string { return strings.Split(line, "|") }
	for _, c := range []struct {
		entry, exe, line string
		want             bool
	}{
		{"npx|-y|@upstash/context7-mcp", "/usr/bin/node", "npm exec @upstash/context7-mcp", true},
		{"npx|-y|@upstash/context7-mcp@latest", "/usr/bin/node", "npm exec @upstash/context7-mcp", true},
		{"npx|-y|@upstash/context7-mcp", "/usr/bin/node", "npm exec @upstash/context7-mcp|||", true},
		{"npx|-y|@upstash/context7-mcp", "/usr/bin/node", "node|/usr/bin/npx|-y|@upstash/context7-mcp", true},
		{"npx|-y|server-postgres|postgresql://h/x", "/usr/bin/node", "npm exec server-postgres postgresql://h/x", true},
		{"npx|-y|server-postgres|postgresql://h/x", "/usr/bin/node", "npm exec server-postgres postgresql://h/y", false},
		{"bash|-c|npx -y a-server", "/usr/bin/node", "npm exec a-server", true},
		{"npx|repomix|--mcp", "/usr/bin/node", "node|/w/node_modules/.bin/repomix|--mcp", true},
		{"npx|@a/b-mcp", "/usr/bin/node", "node|/w/node_modules/@a/b-mcp/dist/index.js", true},
		{"npx|@a/b-mcp", "/usr/bin/node", "node|/w/node_modules/@a/c-mcp/dist/index.js", false},
		{"uvx|mcp-server-time", "/usr/bin/uv", "/usr/bin/uv|tool|uvx|mcp-server-time", true},
		{"uvx|mcp-server-time", "/usr/bin/python3", "/c/python|/c/bin/mcp-server-time", true},
		{"node|/w/dist/index.js", "/usr/bin/node", "node|/w/dist/index.js", true},
		{"node|/w/dist/index.js", "/usr/bin/node", "node|/v/dist/index.js", false},
		{"node|dist/index.js", "/usr/bin/node", "node|dist/index.js", true},
		{"node|dist/index.js", "/usr/bin/node", "node|--no-warnings|./dist/index.js", true},
		{"node|dist/index.js", "/usr/bin/node", "node|/p/dist/index.js", true},
		{"node|/p/dist/index.js", "/usr/bin/node", "node|dist/index.js", true},
		{"node|dist/index.js", "/usr/bin/node", "node|/v/dist/index.js", false},
		{"node|dist/index.js", "/usr/bin/node", "node|/p/hooks/index.mjs", false},
		{"node|server.js|--stdio", "/usr/bin/node", "node|/e/language/lib/server.js|--stdio", false},
		{"/v/bin/python|-m|srv", "/usr/bin/python3.12", "/v/bin/python|-m|srv", true},
		{"/v/bin/python|-m|srv", "/usr/bin/python3.12", "/u/bin/python|-m|srv", false},
		{"tool|serve", "/usr/bin/python3", "/usr/bin/python3|-E|/usr/bin/tool|serve", true},
		{"tool|serve", "/usr/bin/tool", "tool|serve", true},
		{"tool|serve", "/usr/bin/tool", "tool|serve|--more", false},
		{"tool|serve", "/usr/bin/cat", "cat|tool|serve", false},
		{"ng|mcp", "/usr/bin/node", "ng mcp", true},
		{"docker|run|-i|--rm|-e|KEY|mcp/fetch", "/usr/bin/docker", "docker|run|-i|--rm|-e|KEY|mcp/fetch", true},
		{"${HOME}/bin/server|--key|${KEY}", "/h/bin/server", "/h/bin/server|--key|k", true},
		{"${HOME}/bin/server|--key|${KEY}", "/h/bin/server", "/h/bin/server|--value|k", false},
		{"${SERVER}", "/h/bin/server", "/h/bin/server", false},
		{"node|${PWD}/dist/server.js|--stdio", "/usr/bin/node", "node|/p/dist/server.js|--stdio", true},
		{"node|${PWD}/dist/server.js|--stdio", "/usr/bin/node", "node|/lib/typescript-language-server|--stdio", false},
		{"node|${PWD}/dist/server.js|--stdio", "/usr/bin/node", "node|/lsp/server.js|--stdio", false},
		{"node|~/mail/index.js", "/usr/bin/node", "node|/h/mail/index.js", true},
		{"node|~/mail/index.js", "/usr/bin/node", "node|/h/cal/index.js", false},
		{"python3|${workspaceFolder}/server.py", "/usr/bin/python3", "/usr/bin/python3|/e/lsp_server.py", false},
		{`%APPDATA%\npm\notes.cmd`, `C:\U\npm\notes.cmd`, `C:\U\npm\notes.cmd`, true},
		{"pg|u:p%40a%2Fb@prod/x", "/b/pg", "pg|u:q%40a%2Fb@staging/x", false},
		{"pg|--url=$DB_URL", "/b/pg", "pg|--url=postgres://h", true},
		{"pg|{env:KEY}|${A}-${B}", "/b/pg", "pg|k|a-b", true},
		{"pg|{env:KEY}|${A}-${B}", "/b/pg", "pg|k|ab", false},
		{"bash|/w/start.sh", "/usr/bin/bash", "bash|/w/start.sh", true},
		{"/w/start.sh", "/usr/bin/bash", "/bin/bash|/w/start.sh", true},
		{"cmd|/c|npx|-y|b-mcp", `C:\Windows\System32\cmd.exe`, "cmd|/c|npx|-y|b-mcp", true},
	} {
		e := words(c.entry)
		entry := Entry{Command: e[0], Args: e[1:]}
		if got := entry.Runs(c.exe, words(c.line), []string{"/p"}); got > NoFit != c.want {
			t.Errorf("%s, run as %s: %v", c.entry, c.line, got)
		}
	}
}

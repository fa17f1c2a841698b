package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"lamplighter/app/apptest"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/secret"
)

// all is the whole of any text.
var all = span{0, 1 << 40}

// Each of these holds the word hunter2 where it must not be shown, and the word
// shown where it has to be.
func TestMasked(t *testing.T) {
	for name, test := range map[string]struct {
		format clients.Format
		text   string
	}{
		"a member":            {clients.JSON, `{"apiKey": "hunter2", "x": "shown"}`},
		"a number":            {clients.JSON, `{"env": {"PIN": 0.25e1}, "x": "shown"}`},
		"env":                 {clients.JSON, `{"mcpServers": {"a": {"command": "shown", "env": {"FOO": "hunter2", "BAR": ["hunter2", {"x": "hunter2"}]}}}}`},
		"headers":             {clients.JSON, `{"servers": {"a": {"url": "http://shown", "requestHeaders": {"X-Foo": "hunter2"}}}}`},
		"a list":              {clients.JSON, `{"tokens": ["hunter2", "hunter2"], "x": "shown"}`},
		"an object":           {clients.JSON, `{"oauth": {"x": {"y": "hunter2"}}, "x": "shown"}`},
		"an escaped name":     {clients.JSON, `{"\u0070assword": "hunter2", "x": "shown"}`},
		"an option":           {clients.JSON, `{"args": ["--api-key", "hunter2", "shown"]}`},
		"a - in front":        {clients.JSON, `{"args": ["--api-key", "-hunter2", "shown"]}`},
		"base64":              {clients.JSON, `{"args": ["wJalrXUtnFEMI/K7MDENG/hunter2bPxRfi", "shown"]}`},
		"a / in a password":   {clients.JSON, `{"args": ["https://me:a/hunter2@example.org/shown"]}`},
		"an option with =":    {clients.JSON, `{"args": ["--api-key=hunter2", "shown"]}`},
		"a variable":          {clients.JSON, `{"args": ["-e", "GITHUB_TOKEN=hunter2", "shown"]}`},
		"a header":            {clients.JSON, `{"args": ["--header", "Authorization: Bearer hunter2", "shown"]}`},
		"a shell":             {clients.JSON, `{"args": ["-c", "shown; SECRET='a hunter2' serena"]}`},
		"an address":          {clients.JSON, `{"args": ["https://me:hunter2@example.org/shown"]}`},
		"an address, a query": {clients.JSON, `{"url": "https://example.org/shown?api_key=hunter2"}`},
		"a minified file":     {clients.JSON, `{"mcpServers":{"s":{"command":"shown","env":{"A":"hunter2"},"args":["--token","hunter2"]}}}`},
		"a comment":           {clients.JSON, "{\"x\": \"shown\", // \"apiKey\": \"hunter2\"\n}"},
		"a block of comment":  {clients.JSON, "{/* \"env\": {\n \"FOO\": \"hunter2\"\n} */ \"x\": \"shown\"}"},
		"behind a mark":       {clients.JSON, "\uFEFF{\"token\": \"hunter2\", \"x\": \"shown\"}"},
		"a key of TOML":       {clients.TOML, "bearer_token = \"hunter2\"\nx = 'shown'\n"},
		"a table of env":      {clients.TOML, "[mcp_servers.a]\ncommand = 'shown'\n[mcp_servers.a.env]\nFOO = 'hunter2'\nBAR = '''\nhunter2\n'''\n"},
		"a dotted env":        {clients.TOML, "mcp_servers.a.env.FOO = 'hunter2'\nx = 'shown'\n"},
		"an inline env":       {clients.TOML, "[mcp_servers.a]\nenv = { FOO = 'hunter2', B = { C = \"hunter2\" } } # shown\n"},
		"args of TOML":        {clients.TOML, "args = [\n  'shown', # hunter's comment\n  '--token', \"hunter2\",\n]\n"},
		"a comment of TOML":   {clients.TOML, "x = 'shown' # FOO = 'hunter2'\n"},
		"a comment in args":   {clients.TOML, "args = ['shown', # TOKEN: hunter2\n]\n"},
		"a list of tables":    {clients.TOML, "[[x.headers]]\na = 'hunter2'\n[x.b]\nc = 'shown'\n"},
	} {
		got, ok := masked(test.format, []byte(test.text), all)
		if !ok || strings.Contains(got, "hunter2") || strings.Contains(got, "0.25e1") || !strings.Contains(got, "shown") || !strings.Contains(got, secret.Hidden) {
			t.Errorf("%s: %v\n%s", name, ok, got)
		}
		if strings.Count(got, "\n") != strings.Count(test.text, "\n") {
			t.Errorf("%s: not line for line:\n%s", name, got)
		}
	}
}

func TestMaskedLeavesWhatIsNoSecret(t *testing.T) {
	for _, test := range []struct {
		format clients.Format
		text   string
	}{
		{clients.JSON, `{"mcpServers": {"keycloak": {"command": "npx", "args": ["-y", "@example/keycloak-mcp@1.2.3", "--context", "claude-code"]}}} // see https://example.org/a`},
		{clients.JSON, `{"projects": {"/home/me/tokens": {"mcpServers": {"serena": {"command": "/home/me/.cache/uv/a8F3kd93kdLs92kDs0f/bin/serena"}}}}, "token": null, "auth": true}`},
		{clients.JSON, `{"args": ["git+https://github.com/oraios/serena", "street-lamps-in-the-harbour-2026-11", "x86_64-unknown-linux-gnu"]}`},
		{clients.TOML, "# how it is run\n[mcp_servers.serena]\ncommand = 'uvx'\nargs = [\"--from\", \"serena-agent\", 'serena'] # all of it\nstartup_timeout_sec = 30\n"},
	} {
		if got, ok := masked(test.format, []byte(test.text), all); !ok || got != test.text {
			t.Errorf("%v\n%s\n%s", ok, test.text, got)
		}
	}
}

// Whatever is in a file: nothing below env is shown, and no line is lost.
func FuzzMasked(f *testing.F) {
	f.Add(`{"env": {"A": "b"}, "args": ["--key", "c"]} // d`, true)
	f.Add("[a.env]\nB = \"\"\"\nc\n\"\"\"\n[x]\ny = ['--key', 'd'] # e = 1\n", false)
	f.Fuzz(func(t *testing.T, text string, asJSON bool) {
		format := clients.TOML
		if asJSON {
			format = clients.JSON
		}
		got, ok := masked(format, []byte(text), all)
		if !ok {
			return
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q became %q", text, got)
		}
		if again, ok := masked(format, []byte(got), all); utf8.ValidString(text) && ok && strings.Count(again, "\n") != strings.Count(got, "\n") {
			t.Errorf("%q became %q, and that %q", text, got, again)
		}
	})
}

func diffOf(path, before, after string, sc screen) string {
	return setupWords{home: "/home/me", screen: sc}.diff(setup.Change{Path: path, Before: []byte(before), After: []byte(after)})
}

func TestSetupDiff(t *testing.T) {
	const before = "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.serena]\r\ncommand = \"serena\"\r\nargs = [\"start-mcp-server\"]\r\n[mcp_servers.serena.env]\r\nKEY = \"hunter2\"\r\n"
	after := strings.Replace(strings.Replace(before, `"serena"`, `"/opt/lamplighter-connect"`, 1), `["start`, `["connect", "--", "serena", "start`, 1)
	const want = `--- ~/.codex/config.toml
+++ ~/.codex/config.toml
@@ -4,4 +4,4 @@
 [mcp_servers.serena]
-command = "serena"
-args = ["start-mcp-server"]
+command = "/opt/lamplighter-connect"
+args = ["connect", "--", "serena", "start-mcp-server"]
 [mcp_servers.serena.env]
`
	if got := diffOf("/home/me/.codex/config.toml", before, after, screen{}); got != want {
		t.Errorf("got\n%s", got)
	}
	coloured := diffOf("/home/me/.codex/config.toml", before, after, screen{colour: true})
	apptest.Contains(t, coloured, "\x1b[31m-command = \"serena\"\x1b[0m\n", "\x1b[36m@@ -4,4 +4,4 @@\x1b[0m\n", "\x1b[1m--- ~/.codex/config.toml\x1b[0m\n", "\x1b[32m+command")
}

func TestSetupDiffIsCalm(t *testing.T) {
	t.Run("far from the end of much", func(t *testing.T) {
		much := strings.Repeat("  \"x\": {\"token\": \"hunter2\"},\n", 1000)
		got := diffOf("/a.json", "{\n"+much+"\"y\": 1,\n"+much+"\"z\": 1}\n", "{\n"+much+"\"y\": 2,\n"+much+"\"z\": 1}\n", screen{})
		const want = "--- /a.json\n+++ /a.json\n@@ -1001,3 +1001,3 @@\n   \"x\": {\"token\": \"…\"},\n-\"y\": 1,\n+\"y\": 2,\n   \"x\": {\"token\": \"…\"},\n"
		if got != want {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("two places", func(t *testing.T) {
		much := strings.Repeat("  \"x\": {\"token\": \"hunter2\"},\n", 10)
		got := diffOf("/a.json", "{\n\"y\": 1,\n"+much+"\"z\": 1}\n", "{\n\"y\": 2,\n"+much+"\"z\": 2}\n", screen{})
		if strings.Contains(got, "hunter2") || strings.Count(got, "@@\n") != 2 {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("nothing changes", func(t *testing.T) {
		if got := diffOf("/a.json", "{}", "{}", screen{}); got != "" {
			t.Error(got)
		}
	})
	t.Run("not understood", func(t *testing.T) {
		got := diffOf("/home/me/a.json", `{"token": "hunter2"`, `{"token": "hunter2", "x": 1}`, screen{})
		if strings.Contains(got, "hunter2") || !strings.Contains(got, "~/a.json changes. How is not shown") {
			t.Error(got)
		}
	})
	t.Run("all in one line", func(t *testing.T) {
		much := strings.Repeat(`"x",`, 1<<13)
		got := diffOf("/a.json", `{"a": [`+much+`"y"], "command": "serena", "b": [`+much+`"y"]}`, `{"a": [`+much+`"y"], "command": "lamplighter-connect", "b": [`+much+`"y"]}`, screen{})
		if len(got) > 600 {
			t.Errorf("%d bytes", len(got))
		}
		apptest.Contains(t, got, `"command": "serena"`, `"command": "lamplighter-connect"`, "-…", "+…")
	})
	t.Run("a long line beside it", func(t *testing.T) {
		got := diffOf("/a.json", "{\"a\": \""+strings.Repeat("é ", 1<<12)+"\",\n\"b\": 1}\n", "{\"a\": \""+strings.Repeat("é ", 1<<12)+"\",\n\"b\": 2}\n", screen{})
		if len(got) > 1000 {
			t.Errorf("%d bytes", len(got))
		}
	})
	t.Run("what disturbs a terminal", func(t *testing.T) {
		got := diffOf("/a.json", "{\n\t// \u202egood\u200b\n\t\"a\": 1}\n", "{\n\t// \u202egood\u200b\n\t\"a\": 2}\n", screen{})
		if bytes.ContainsFunc([]byte(strings.NewReplacer("\n", "", "\t", "").Replace(got)), monitor.Unprintable) || !strings.Contains(got, " \t// good\n") {
			t.Errorf("%q", got)
		}
	})
}

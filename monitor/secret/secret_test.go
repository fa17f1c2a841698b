package secret

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"serena|start-mcp-server|--context|claude-code|--project|/home/u/My Work", ""},
		{"uvx|--from|git+https://github.com/oraios/serena@v0.1.4|serena|start-mcp-server", ""},
		{"npx|x|--api-key|abc|y", "npx|x|--api-key|…|y"},
		{"npx|x|--api-key|-abc|y", "npx|x|--api-key|…|y"},
		{"npx|x|--api-key|--aBc|y", "npx|x|--api-key|…|y"},
		{"npx|x|--token=abc", "npx|x|--token=…"},
		{"npx|x|--no-auth|--port|1", ""},
		{"npx|x|--no-auth|here", ""},
		{"npx|x|-password|--abc", ""},
		{"npx|x|--auth|-y|--|serena", ""},
		{"docker|run|-e|API_KEY=abc&def|image", "docker|run|-e|API_KEY=…|image"},
		{"docker|run|-e|API_KEY|ghcr.io/keycloak/keycloak:26", ""},
		{"env|GITHUB_TOKEN=ghp|NAME=v|x", "env|GITHUB_TOKEN=…|NAME=v|x"},
		{"npx|mcp-remote|https://u:pw@host/x|--header|Authorization: Bearer abc def", "npx|mcp-remote|https://…@host/x|--header|Authorization: …"},
		{"x|https://u:p/w@host/x|https://u:p@w/@host/x", "x|https://…@host/x|https://…@host/x"},
		{"x|https://ghp@host/x", "x|https://…@host/x"},
		{"x|https://auth.example.org:8080/mcp", ""},
		{"x|https://host/x?api_key=abc&y=1&token=def&z", "x|https://host/x?api_key=…&y=1&token=…&z"},
		{"x|https://mcp.host/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA/mcp", "x|https://mcp.host/s/…/mcp"},
		{"bash|-c|PORT=1 SECRET='a b' serena start", "bash|-c|PORT=1 SECRET=…"},
		{`bash|-c|run --port 1 --token "a b"; x`, `bash|-c|run --port 1 --token …`},
		{`x|{"password":"abc"}`, `x|{"password":…`},
		{"x|/token:abc", "x|/token:…"},
		{"x|sk-proj-abcdefghijklmnop|ctx7sk-abcdefgh|-m|secret_manager_mcp", "x|…|…|-m|secret_manager_mcp"},
		{"x|--sentry-dsn|me:pw@tcp(h)/d|mainDsn=abc|connectionString=abc|--sid|abc", "x|--sentry-dsn|…|mainDsn=…|connectionString=…|--sid|…"},
		{"x|--session-name|work|--sessionTimeout|60000|--threadsnumber|2|--save-session|dir", "x|--session-name|work|--sessionTimeout|60000|--threadsnumber|2|--save-session|dir"},
		{"x|AKIAIOSFODNN7EXAMPLE", "x|…"},
		{"x|3f786850e387550fdab836ed7e6dc881de23001b", "x|…"},
		{"x|wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "x|…"},
		{"x|q83vEjRWeJ/rze8SNFZ4+g==", "x|…"},
		{"x|-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA", "x|…"},
		{"x|see //Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA", "x|see …"},
		{"/nix/store/0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd-serena/bin/serena|x", ""},
		{`x|--project=/run/0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd/x|C:\a\0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd|${HOME}/0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd`, ""},
		{"x|@modelcontextprotocol/server-filesystem@2025.8.21", ""},
		{"/opt/token/serena|start-mcp-server", ""},
		{"x|--pass|abc|--pin|1234|y", "x|--pass|…|--pin|…|y"},
		{"x|--pass=abc|--db-pass=abc|DB_PASS=abc|/pass|abc", "x|--pass=…|--db-pass=…|DB_PASS=…|/pass|…"},
		{"x|--bypass|here|--path|there|--spin=1|--compass=2", ""},
		{"x|-p|hunter2|-k|abc|-t|abc", "x|-p|…|-k|…|-t|…"},
		{"x|-p|8080:80|-p|3.12|-p|.|-p|/src|-p|@a/b|-t|stdio|-p|--x|-p|git+https://h/x", ""},
		{"x|-a|Xk29dPq1|-a|serena|-v|/src/a1b2c3d4", "x|-a|…|-a|serena|-v|/src/a1b2c3d4"},
		{"bash|-c|run -p hunter2 x", "bash|-c|run -p … x"},
		{"bash|-c|run -p 'a b' x -k \"c d\" y", "bash|-c|run -p … x -k … y"},
		{"bash|-c|sh -c 'run -p abc'; x", "bash|-c|sh -c 'run -p … x"},
		{"bash|-c|run --pass a b", "bash|-c|run --pass …"},
		{"bash|-c|run '--token' abc", "bash|-c|run '--token' …"},
		{"cmd|/c|run /password abc def", "cmd|/c|run /password …"},
		{"bash|-c|exec serena start-mcp-server --context ide -p /src/a", ""},
		{`x|{"apiKey":"x"}`, `x|{"apiKey":…`},
		{`x|{"dbPass": "x"}|{"pin":1}`, `x|{"dbPass": …|{"pin":…`},
		{`x|["--token","abc"]`, `x|["--token",…`},
		{"x|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.aaaabbbbccccdddd", "x|…"},
		{"x|https://h/x?sig=abc&y=1", "x|https://h/x?sig=…&y=1"},
	} {
		if test.want == "" {
			test.want = test.words
		}
		if got := strings.Join(Words(strings.Split(test.words, "|")), "|"); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.words, got, test.want)
		}
	}
}

func TestRandom(t *testing.T) {
	for word, want := range map[string]bool{
		"9f86d081884c7d659a2feaa0c55ad015":       true,
		"c2b1a1e4-7d5f-4e6a-9b3c-0f1e2d3c4b5a":   true,
		"0123456789abcdef0123456789abcdef":       true,
		"dGhpcyBpcyBub3QgYSBzZWNyZXQ":            true,
		"start-mcp-server":                       false,
		"--------------------------------":       false,
		"sequential-thinking-2025-06-18":         false,
		"JavaNamesAreWrittenLikeThis":            false,
		"lamplighter-connect":                    false,
		"TestSetupInAFolder1234567890":           false,
		"modelcontextprotocol_server_everything": false,
	} {
		if got := random(word); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}

// Whatever stands before them in a command, these are left out.
func FuzzWords(f *testing.F) {
	f.Add("npx\x00--api-key\x00abc")
	f.Add("x\x00Authorization: Bearer abc")
	f.Add("x\x00https://h?a=1&token=b&c")
	f.Fuzz(func(t *testing.T, text string) {
		command := append([]string{"x"}, strings.Split(text, "\x00")...)
		command = append(command, "--password", "Geheim-12", "--token", "-Geheim-13", "--pass", "Geheim-16", "-p", "Geheim-17", "run -k Geheim-18", "API_KEY=Geheim-14", "https://u:Gehe/im-15@h/")
		shown := Words(command)
		if len(shown) != len(command) {
			t.Fatalf("%q became %q", command, shown)
		}
		if last := strings.Join(shown[len(shown)-11:], " "); strings.Contains(last, "im-1") {
			t.Errorf("%q", last)
		}
	})
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"start-mcp-server --context ide --project /w/alpha --mode planning", "start-mcp-server --context ide --project /w/alpha --mode planning"},
		{"--pw hunter2 --passcode=hunter2 -phunter2 --user bob:hunter2", "--pw … --passcode=… … --user …"},
		{"--header X-Access:hunter2 https://a.example/mcp?code=hunter2", "--header … …"},
		{"--dsn bob/hunter2@host --password --hunter2 --port 8080", "--dsn … --password … --port 8080"},
		{"serve mcp --db ./one.json --token 12345 -v", "serve mcp --db ./one.json --token … -v"},
		{"/srv/data /srv/more", "/srv/data /srv/more"},
		{"--pin=1234 C:\\w file:///x?key=y", "--pin=… … …"},
	} {
		if got := strings.Join(Arguments(strings.Fields(test.args)), " "); got != test.want {
			t.Errorf("%s\n got  %s\n want %s", test.args, got, test.want)
		}
	}
}

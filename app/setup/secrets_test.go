package setup

import (
	"strings"
	"testing"
)

func TestShowCommand(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"serena|start-mcp-server|--context|claude-code|--project|/home/u/My Work", `serena start-mcp-server --context claude-code --project "/home/u/My Work"`},
		{"uvx|--from|git+https://github.com/oraios/serena|serena|start-mcp-server", "uvx --from git+https://github.com/oraios/serena serena start-mcp-server"},
		{"npx|x|--api-key|abc|y", "npx x --api-key … y"},
		{"npx|x|--token=abc", "npx x --token=…"},
		{"npx|x|--no-auth|--port|1", "npx x --no-auth --port 1"},
		{"npx|x|-password|--abc", "npx x -password --abc"},
		{"docker|run|-e|API_KEY=abc|image", "docker run -e API_KEY=… image"},
		{"docker|run|-e|API_KEY|image", "docker run -e API_KEY image"},
		{"env|GITHUB_TOKEN=ghp|NAME=v|x", "env GITHUB_TOKEN=… NAME=v x"},
		{"npx|mcp-remote|https://u:pw@host/x|--header|Authorization: Bearer abc def", `npx mcp-remote https://…@host/x --header "Authorization: …"`},
		{"npx|mcp-remote|https://host/x?api_key=abc&y=1", `npx mcp-remote "https://host/x?api_key=…&y=1"`},
		{"npx|mcp-remote|https://mcp.host/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA/mcp", "npx mcp-remote https://mcp.host/s/…/mcp"},
		{"bash|-c|SECRET='a b' PW_AUTH=x serena start", `bash -c "SECRET=… PW_AUTH=… serena start"`},
		{"x|sk-proj-abcdefghijklmnop", "x …"},
		{"x|AKIAIOSFODNN7EXAMPLE", "x …"},
		{"x|3f786850e387550fdab836ed7e6dc881de23001b", "x …"},
		{"/nix/store/0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd-serena/bin/serena|x", "/nix/store/0c5b1xq1kq3nc4a2g6a9fsq6g7b0n5kd-serena/bin/serena x"},
		{"x|@modelcontextprotocol/server-filesystem", "x @modelcontextprotocol/server-filesystem"},
		{"x|a\x1b[31mb\nc", `x "a[31mb c"`},
		{"/opt/token/serena|start-mcp-server", "/opt/token/serena start-mcp-server"},
	} {
		if got := showCommand(strings.Split(test.words, "|")); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.words, got, test.want)
		}
	}
	if got := showAddress("https://u:p@h/mcp?token=x"); got != "https://…@h/mcp?token=…" {
		t.Error(got)
	}
	if got := showCommand([]string{"x", strings.Repeat("a ", 5000)}); len(got) > 2*mostShown {
		t.Error(len(got))
	}
}

func FuzzShowCommand(f *testing.F) {
	f.Add("npx\x00--api-key\x00abc")
	f.Add("x\x00Authorization: Bearer abc")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\x00")
		shown := showCommand(append(words, "--password", "Geheim-12", "API_KEY=Geheim-13", "https://u:Geheim-14@h/"))
		if strings.Contains(strings.ReplaceAll(shown, text, ""), "Geheim-") && !strings.Contains(text, "Geheim") {
			t.Errorf("%q", shown)
		}
		if strings.ContainsAny(shown, "\x1b\n") {
			t.Errorf("%q", shown)
		}
	})
}

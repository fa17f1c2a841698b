package setup

import (
	"strings"
	"testing"
)

func TestShowCommand(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"serena|start-mcp-server|--project|/home/u/My Work", `serena start-mcp-server --project "/home/u/My Work"`},
		{"npx|x|--header|Authorization: Bearer abc def", `npx x --header "Authorization: …"`},
		{"x|a\x1b[31mb\nc", `x "a[31mb c"`},
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

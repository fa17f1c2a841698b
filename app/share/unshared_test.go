package share

import (
	"strings"
	"testing"
)

func TestProgramOf(t *testing.T) {
	for line, want := range map[string]string{
		"":                               "",
		"python3 /w/srv.py":              "srv.py",
		"python3 -c print()":             "python3",
		"uvx --from serena-agent serena": "serena",
		"./evil\x1b[2J":                  "evil[2J",
	} {
		if got := programOf(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := programOf([]string{strings.Repeat("x", 4000)}); len(got) > 200 {
		t.Errorf("%d bytes", len(got))
	}
	if programOf([]string{""}) != "" || programOf([]string{"node", "/"}) != "" {
		t.Error("nothing has a name")
	}
}

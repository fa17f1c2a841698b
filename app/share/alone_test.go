package share

import (
	"strings"
	"testing"
)

func TestProgramOf(t *testing.T) {
	for line, want := range map[string]string{
		"":               "",
		"python3 srv.py": "srv.py",
		"/usr/bin/python3.13 -u -X dev /w/srv.py --port 3": "srv.py",
		"python -m my_server --stdio":                      "my_server",
		"python3 -c print()":                               "python3",
		"python3":                                          "python3",
		`C:\Python\python.exe C:\w\srv.py`:                 "srv.py",
		"node --require x.js dist/index.js":                "index.js",
		"npx -y @scope/server-mail":                        "server-mail",
		"uvx --from serena-agent serena":                   "serena",
		"uv run --directory /w srv.py":                     "srv.py",
		"bash -c x":                                        "bash",
		"/opt/bin/my-server --stdio":                       "my-server",
		"java -jar /w/mail.jar":                            "mail.jar",
		"./evil\x1b[2J":                                    "evil[2J",
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

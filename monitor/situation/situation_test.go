package situation

import (
	"strings"
	"testing"
)

const small = `{"name":"a","source":"https://example.org/1","origin":"constructed","story":"","platform":"linux","now":"2026-11-20T10:00:00Z","uid":1000,
	"processes":[{"pid":2,"ppid":1,"start":5,"uid":1000,"name":"python3","exe":"/usr/bin/python3","args":["python3","/usr/bin/serena","start-mcp-server"],
	"server":{"proof":{"Client":{"PID":3,"Start":4,"Name":"Codex"},"Pipe":{"In":{"Inode":7},"Out":{"Inode":8}},"AloneSince":"2026-11-20T09:00:00Z"},"closed":true}}],
	"policies":{},"expect":[{"pid":2,"do":"end","rule":"orphans","because":"has ended"}]}`

func TestParse(t *testing.T) {
	if _, err := Parse([]byte(small)); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		`"name":"a"|"nmae":"a"`:                          "unknown field",
		`"name":"a"|"name":""`:                           "no name",
		`"now":"2026-11-20T10:00:00Z"|"now":"yesterday"`: "yesterday",
		`"uid":1000,|"uid":1000,"self":9,`:               "self is process 9",
		`"processes":[|"processes":[{"pid":2},`:          "process 2 is there twice",
		`"expect":[{"pid":2|"expect":[{"pid":4`:          "something is expected of process 4",
		`]}` + "\n" + `|`:                                "",
	} {
		from, to, _ := strings.Cut(change, "|")
		text := strings.Replace(small, from, to, 1)
		if want == "" {
			text = small + "{}"
			want = "more follows"
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}

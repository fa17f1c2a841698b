package situation

import (
	"strings"
	"testing"
)

const small = `{"name":"a","source":"https://example.org/1","origin":"constructed","story":"","platform":"linux","now":"2026-11-20T10:00:00Z","uid":1000,
	"processes":[{"pid":2,"ppid":1,"start":5,"uid":1000,"name":"python3","exe":"/usr/bin/python3","args":["python3","/usr/bin/serena","start-mcp-server"],
	"fds":[{"fd":0,"pipe":7,"access":"r","closed":true},{"fd":1,"pipe":8,"access":"w","closed":true}]}],
	"servers":[{"pid":2,"client":{"pid":3,"start":4,"name":"Codex"},"link":{"in":7,"out":8},"alone_since":"2026-11-20T09:00:00Z"}],
	"settings":{},"expect":[{"pid":2,"do":"end","rule":"orphans","because":"has ended"}]}`

func TestParse(t *testing.T) {
	if _, err := Parse([]byte(small)); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		`"name":"a"|"nmae":"a"`:                                                                    "unknown field",
		`"name":"a"|"name":""`:                                                                     "no name",
		`"origin":"constructed"|"origin":"heard"`:                                                  "its origin",
		`"now":"2026-11-20T10:00:00Z"|"now":"yesterday"`:                                           "yesterday",
		`"platform":"linux"|"platform":"beos"`:                                                     "its platform",
		`"uid":1000,|"uid":1000,"self":9,`:                                                         "self is process 9",
		`"uid":1000,|"uid":1000,"order":"some",`:                                                   "its order",
		`"access":"r"|"access":"x"`:                                                                "access",
		`"pipe":7,"access":"r"|"pipe":7,"file":"null"`:                                             "not one of",
		`"pipe":8,"access":"w"|"pipe":7,"access":"w"`:                                              "closed at the other end, which process 2 holds",
		`"servers":[{"pid":2|"servers":[{"pid":3`:                                                  "not among the processes",
		`"link":{"in":7,"out":8}|"link":{"in":7,"out":0}`:                                          "lacks an end",
		`"client":{"pid":3,"start":4,"name":"Codex"},|`:                                            "with which client",
		`"expect":[{"pid":2|"expect":[{"pid":4`:                                                    "something is expected of process 4",
		`"settings":{}|"settings":{},"then":{"servers":[{"pid":9}]}`:                               "then: server 9 is not",
		`"settings":{}|"settings":{},"rules":[{"name":"x","program":"python","arguments":["-c"]}]`: "its rule",
		`]}` + "\n" + `|`:                                                                          "",
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

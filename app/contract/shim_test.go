//go:build contract && linux

package contract

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// say sends a line to a wrapper.
func (p *process) say(t testing.TB, line string) {
	t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	must(t, err)
}

// answer is the line with this id, which has not been used before, as the wrapper
// writes it.
func (p *process) answer(t testing.TB, id string) (answer string) {
	t.Helper()
	apptest.Eventually(t, "an answer to "+id, func() bool {
		ended := !p.running()
		for line := range strings.Lines(p.out.String()) {
			line, whole := strings.CutSuffix(line, "\n")
			var m struct{ ID json.RawMessage }
			if whole && json.Unmarshal([]byte(line), &m) != nil {
				t.Fatalf("it writes %q", line)
			}
			if whole && string(m.ID) == id {
				answer = line
				return true
			}
		}
		if ended {
			t.Fatalf("it has ended without an answer to %s: %s", id, p.err.String())
		}
		return false
	})
	return answer
}

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// greet initializes, with the revision of R5.
func (p *process) greet(t testing.TB) {
	t.Helper()
	p.say(t, greeting)
	apptest.Contains(t, p.answer(t, "0"), `"protocolVersion":"2025-03-26"`)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls a tool and returns the whole answer.
func (p *process) call(t testing.TB, id, tool, arguments string) string {
	t.Helper()
	p.say(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	return p.answer(t, id)
}

// wakes waits until a call is answered by a server that has its project.
func (p *process) wakes(t testing.TB, project, id string) {
	t.Helper()
	n := 0
	apptest.Eventually(t, "a call of "+id+" is answered for its project", func() bool {
		n++
		return strings.Contains(p.call(t, id+strconv.Itoa(n), "get_current_config", "{}"), "Active project: "+project+",")
	})
}

// wrapper starts what a client starts for a project, and greets it.
func (w *world) wrapper(t testing.TB, command ...string) *process {
	t.Helper()
	s := w.start(t, nil, append(connect("--"), command...)...)
	s.greet(t)
	return s
}

// oddities are arguments that a careless relay would change.
var oddities = []string{
	`{}`,
	`{ "a" :	1 ,  "b":[ ]  }`,
	`{"z":1,"a":2,"a":3}`,
	`{"n":12345678901234567890123,"e":1E+2,"f":1.0,"g":-0,"h":0.1000000000000000055511151231257827}`,
	`{"s":"\u00e9é\/\"\\\b\f\n\r\t\u0000\u2028<>&"}`,
	"{\"raw\":\"\u2028 \u007f \U0001F600 \u00a0\"}",
	`{"pair":"\ud83d\ude00","half":"\ud800"}`,
	`{"deep":` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `}`,
	`{"id":99,"method":"x","params":{"id":1},"jsonrpc":"1.0"}`,
	`{"long":"` + strings.Repeat("x", 300_000) + `"}`,
}

// What a client sends arrives as it was, and so does what a server answers. Of
// the envelope the id alone may differ on the way.
func TestRelayKeepsBytes(t *testing.T) {
	project := home.project(t, "relay")
	s := home.wrapper(t, home.stdioServer(project)...)
	odd := ` { "extra" : {"x": 1.0}, "params":{ "arguments" : {"é":"\u00e9"}, "name":"echo", "_meta":{"progressToken":"t"} } ,"method":"tools/call",	"id" :  77 , "jsonrpc":"2.0"} `
	s.say(t, odd)
	s.answer(t, "77")
	id := regexp.MustCompile(`"id" :  [^ ]+ `)
	sent := []string{id.ReplaceAllString(strings.TrimSpace(odd), "ID")}
	ids := []string{`1`, `"1"`, `"two words"`, `-7`, `9007199254740993`, `"\u00e9"`, `""`, `1.5`, `"a\"b"`, `1000000000000`}
	for i, arguments := range oddities {
		want := `{"jsonrpc":"2.0","id":` + ids[i] + `,"result":{"content":[],"isError":false,"echo":` + arguments + `}}`
		got := s.call(t, ids[i], "echo", arguments)
		check(t, got == want, "the answer to %.300q with %.300q is %.500q", ids[i], arguments, got)
		sent = append(sent, `,"method":"tools/call","params":{"name":"echo","arguments":`+arguments+`}}`)
	}
	received := id.ReplaceAllString(read(filepath.Join(project, receivedFile)), "ID")
	for _, want := range sent {
		check(t, strings.Contains(received, want), "the server has not received %.500q", want)
	}
	// Else it is there for the verbs without a daemon, to which ours is another client.
	home.does(t, fine, "stop", strconv.Itoa(only(t, project)))
}

//go:build contract && linux

package contract

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wrapped is the command that a client would run for a project.
func (w *world) wrapped(project string) []string {
	return []string{w.path("bin", serena), "start-mcp-server", "--context", "ide", "--project", project}
}

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
	eventually(t, "an answer to "+id, func() bool {
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
	if said := p.answer(t, "0"); !strings.Contains(said, `"protocolVersion":"2025-03-26"`) {
		t.Errorf("initialize: %s", said)
	}
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls a tool and returns the whole answer.
func (p *process) call(t testing.TB, id, tool, arguments string) string {
	t.Helper()
	p.say(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	return p.answer(t, id)
}

// wrapper starts what a client starts for a project. It is not greeted.
func (w *world) wrapper(project string) *process {
	return w.start(nil, append(connect("--"), w.wrapped(project)...))
}

// shimFor is a wrapper of the one daemon that has been greeted, of the usual command
// unless another is given. With the test, it and its server end.
func shimFor(t testing.TB, project string, command ...string) *process {
	t.Helper()
	if command == nil {
		command = home.wrapped(project)
	}
	s := home.start(nil, append(connect("--"), command...))
	t.Cleanup(func() {
		s.end()
		for _, pid := range servers(project) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		eventually(t, "nothing is listed for "+project, func() bool { return home.find("project_root", project) == nil })
	})
	s.greet(t)
	return s
}

// R5: wrappers that come and go add no servers, and the daemon stays one.
func TestEphemeralWrappers(t *testing.T) {
	project := home.project("ephemeral")
	first, daemons := 0, processesOf("/lamplighter\x00run\x00")
	for range 4 {
		s := shimFor(t, project)
		if said := s.call(t, "1", "get_current_config", "{}"); !strings.Contains(said, "Active project: "+project) {
			t.Errorf("it answers %s", said)
		}
		must(t, s.cmd.Process.Signal(syscall.SIGTERM)) // with its standard input open
		select {
		case <-s.done:
		case <-time.After(5 * time.Second): // R5's
			t.Error("it runs on 5 s after SIGTERM")
		}
		if now := only(t, project); first != 0 && now != first {
			t.Errorf("its server is %d, and was %d", now, first)
		} else {
			first = now
		}
	}
	if now := processesOf("/lamplighter\x00run\x00"); len(now) != 1 || !slices.Equal(now, daemons) {
		t.Errorf("daemons %v, before %v", now, daemons)
	}
	eventually(t, "it is listed as one that can be shared", func() bool {
		in := home.instance(first)
		return in["managed"] == true && in["shared_by"] != nil
	})
}

// Without a daemon a wrapper fails loudly and starts none.
func TestNoDaemon(t *testing.T) {
	w := another(t, "")
	project := w.project("nobody")
	elsewhere := w.path("elsewhere.sock")
	wrapper := append(connect("--"), w.wrapped(project)...)
	for name, row := range map[string]struct {
		line            []string
		socket, in, out string
		status          int
	}{
		"wrapper":           {line: wrapper, status: 69},
		"verb":              {line: append(lamplighter("connect", "--"), w.wrapped(project)...), status: 69},
		"another socket":    {line: wrapper, socket: elsewhere, status: 69},
		"asked for a thing": {line: wrapper, in: greeting + "\n", out: `{"jsonrpc":"2.0","id":0,"error":{`, status: 69},
		"or direct":         {line: connect("--or-direct", "--", "/bin/echo", "a  b", "--", "--or-direct"), out: "a  b -- --or-direct\n"},
		"its status":        {line: connect("--or-direct", "--", "/bin/sh", "-c", "cat; exit 7"), in: greeting + "\n", out: greeting + "\n", status: 7},
		"no command":        {line: connect(), status: 2},
	} {
		s := w.start(func(c *exec.Cmd) {
			c.Stdin = strings.NewReader(row.in)
			if row.socket != "" {
				c.Env = append(c.Env, "LAMPLIGHTER_SOCKET="+row.socket)
			}
		}, row.line)
		status, out, errs := s.status(t), s.out.String(), s.err.String()
		if status != row.status || !strings.HasPrefix(out, row.out) || row.out == "" && out != "" || strings.Count(out, "\n") > 1 {
			t.Errorf("%s: status %d, stdout %q, stderr %q", name, status, out, errs)
		}
		if status != 0 && errs == "" || !strings.Contains(errs, row.socket) {
			t.Errorf("%s: it does not say what was tried: %q", name, errs)
		}
	}
	if left := servers(project); len(left) != 0 {
		t.Errorf("these were started: %v", left)
	}
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
	project := home.project("relay")
	s := shimFor(t, project)
	ids := []string{`1`, `"1"`, `"two words"`, `-7`, `9007199254740993`, `"\u00e9"`, `""`, `1.5`, `"a\"b"`, `1000000000000`}
	for i, arguments := range oddities {
		want := `{"jsonrpc":"2.0","id":` + ids[i] + `,"result":{"content":[],"isError":false,"echo":` + arguments + `}}`
		if got := s.call(t, ids[i], "echo", arguments); got != want {
			t.Errorf("the answer to %.300q with %.300q is %.500q", ids[i], arguments, got)
		}
	}
	odd := ` { "extra" : {"x": 1.0}, "params":{ "arguments" : {"é":"\u00e9"}, "name":"echo", "_meta":{"progressToken":"t"} } ,"method":"tools/call",	"id" :  77 , "jsonrpc":"2.0"} `
	s.say(t, odd)
	s.answer(t, "77")
	id := regexp.MustCompile(`"id" :  [^ ]+ `)
	wants := []string{id.ReplaceAllString(strings.TrimSpace(odd), "ID")}
	for _, arguments := range oddities {
		wants = append(wants, `,"method":"tools/call","params":{"name":"echo","arguments":`+arguments+`}}`)
	}
	received := id.ReplaceAllString(strings.Join(lines(project, receivedFile), "\n"), "ID")
	for _, want := range wants {
		if !strings.Contains(received, want) {
			t.Errorf("the server has not received %.500q", want)
		}
	}
}

// lines are those of a file that the stand-ins of a project write.
func lines(project, file string) []string {
	text, _ := os.ReadFile(filepath.Join(project, file)) // it may come later
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// The server dies in the middle of a call: the client is told, the call is not
// made again, and the next one is served by another server. The wrapper ends with
// its input.
func TestServerDies(t *testing.T) {
	project := home.project("dies")
	s := shimFor(t, project)
	answered := func(said, part string) {
		t.Helper()
		if !strings.Contains(said, part) {
			t.Errorf("the answer is %s, without %s", said, part)
		}
	}
	s.call(t, "1", "echo", `{"n":1}`)
	pids := []int{only(t, project)}
	answered(s.call(t, "2", "die", `{"n":2}`), `"error"`)
	answered(s.call(t, "3", "echo", `{"n":3}`), `"echo":{"n":3}`)
	pids = append(pids, only(t, project))
	s.say(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"wait","arguments":{"n":4}}}`)
	eventually(t, "the call runs", func() bool { return slices.Contains(lines(project, executedFile), `wait {"n":4}`) })
	must(t, syscall.Kill(pids[1], syscall.SIGKILL))
	answered(s.answer(t, "4"), `"error"`)
	answered(s.call(t, "5", "echo", `{"n":5}`), `"echo":{"n":5}`)
	if pids = append(pids, only(t, project)); pids[0] == pids[1] || pids[1] == pids[2] {
		t.Errorf("the servers were %v", pids)
	}
	want := []string{`echo {"n":1}`, `die {"n":2}`, `echo {"n":3}`, `wait {"n":4}`, `echo {"n":5}`}
	if got := lines(project, executedFile); !slices.Equal(got, want) {
		t.Errorf("executed %q", got)
	}
	s.in.Close()
	s.ends(t, fine)
}

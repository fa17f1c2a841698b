//go:build contract && linux

package contract

import (
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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
func (p *process) wakes(t *testing.T, project, id string) {
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

// A client whose working directory was removed is told so, with its name, and no
// other directory of such a name is taken for it.
func TestWorkingDirectoryRemoved(t *testing.T) {
	for name, says := range map[string]string{"removed": "removed (deleted): the working directory was removed", "twice": "cannot be told"} {
		dir := home.project(t, name)
		if name == "twice" {
			home.project(t, name+" (deleted)")
		}
		command := connect("--", home.path("bin", serena), "start-mcp-server", "--context", "ide", "--project-from-cwd")
		p := home.start(t, func(c *exec.Cmd) { c.Dir = dir }, append([]string{"/bin/sh", "-c", `rm -r "$PWD" && exec "$@"`, "sh"}, command...)...)
		p.say(t, greeting)
		if said := p.answer(t, "0"); !strings.Contains(said, `"error"`) || !strings.Contains(said, says) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// shimFor is a wrapper of the one daemon, of the usual command unless another is
// given. With the test, its server ends, too.
func shimFor(t testing.TB, project string, command ...string) *process {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range servers(project) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		apptest.Eventually(t, "nothing is listed for "+project, func() bool { return home.find("project_root", project) == nil })
	})
	if command == nil {
		command = home.stdioServer(project)
	}
	return home.wrapper(t, command...)
}

// R5: wrappers that come and go add no servers, and the daemon stays one.
func TestEphemeralWrappers(t *testing.T) {
	project := home.project(t, "ephemeral")
	var pids []int
	for range 4 {
		s := shimFor(t, project)
		apptest.Contains(t, s.call(t, "1", "get_current_config", "{}"), "Active project: "+project)
		must(t, s.cmd.Process.Signal(syscall.SIGTERM)) // with its standard input open
		select {
		case <-s.done:
		case <-time.After(5 * time.Second): // R5's
			t.Error("it runs on 5 s after SIGTERM")
		}
		pids = append(pids, only(t, project))
	}
	same(t, "its servers", slices.Compact(slices.Clone(pids)), pids[:1])
	same(t, "the daemons", processesOf("/lamplighter\x00run\x00"), []int{home.daemon.pid()})
	apptest.Eventually(t, "it is listed as one that can be shared", func() bool {
		in := instance(pids[0])
		return in["managed"] == true && in["shared_by"] != nil
	})
}

// Without a daemon a wrapper fails loudly and starts none.
func TestNoDaemon(t *testing.T) {
	w := another(t, "")
	project := w.project(t, "nobody")
	elsewhere := w.path("elsewhere.sock")
	wrapper := append(connect("--"), w.stdioServer(project)...)
	for name, row := range map[string]struct {
		line            []string
		socket, in, out string
		status          int
	}{
		"wrapper":           {line: wrapper, status: unreachable},
		"verb":              {line: append(lamplighter("connect", "--"), w.stdioServer(project)...), status: unreachable},
		"another socket":    {line: wrapper, socket: elsewhere, status: unreachable},
		"asked for a thing": {line: wrapper, in: greeting + "\n", out: `{"jsonrpc":"2.0","id":0,"error":{`, status: unreachable},
		"or direct":         {line: connect("--or-direct", "--", "/bin/echo", "a  b", "--", "--or-direct"), out: "a  b -- --or-direct\n"},
		"its status":        {line: connect("--or-direct", "--", "/bin/sh", "-c", "cat; exit 7"), in: greeting + "\n", out: greeting + "\n", status: 7},
		"no command":        {line: connect(), status: usage},
	} {
		s := w.start(t, func(c *exec.Cmd) {
			c.Stdin = strings.NewReader(row.in)
			if row.socket != "" {
				c.Env = append(c.Env, "LAMPLIGHTER_SOCKET="+row.socket)
			}
		}, row.line...)
		s.ends(t, row.status)
		out, errs := s.out.String(), s.err.String()
		check(t, strings.HasPrefix(out, row.out) && (row.out != "" || out == "") && strings.Count(out, "\n") <= 1, "%s: stdout is %q", name, out)
		check(t, (row.status == 0 || errs != "") && strings.Contains(errs, row.socket), "%s: it does not say what was tried: %q", name, errs)
	}
	living(t, false, "without a daemon", servers(project)...)
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
	s := shimFor(t, project)
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
}

// The server dies in the middle of a call: the client is told, the call is not
// made again, and the next one is served by another server. The wrapper ends with
// its input.
func TestServerDies(t *testing.T) {
	project := home.project(t, "dies")
	executed := func() (calls []string) {
		for _, call := range regexp.MustCompile(`"name":"(\w+)","arguments":({"n":\d})`).FindAllStringSubmatch(read(filepath.Join(project, receivedFile)), -1) {
			calls = append(calls, call[1]+call[2])
		}
		return calls
	}
	s := shimFor(t, project)
	s.call(t, "1", "echo", `{"n":1}`)
	pids := []int{only(t, project)}
	apptest.Contains(t, s.call(t, "2", "die", `{"n":2}`), `"error"`)
	apptest.Contains(t, s.call(t, "3", "echo", `{"n":3}`), `"echo":{"n":3}`)
	pids = append(pids, only(t, project))
	s.say(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"wait","arguments":{"n":4}}}`)
	apptest.Eventually(t, "the call runs", func() bool { return slices.Contains(executed(), `wait{"n":4}`) })
	must(t, syscall.Kill(pids[1], syscall.SIGKILL))
	apptest.Contains(t, s.answer(t, "4"), `"error"`)
	apptest.Contains(t, s.call(t, "5", "echo", `{"n":5}`), `"echo":{"n":5}`)
	pids = append(pids, only(t, project))
	check(t, pids[0] != pids[1] && pids[1] != pids[2], "the servers were %v", pids)
	same(t, "executed", executed(), []string{`echo{"n":1}`, `die{"n":2}`, `echo{"n":3}`, `wait{"n":4}`, `echo{"n":5}`})
	s.in.Close()
	s.ends(t, fine)
}

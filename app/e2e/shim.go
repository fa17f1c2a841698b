//go:build real && linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	facts "lamplighter/monitor/process"
)

// ConnectProgram is the shim, as a client's settings name it.
func ConnectProgram() string { return Program + "-connect" }

// SerenaCommand is what a client would run without us, in the folder of a
// project.
var SerenaCommand = []string{"serena", "start-mcp-server", "--project-from-cwd", "--context", "ide", "--agent-interface", "tools"}

// Shim is one wrapper that a client has started, spoken to in raw lines.
type Shim struct {
	*Process
	In    io.WriteCloser
	lines chan string
	early map[string]Reply // answers that came before they were awaited, by id
	Told  []string         // lines that answer nothing, as far as Await has read them
}

// Wrap starts the shim for a command, as a client in that folder does.
func (m *Manager) Wrap(t *testing.T, dir string, command ...string) *Shim {
	t.Helper()
	return m.WrapAs(t, dir, append([]string{ConnectProgram(), "connect", "--"}, command...))
}

func (m *Manager) WrapAs(t *testing.T, dir string, line []string) *Shim {
	t.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env, cmd.Dir = m.Env, dir
	p := &Process{Cmd: cmd, Ended: make(chan struct{})}
	cmd.Stderr = &p.Err
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Shim{Process: p, In: in, lines: make(chan string, 1000), early: map[string]Reply{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(s.lines)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			s.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	go func() {
		defer close(p.Ended)
		<-read
		_ = cmd.Wait() // the status is read from ProcessState
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-p.Ended
	})
	return s
}

// Send writes one line.
func (s *Shim) Send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.In, line+"\n"); err != nil {
		t.Fatalf("%v; it said %q", err, s.Err.String())
	}
}

// Reply is a message from the server.
type Reply struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	Line string
}

// Await waits for the answer to that id, which comes once.
func (s *Shim) Await(t *testing.T, id string) Reply {
	t.Helper()
	if r, came := s.early[id]; came {
		delete(s.early, id)
		return r
	}
	limit := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				t.Fatalf("the shim has ended before it answered %s; it said %q", id, s.Err.String())
			}
			var r Reply
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v: %s", err, ExcerptOf(line))
			}
			r.Line = line
			if string(r.ID) == id {
				return r
			}
			if _, again := s.early[string(r.ID)]; again {
				t.Fatalf("answered twice: %s", line)
			}
			if r.Method == "" {
				s.early[string(r.ID)] = r
			} else {
				s.Told = append(s.Told, line)
			}
		case <-limit:
			t.Fatalf("no answer to %s; it said %q", id, s.Err.String())
		}
	}
}

// Handshake is the one of R5, with the version that it names.
func (s *Shim) Handshake(t *testing.T) Reply {
	t.Helper()
	s.Send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"sharing-test","version":"1"}}}`)
	r := s.Await(t, "0")
	if r.Error != nil {
		t.Fatalf("initialising: %s", r.Line)
	}
	s.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

// Call begins a tool call.
func (s *Shim) Call(t *testing.T, id int, tool string, arguments any) {
	t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	s.Send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, text))
}

// Calls calls a tool and returns its text.
func (s *Shim) Calls(t *testing.T, id int, tool string, arguments any) string {
	t.Helper()
	s.Call(t, id, tool, arguments)
	return s.Await(t, fmt.Sprint(id)).Text(t)
}

// Text is that of an answered tool call.
func (r Reply) Text(t *testing.T) string {
	t.Helper()
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || result.IsError {
		t.Fatalf("it failed: %s", r.Line)
	}
	var all strings.Builder
	for _, c := range result.Content {
		all.WriteString(c.Text)
	}
	return all.String()
}

// Overview calls a tool that needs the language server.
func (s *Shim) Overview(t *testing.T, id int) string {
	t.Helper()
	return s.Calls(t, id, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
}

// ends ends the shim as clients do, with its standard input open.
func (s *Shim) Terminated(t *testing.T) {
	t.Helper()
	s.Signal(t, syscall.SIGTERM)
	s.Status(t)
}

// Serenas are the pids of the servers themselves: what the interpreter runs, and
// no keeper or shim above it. What a server starts looks like it until it
// has a program of its own.
func (m *Manager) Serenas() []int {
	var found []int
	for _, pid := range m.Running("start-mcp-server") {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if strings.HasPrefix(filepath.Base(exe), "python") {
			found = append(found, pid)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(pid int) bool {
		st, err := facts.ReadStat(pid)
		return err != nil || slices.Contains(found, st.Parent)
	})
}

// sharedOn is what the global dashboard says of a shared server.
type sharedOn struct {
	ID, State, Label string
	PID              *int
	SharedBy         *int    `json:"shared_by"`
	ProjectRoot      *string `json:"project_root"`
	Clients          []struct {
		PID  *int
		Name string
	}
}

// Shared are the shared servers, as the global dashboard has them.
func (m *Manager) Shared(t *testing.T) []sharedOn {
	t.Helper()
	var list struct{ Instances []sharedOn }
	m.instances(t, &list)
	var found []sharedOn
	for _, in := range list.Instances {
		if in.SharedBy != nil {
			found = append(found, in)
		}
	}
	return found
}

// Becomes waits until there is one shared server, in that state.
func (m *Manager) Becomes(t *testing.T, state string) sharedOn {
	t.Helper()
	var got sharedOn
	apptest.Eventually(t, "the shared server is "+state, func() bool {
		all := m.Shared(t)
		if len(all) == 1 {
			got = all[0]
		}
		return len(all) == 1 && got.State == state
	})
	return got
}

//go:build contract && linux

package contract

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The names under which the test program is a server itself, or what stands above
// one: serena is one of Serena 2.1.0 with its dashboard, over HTTP or stdio, and
// ledger one of a settings rule, over stdio.
const (
	serena       = "serena"
	ledger       = "ledger-server"
	launcherName = "uvx"    // runs the command that it is given, and ends with it
	clientName   = "client" // the same over pipes, and stays
)

// What a stand-in writes into its project's directory and reads from there.
const (
	receivedFile = "received" // each message of MCP as it came, a line each
	habitsFile   = "habits"   // words: see standIn.has
)

// becomeServer serves, when the program has the name of a server.
func becomeServer(name string, args []string) bool {
	switch {
	case name == launcherName || name == clientName:
		becomeParent(name, args)
	case name != serena && name != ledger:
		return false
	case slices.Contains(args, "--version"):
		fmt.Println("Serena 2.1.0")
		return true
	case len(args) == 0:
		os.Exit(2)
	}
	option := map[string]string{"--context": "desktop-app", "--transport": "stdio", "--port": "0"}
	for i := 1; i+1 < len(args); i++ {
		option[args[i]] = args[i+1]
	}
	s := &standIn{name: name, project: option["--project"], context: option["--context"]}
	if _, err := os.ReadDir(filepath.Join(s.project, ".serena")); err != nil {
		s.project = "" // as Serena does with a project that it cannot open
	}
	s.serve(option["--transport"], option["--port"])
	return true
}

// becomeParent runs a command as its child.
func becomeParent(name string, line []string) {
	child := &exec.Cmd{Path: line[0], Args: line, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if name == clientName {
		child.Stdin, child.Stdout = nil, nil
		_, _ = child.StdinPipe() // held until this process ends
		_, _ = child.StdoutPipe()
	}
	if child.Start() != nil {
		os.Exit(127)
	}
	_ = child.Wait() // what matters is that it has ended
	if name == clientName {
		select {}
	}
	os.Exit(0)
}

// standIn is such a server.
type standIn struct{ name, project, context string }

// has reports whether a habit is asked for: "busy" has a call that runs, "fail" ends
// at once, "mute" opens no port and reads nothing, so that it does not see its client
// go, "stubborn" ignores SIGTERM, "child" has one that does too, "broken" has a
// dashboard that answers wrongly, not at all, and not every route, "orders" runs the
// file of that name as a child.
func (s *standIn) has(habit string) bool {
	return s.project != "" && slices.Contains(strings.Fields(read(filepath.Join(s.project, habitsFile))), habit)
}

func (s *standIn) serve(transport, port string) {
	switch {
	case s.has("fail"):
		fmt.Fprintln(os.Stderr, "the stand-in was told to fail")
		os.Exit(3)
	case s.has("stubborn"):
		signal.Ignore(syscall.SIGTERM)
	case s.has("orders"):
		_ = exec.Command("sh", filepath.Join(s.project, "orders")).Start() // the outcome is missing then
	}
	if s.has("child") {
		_ = exec.Command("setsid", "tail", "-f", filepath.Join(s.project, habitsFile)).Start() // it inherits what is ignored, and is missed where it is not there
	}
	if s.has("mute") {
		time.Sleep(24 * time.Hour)
	}
	if s.name == serena {
		var l net.Listener
		for port := 24282; l == nil; port++ {
			l, _ = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) // it may be taken
		}
		go http.Serve(l, s)
	}
	if transport == "stdio" {
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if reply := s.reply(lines.Bytes()); reply != nil {
				os.Stdout.Write(append(reply, '\n'))
			}
		}
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "Uvicorn running on http://%s (Press CTRL+C to quit)\n", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(s.mcp))
}

// dashboard are the answers of that of Serena 2.1.0, with the names of what a
// stand-in knows.
//
//go:embed testdata/dashboard.json
var dashboard []byte

// ServeHTTP answers as the dashboard does.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/shutdown" {
		time.AfterFunc(50*time.Millisecond, func() { os.Exit(0) }) // the answer goes out first
	}
	if status, hit := map[string]int{"/get_tool_stats": 500, "/get_available_languages": 404, "/get_tool_names": 0}[r.URL.Path]; hit && s.has("broken") {
		if status == 0 {
			<-r.Context().Done()
		} else {
			w.WriteHeader(status)
		}
		return
	}
	name, path, running := "null", "null", ""
	if s.project != "" {
		name, path = jsonOf(filepath.Base(s.project)), jsonOf(s.project)
	}
	if s.has("busy") {
		running = `{"name": "Task-1:EchoTool", "task_id": 1, "is_running": true, "finished_successfully": false, "logged": true}`
	}
	var answers map[string]json.RawMessage
	_ = json.Unmarshal(dashboard, &answers) // then there are none
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "application/json")
	text := string(answers[r.Method+" "+r.URL.Path])
	_, _ = strings.NewReplacer(`"{name}"`, name, `"{path}"`, path, `"{context}"`, jsonOf(s.context), `"{running}"`, running).WriteString(w, text)
}

// mcp is the server's end of streamable HTTP.
func (s *standIn) mcp(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed) // it says nothing by itself, and keeps no session
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	reply := s.reply(body)
	if reply == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Mcp-Session-Id", "session-of-the-stand-in")
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", reply)
}

// reply answers one message, nil where there is no answer. What is echoed is
// echoed byte for byte.
func (s *standIn) reply(message []byte) []byte {
	if s.project != "" {
		f, err := os.OpenFile(filepath.Join(s.project, receivedFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil { // else the project has gone
			fmt.Fprintf(f, "%s\n", message)
			f.Close()
		}
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name            string
			Arguments       json.RawMessage
			ProtocolVersion string
		}
	}
	if json.Unmarshal(message, &m) != nil || m.ID == nil || m.Method == "" {
		return nil
	}
	result := "{}"
	switch tool := m.Params.Name; {
	case m.Method == "initialize":
		result = `{"protocolVersion":"` + m.Params.ProtocolVersion + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"Serena","version":"2.1.0"}}`
	case m.Method == "tools/list":
		result = `{"tools":[{"name":"echo","description":"","inputSchema":{"type":"object"}}]}`
	case tool == "die":
		os.Exit(9)
	case tool == "wait":
		time.Sleep(time.Hour)
	case tool == "get_current_config":
		result = `{"content":[{"type":"text","text":` + jsonOf(fmt.Sprintf("Active project: %s, process %d", s.project, os.Getpid())) + `}],"isError":false}`
	case tool != "":
		result = `{"content":[],"isError":false,"echo":` + string(m.Params.Arguments) + `}`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// stdioServer and httpServer are the commands of a Serena for a project.
func (w *world) stdioServer(project string) []string {
	return []string{w.path("bin", serena), "start-mcp-server", "--context", "ide", "--project", project}
}

func (w *world) httpServer(project string) []string {
	return append(w.stdioServer(project), "--transport", "streamable-http", "--port", "0")
}

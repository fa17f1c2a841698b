//go:build contract && linux

package contract

import (
	"bufio"
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
	"testing"
	"time"

	"lamplighter/app/apptest"
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

// firstDashboard is the port from which on dashboards are.
const firstDashboard = 24282

// What a stand-in writes into its project's directory and reads from there.
const (
	receivedFile = "received" // each message of MCP as it came, a line each
	executedFile = "executed" // each call of a tool that was begun, a line each
	habitsFile   = "habits"   // words: see standIn.has
)

// Two habits: a call runs; reads nothing, and so does not see that its client goes.
const (
	busyHabit = "busy"
	deafHabit = "deaf"
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
	if slices.Contains(args, "--project-from-cwd") {
		s.project, _ = os.Getwd() // then it has none
	}
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

// has reports whether a habit is asked for: "fail" ends at once, "mute" opens
// no port, "stubborn" ignores SIGTERM, "child" has one that does too, "broken"
// has a dashboard that answers wrongly, not at all, and not every route, "orders"
// runs the file of that name as a child.
func (s *standIn) has(habit string) bool {
	return s.project != "" && slices.Contains(strings.Fields(read(filepath.Join(s.project, habitsFile))), habit)
}

// note appends a line to a file of the project.
func (s *standIn) note(file string, line []byte) {
	if s.project == "" {
		return
	}
	f, err := os.OpenFile(filepath.Join(s.project, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // the project has gone
	}
	defer f.Close()
	_, _ = f.Write(append(slices.Clip(line), '\n'))
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
		child := exec.Command("/bin/sleep", "1000") // it inherits what is ignored
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if child.Start() != nil {
			os.Exit(1)
		}
	}
	if s.has("mute") || s.has(deafHabit) {
		for {
			time.Sleep(time.Hour)
		}
	}
	if s.name == serena {
		for at := firstDashboard; ; at++ {
			if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(at)); err == nil {
				go http.Serve(l, s)
				break
			}
		}
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

// dashboard are the answers of that of Serena 2.1.0, with the names of what the
// stand-in knows.
var dashboard = map[string]string{
	"GET /heartbeat":                      `{"status": "alive"}`,
	"GET /get_tool_names":                 `{"tool_names": ["get_current_config", "echo", "wait", "die"]}`,
	"GET /get_tool_stats":                 `{"stats": {}}`,
	"POST /clear_tool_stats":              `{"status": "cleared"}`,
	"GET /get_token_count_estimator_name": `{"token_count_estimator_name": "CHAR_COUNT"}`,
	"POST /get_log_messages":              `{"messages": ["INFO  2026-11-20 10:00:00,000 [MainThread] serena.cli:start:1 - ready"], "max_idx": 0, "active_project": {name}}`,
	"GET /queued_task_executions":         `{"queued_executions": [{queue}], "status": "success"}`,
	"GET /last_execution":                 `{"last_execution": null, "status": "success"}`,
	"POST /cancel_task_execution":         `{"status": "success", "was_cancelled": false}`,
	"GET /get_available_languages":        `{"languages": ["go", "python"]}`,
	"POST /get_memory":                    `{"content": "kept", "memory_name": "notes"}`,
	"POST /save_memory":                   `{"status": "success"}`,
	"POST /delete_memory":                 `{"status": "success"}`,
	"POST /rename_memory":                 `{"status": "success"}`,
	"POST /add_language":                  `{"status": "success"}`,
	"POST /remove_language":               `{"status": "success"}`,
	"PUT /shutdown":                       `{"status": "shutting down"}`,
	"GET /get_config_overview": `{"active_project": {"name": {name}, "path": {path}, "language": null}, "context": {"name": {context}, "description": "", "path": "/contexts"},
		"modes": [{"name": "editing", "is_active": true}], "active_tools": ["echo"], "agent_interface": "tools", "language_backend": "LSP", "serena_version": "2.1.0",
		"current_client": null, "registered_projects": [], "available_tools": [], "available_modes": [], "available_contexts": [], "tool_stats_summary": {}, "jetbrains_mode": false}`,
}

// ServeHTTP answers as the dashboard does, a broken one wrongly, not at all, and not
// every route.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, known := dashboard[r.Method+" "+r.URL.Path]
	broken := s.has("broken")
	switch {
	case !known || broken && r.URL.Path == "/get_available_languages":
		http.NotFound(w, r)
		return
	case broken && r.URL.Path == "/get_tool_stats":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case broken && r.URL.Path == "/get_tool_names":
		<-r.Context().Done()
		return
	case r.URL.Path == "/shutdown":
		time.AfterFunc(50*time.Millisecond, func() { os.Exit(0) }) // the answer goes out first
	}
	names := map[string]string{"name": "null", "path": "null", "context": jsonOf(s.context), "queue": ""}
	if s.project != "" {
		names["name"], names["path"] = jsonOf(filepath.Base(s.project)), jsonOf(s.project)
	}
	if s.has(busyHabit) {
		names["queue"] = `{"name": "Task-1:EchoTool", "task_id": 1, "is_running": true, "finished_successfully": false, "logged": true}`
	}
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, fill(text, names)) // the client may have gone
}

// jsonOf is a text as JSON has it.
func jsonOf(text string) string {
	encoded, _ := json.Marshal(text) // of a text there is always one
	return string(encoded)
}

// mcp is the server's end of streamable HTTP.
func (s *standIn) mcp(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	case http.MethodDelete:
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
	s.note(receivedFile, message)
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
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"` + m.Params.ProtocolVersion + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"Serena","version":"2.1.0"}}`
	case "tools/list":
		result = `{"tools":[{"name":"echo","description":"","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = s.call(m.Params.Name, m.Params.Arguments)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// call executes one call of a tool.
func (s *standIn) call(tool string, arguments json.RawMessage) string {
	s.note(executedFile, fmt.Appendf(nil, "%s %s", tool, arguments))
	switch tool {
	case "die":
		os.Exit(9)
	case "wait":
		time.Sleep(time.Hour)
	case "get_current_config":
		return `{"content":[{"type":"text","text":` + jsonOf(fmt.Sprintf("Active project: %s, process %d", s.project, os.Getpid())) + `}],"isError":false}`
	}
	return `{"content":[],"isError":false,"echo":` + string(arguments) + `}`
}

// server is a Serena that a client has started, over HTTP.
type server struct {
	*process
	project string
	port    int // of its dashboard
}

// stdioServer and httpServer are the commands of a Serena for a project.
func (w *world) stdioServer(project string) []string {
	return []string{w.path("bin", serena), "start-mcp-server", "--context", "ide", "--project", project}
}

func (w *world) httpServer(project string) []string {
	return append(w.stdioServer(project), "--transport", "streamable-http", "--port", "0")
}

// startServer starts a Serena over HTTP for the project of that name, "" for none,
// and waits until its dashboard answers.
func (w *world) startServer(t testing.TB, name string) *server {
	t.Helper()
	s := new(server)
	if name != "" {
		s.project = w.project(t, name)
	}
	s.process = w.start(t, nil, w.httpServer(s.project)...)
	apptest.Eventually(t, "the dashboard of "+name+" answers", func() bool {
		for _, l := range listenersOf(s.pid()) {
			if l.port >= firstDashboard && l.port < firstDashboard+1000 {
				s.port = l.port
			}
		}
		return s.port != 0
	})
	return s
}

// startFound starts a Serena and waits until the one daemon has found it.
func startFound(t testing.TB, name string) *server {
	t.Helper()
	s := home.startServer(t, name)
	home.is(t, "live_with_project", "pid", float64(s.pid()))
	return s
}

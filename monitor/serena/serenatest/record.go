package serenatest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
)

// Hello is the initialize request that transcripts were recorded with.
const Hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// recorder asks one server and keeps what it answers.
type recorder struct {
	testing.TB
	server  *Server
	client  http.Client
	session string // of MCP
	scrub   *scrubber
	states  []State
}

// Record starts a Serena of a version and asks it all that the product asks one,
// in each state. For Version it starts another one, with the interface REPL.
func Record(t testing.TB, version string) Transcript {
	t.Helper()
	r := newRecorder(t, Options{Version: version, HTTP: true})
	tr := Transcript{Version: version}
	tr.Exe, tr.Args = r.process()
	project := GoProject(t, "alpha")
	r.scrub.replace(project, "/home/user/alpha")

	r.begin(NoProject, "")
	r.read()
	r.get("/get_config_overview")
	r.handshake()
	r.conversation()

	r.begin(Project, NoProject)
	r.tool("activate_project", map[string]any{"project": project, "session": "test"})
	r.await("the project is ready", func() bool {
		return r.says("/last_execution", `"finished_successfully":true`) && r.says("/last_execution", ":init_") && r.says("/queued_task_executions", `"queued_executions":[]`)
	})
	r.read()
	r.get("/get_config_overview")
	r.get("/get_available_languages")
	r.tool("list_dir", map[string]any{"relative_path": ".", "recursive": false})

	r.begin(Busy, Project)
	finish := r.work()
	r.read()
	late := []func() Exchange{r.late(r.request(http.MethodPost, "/get_memory", `{"memory_name":"none"}`))}
	r.await("the memory is asked for", func() bool { return r.says("/queued_task_executions", "BackgroundTask:") })
	r.get("/queued_task_executions")
	if overview := r.request(http.MethodGet, "/get_config_overview", ""); version == Version15 {
		late = append(late, r.late(overview))
		r.await("the overview is asked for", func() bool { return r.says("/queued_task_executions", "BackgroundTask:_get_config_overview") })
	} else {
		r.do(overview)
	}
	r.get("/heartbeat")
	finish()

	r.begin(Called, Project)
	for _, answer := range late {
		r.add(answer())
	}
	r.await("the call has ended", func() bool {
		return r.says("/last_execution", `ExecuteShellCommandTool`) && r.says("/last_execution", `"is_running":false`) && r.says("/get_tool_stats", "execute_shell_command")
	})
	r.read()

	r.begin(CutOff, Called)
	finish = r.work()
	r.cancel()
	r.await("the call is cut off", func() bool {
		return r.says("/queued_task_executions", `"queued_executions":[]`) && r.says("/last_execution", `"finished_successfully":false`)
	})
	r.read()

	r.begin(Changed, Project)
	r.change()
	finish() // not before: a call that was cut off may count when it ends
	r.do(r.request(http.MethodDelete, mcpPath, ""))
	r.do(r.request(http.MethodPut, "/shutdown", ""))
	tr.States = r.states
	if version == Version {
		tr.States = append(tr.States, recordREPL(t))
	}
	return tr
}

func newRecorder(t testing.TB, o Options) *recorder {
	t.Helper()
	connections := &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: startBudget}
	r := &recorder{TB: t, server: Start(t, o), client: http.Client{Transport: connections}}
	r.scrub = newScrubber(Tools(t), r.server.Home)
	r.server.WaitReady(t)
	r.await("the overview is there", func() bool { return r.says("/get_config_overview", "serena_version") })
	return r
}

// recordREPL is the state REPL.
func recordREPL(t testing.TB) State {
	t.Helper()
	project := GoProject(t, "alpha")
	r := newRecorder(t, Options{HTTP: true, Project: project, Args: []string{"--agent-interface", "REPL"}})
	r.scrub.replace(project, "/home/user/alpha")
	r.await("the project is ready", func() bool { return r.says("/last_execution", `"finished_successfully":true`) })
	r.begin(REPL, "")
	r.read()
	r.get("/get_config_overview")
	r.get("/get_available_languages")
	r.handshake()
	for _, code := range []string{"x = 41", "s.vars()", "x + 1", "s.clear()", "s.vars()"} {
		r.tool("serena_repl", map[string]any{"session": "mine", "code": code})
	}
	r.tool("serena_repl", map[string]any{"session": "nobody's", "code": "s.vars()"})
	r.do(r.request(http.MethodDelete, mcpPath, ""))
	return r.states[0]
}

// process is the server as the process table has it.
func (r *recorder) process() (exe string, args []string) {
	r.Helper()
	p, err := process.Read(r.server.ServerPID)
	if err != nil {
		r.Fatal(err)
	}
	for _, a := range p.Args {
		args = append(args, r.scrub.text(a))
	}
	if strings.HasPrefix(filepath.Base(p.Exe), "python") { // which one is the machine's
		p.Exe = "/usr/bin/python3"
	}
	return p.Exe, args
}

func (r *recorder) begin(state, after string) {
	r.states = append(r.states, State{Name: state, After: after})
}

// add keeps an exchange, unless the state before has the same answer.
func (r *recorder) add(e Exchange) {
	s := &r.states[len(r.states)-1]
	so := Transcript{States: r.states}
	if len(s.of(e.Ask)) == 0 {
		if before := so.answers(s.After, e.Ask); len(before) > 0 && reflect.DeepEqual(before[len(before)-1], e) {
			return
		}
	}
	s.Exchanges = append(s.Exchanges, e)
}

// read asks what may be asked at any time and is answered at once.
func (r *recorder) read() {
	r.Helper()
	for _, path := range []string{"/heartbeat", "/get_tool_names", "/get_tool_stats", "/get_token_count_estimator_name", "/queued_task_executions", "/last_execution"} {
		r.get(path)
	}
	for _, start := range []int{0, 1 << 30} {
		r.do(r.request(http.MethodPost, "/get_log_messages", fmt.Sprintf(`{"start_idx":%d}`, start)))
	}
}

// handshake begins a session of MCP.
func (r *recorder) handshake() {
	r.Helper()
	r.do(r.request(http.MethodPost, mcpPath, Hello))
	r.message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.message(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

// conversation is all else of MCP that needs no project.
func (r *recorder) conversation() {
	r.Helper()
	r.message(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	r.message(`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{}}`)
	long := strings.Repeat("x", maxPost+1)
	refused := r.request(http.MethodPost, mcpPath, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no_such_tool","arguments":{"text":"`+long+`"}}}`)
	refused.Header.Set("Expect", "100-continue") // who refuses it ends the connection
	r.do(refused)
	stranger := r.request(http.MethodGet, "/heartbeat", "")
	stranger.Host = "rebound.example"
	r.do(stranger)

	first := r.request(http.MethodGet, mcpPath, "")
	resp := r.send(first)
	r.add(Exchange{Ask: askOf(first, nil, ""), Status: resp.StatusCode, Header: headersOf(resp)})
	r.ask(r.request(http.MethodGet, mcpPath, ""), secondStream)
	resp.Body.Close()
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		lost := r.request(method, mcpPath, "")
		lost.Header.Set("Mcp-Session-Id", strings.Repeat("0", 32))
		r.ask(lost, unknownSession)
	}
	lost := r.request(http.MethodPost, mcpPath, `{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	lost.Header.Set("Mcp-Session-Id", strings.Repeat("0", 32))
	r.ask(lost, unknownSession)
}

// change asks the dashboard for all that it can change.
func (r *recorder) change() {
	r.Helper()
	post := func(path, body string) { r.Helper(); r.do(r.request(http.MethodPost, path, body)) }
	post("/clear_tool_stats", "")
	r.get("/get_tool_stats")
	post("/cancel_task_execution", `{"task_id":9007199254740991}`)
	post("/save_memory", `{"memory_name":"first","content":"# é <b>"}`)
	post("/get_memory", `{"memory_name":"first"}`)
	post("/rename_memory", `{"old_name":"first","new_name":"second"}`)
	post("/get_memory", `{"memory_name":"first"}`)
	post("/get_memory", `{"memory_name":"second"}`)
	post("/delete_memory", `{"memory_name":"second"}`)
	post("/add_language", `{"language":"no such"}`)
	post("/remove_language", `{"language":"no such"}`)
	post("/remove_language", `{"language":"go"}`)
	r.await("the language can be added", func() bool { return r.says("/get_available_languages", `"go"`) })
	r.get("/get_available_languages")
	post("/add_language", `{"language":"go"}`)
}

// cancel cancels the tool that runs.
func (r *recorder) cancel() {
	r.Helper()
	var queue struct {
		Tasks []struct {
			Name string      `json:"name"`
			ID   json.Number `json:"task_id"`
		} `json:"queued_executions"`
	}
	if err := json.Unmarshal(r.fetch("/queued_task_executions"), &queue); err != nil || len(queue.Tasks) == 0 {
		r.Fatalf("the queue while a tool runs: %+v, %v", queue, err)
	}
	r.scrub.task(queue.Tasks[0].Name, queue.Tasks[0].ID.String())
	r.do(r.request(http.MethodPost, "/cancel_task_execution", fmt.Sprintf(`{"task_id":%s}`, queue.Tasks[0].ID)))
}

// work calls a tool that runs until it is told to finish.
func (r *recorder) work() (finish func()) {
	r.Helper()
	dir := r.TempDir()
	began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go on")
	r.scrub.replace(dir, "/tmp/gate")
	request := r.request(http.MethodPost, mcpPath, toolCall("execute_shell_command", map[string]any{
		"command": fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn), "session": "test",
	}))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, err := r.client.Do(request); err == nil { // one that is cut off may have none
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	r.await("the tool is at work", func() bool { _, err := os.Stat(began); return err == nil })
	return func() {
		r.Helper()
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			r.Fatal(err)
		}
		<-answered
	}
}

func (r *recorder) tool(name string, args map[string]any) {
	r.Helper()
	r.message(toolCall(name, args))
}

func toolCall(name string, args map[string]any) string {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	return string(line)
}

func (r *recorder) message(line string) { r.Helper(); r.do(r.request(http.MethodPost, mcpPath, line)) }

func (r *recorder) get(path string) { r.Helper(); r.do(r.request(http.MethodGet, path, "")) }

// request is one to the dashboard, or in the session of MCP.
func (r *recorder) request(method, path, body string) *http.Request {
	r.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d%s", r.server.DashboardPort, path)
	if path == mcpPath {
		url = r.server.MCPURL
	}
	ctx, cancel := context.WithTimeout(context.Background(), callBudget)
	r.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if path == mcpPath {
		req.Header.Set("Accept", "application/json, text/event-stream")
		if method == http.MethodGet {
			req.Header.Set("Accept", "text/event-stream")
		}
		if r.session != "" {
			req.Header.Set("Mcp-Session-Id", r.session)
			req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
	}
	return req
}

func (r *recorder) send(req *http.Request) *http.Response {
	r.Helper()
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return resp
}

// do asks, and keeps the answer.
func (r *recorder) do(req *http.Request) { r.Helper(); r.ask(req, "") }

func (r *recorder) ask(req *http.Request, about string) {
	r.Helper()
	r.add(r.exchange(req, r.send(req), about))
}

// late asks what is not answered in this state. The function that it returns waits
// for the answer.
func (r *recorder) late(req *http.Request) (answer func() Exchange) {
	r.Helper()
	r.add(Exchange{Ask: r.scrub.ask(r.askOf(req, "")), Waits: true})
	var resp *http.Response
	answered := make(chan error, 1)
	go func() {
		var err error
		resp, err = r.client.Do(req)
		answered <- err
	}()
	return func() Exchange {
		r.Helper()
		if err := <-answered; err != nil {
			r.Fatal(err)
		}
		return r.exchange(req, resp, "")
	}
}

func (r *recorder) askOf(req *http.Request, about string) string {
	body, err := req.GetBody()
	if err != nil {
		r.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		r.Fatal(err)
	}
	return askOf(req, text, about)
}

func (r *recorder) exchange(req *http.Request, resp *http.Response, about string) Exchange {
	r.Helper()
	e := Exchange{Ask: r.scrub.ask(r.askOf(req, about))}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && strings.HasSuffix(e.Ask, " initialize") {
		r.session = id
	}
	e.Status, e.Header = resp.StatusCode, headersOf(resp)
	body := bodyOf(r, resp)
	if json.Valid(body) {
		e.JSON = r.scrub.json(r, body)
	} else {
		e.Text = r.scrub.text(string(body))
	}
	return e
}

// headersOf are those on which clients depend.
func headersOf(resp *http.Response) map[string]string {
	headers := map[string]string{}
	for _, name := range []string{"Content-Type", "Mcp-Session-Id", "Allow"} {
		if value := resp.Header.Get(name); value != "" {
			headers[name] = value
		}
	}
	if headers["Mcp-Session-Id"] != "" {
		headers["Mcp-Session-Id"] = "session"
	}
	return headers
}

// bodyOf is an answer: of an event stream the last message, which is the answer to
// the request.
func bodyOf(t testing.TB, resp *http.Response) []byte {
	t.Helper()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	var last []byte
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && len(data) > 0 {
			last = bytes.Clone(data)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return last
}

// fetch is the body of an answer that is not kept.
func (r *recorder) fetch(path string) []byte {
	r.Helper()
	resp := r.send(r.request(http.MethodGet, path, ""))
	defer resp.Body.Close()
	return bodyOf(r, resp)
}

func (r *recorder) says(path, text string) bool {
	r.Helper()
	return strings.Contains(canonical(r.fetch(path)), text)
}

func (r *recorder) await(what string, fine func() bool) {
	r.Helper()
	deadline, tick := time.After(startBudget), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !fine() {
		select {
		case <-tick.C:
		case <-deadline:
			r.Fatalf("never: %s", what)
		}
	}
}

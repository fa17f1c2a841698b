package serenatest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// What is asked, as transcripts have it.
var (
	// reads may be asked at any time and are answered at once.
	reads = []string{
		"GET /heartbeat", "GET /get_tool_names", "GET /get_tool_stats", "GET /get_token_count_estimator_name", "GET /queued_task_executions", "GET /last_execution",
		`POST /get_log_messages {"start_idx":0}`, `POST /get_log_messages {"start_idx":1073741824}`,
	}
	// handshake begins a session of MCP.
	handshake = []string{"POST /mcp initialize", "POST /mcp notifications/initialized", "POST /mcp tools/list"}
	// conversation is what else of MCP needs no project, and what is refused.
	conversation = []string{
		"POST /mcp ping", "POST /mcp server/discover", "POST /mcp" + tooLong, "GET /heartbeat" + otherHost,
		"GET /mcp", "GET /mcp, " + unknownSession, "DELETE /mcp, " + unknownSession, "POST /mcp, " + unknownSession,
	}
	// repl is what the interface of that name does with sessions of its own.
	repl = []string{
		`POST /mcp tools/call {"arguments":{"code":"x = 41","session":"mine"},"name":"serena_repl"}`,
		`POST /mcp tools/call {"arguments":{"code":"s.vars()","session":"mine"},"name":"serena_repl"}`,
		`POST /mcp tools/call {"arguments":{"code":"x + 1","session":"mine"},"name":"serena_repl"}`,
		`POST /mcp tools/call {"arguments":{"code":"s.clear()","session":"mine"},"name":"serena_repl"}`,
		`POST /mcp tools/call {"arguments":{"code":"s.vars()","session":"mine"},"name":"serena_repl"}`,
		`POST /mcp tools/call {"arguments":{"code":"s.vars()","session":"nobody's"},"name":"serena_repl"}`,
		"DELETE /mcp",
	}
	// changes are all that the dashboard can change, but for the language that is added
	// again.
	changes = []string{
		"POST /clear_tool_stats", "GET /get_tool_stats", `POST /cancel_task_execution {"task_id":9007199254740991}`,
		`POST /save_memory {"content":"# é <b>","memory_name":"first"}`, `POST /get_memory {"memory_name":"first"}`,
		`POST /rename_memory {"new_name":"second","old_name":"first"}`,
		`POST /get_memory {"memory_name":"first"}`, `POST /get_memory {"memory_name":"second"}`, `POST /delete_memory {"memory_name":"second"}`,
		`POST /add_language {"language":"no such"}`, `POST /remove_language {"language":"no such"}`, `POST /remove_language {"language":"go"}`,
	}
)

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
	r.ask(reads...)
	r.ask("GET /get_config_overview")
	r.ask(handshake...)
	r.ask(conversation...)

	r.begin(Project, NoProject)
	r.ask(fmt.Sprintf(`POST /mcp tools/call {"arguments":{"project":%q,"session":"test"},"name":"activate_project"}`, project))
	r.await("the project is ready", func() bool {
		return r.says("/last_execution", `"finished_successfully":true`, ":init_") && r.says("/queued_task_executions", `"queued_executions":[]`)
	})
	r.ask(reads...)
	r.ask("GET /get_config_overview", "GET /get_available_languages", `POST /mcp tools/call {"arguments":{"recursive":false,"relative_path":"."},"name":"list_dir"}`)

	r.begin(Busy, Project)
	finish := r.work()
	r.ask(reads...)
	late := []func() Exchange{r.late(`POST /get_memory {"memory_name":"none"}`)}
	r.await("the memory is asked for", func() bool { return r.says("/queued_task_executions", "BackgroundTask:") })
	r.ask("GET /queued_task_executions")
	if version == Version15 {
		late = append(late, r.late("GET /get_config_overview"))
		r.await("the overview is asked for", func() bool { return r.says("/queued_task_executions", "BackgroundTask:_get_config_overview") })
	} else {
		r.ask("GET /get_config_overview")
	}
	r.ask("GET /heartbeat")
	finish()

	r.begin(Called, Project)
	for _, answer := range late {
		r.add(answer())
	}
	r.await("the call has ended", func() bool {
		return r.says("/last_execution", `ExecuteShellCommandTool`, `"is_running":false`) && r.says("/get_tool_stats", "execute_shell_command")
	})
	r.ask(reads...)

	r.begin(CutOff, Called)
	finish = r.work()
	r.cancel()
	r.await("the call is cut off", func() bool {
		return r.says("/queued_task_executions", `"queued_executions":[]`) && r.says("/last_execution", `"finished_successfully":false`)
	})
	r.ask(reads...)

	r.begin(Changed, Project)
	r.ask(changes...)
	r.await("the language can be added", func() bool { return r.says("/get_available_languages", `"go"`) })
	r.ask("GET /get_available_languages", `POST /add_language {"language":"go"}`)
	finish() // not before: a call that was cut off may count when it ends
	r.ask("DELETE /mcp", "PUT /shutdown")
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
	r.ask(reads...)
	r.ask("GET /get_config_overview", "GET /get_available_languages")
	r.ask(handshake...)
	r.ask(repl...)
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
	r.ask(fmt.Sprintf(`POST /cancel_task_execution {"task_id":%s}`, queue.Tasks[0].ID))
}

// work calls a tool that runs until it is told to finish.
func (r *recorder) work() (finish func()) {
	r.Helper()
	dir := r.TempDir()
	began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go on")
	r.scrub.replace(dir, "/tmp/gate")
	command := fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn)
	request := r.request(fmt.Sprintf(`POST /mcp tools/call {"arguments":{"command":%q,"session":"test"},"name":"execute_shell_command"}`, command))
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

// request is the one that askOf names so.
func (r *recorder) request(ask string) *http.Request {
	r.Helper()
	plain, session, host := ask, r.session, ""
	for suffix, change := range map[string]func(){
		otherHost:             func() { host = "rebound.example" },
		", " + unknownSession: func() { session = strings.Repeat("0", 32) },
	} {
		if before, is := strings.CutSuffix(plain, suffix); is {
			plain = before
			change()
		}
	}
	plain, long := strings.CutSuffix(plain, tooLong)
	method, rest, _ := strings.Cut(plain, " ")
	path, body, _ := strings.Cut(rest, " ")
	url := fmt.Sprintf("http://127.0.0.1:%d%s", r.server.DashboardPort, path)
	if path == mcpPath {
		url = r.server.MCPURL
	}
	if path == mcpPath && method == http.MethodPost {
		body = message(cmp.Or(body, "ping"))
	}
	if long {
		body = message(`tools/call {"name":"no_such_tool","arguments":{"text":"` + strings.Repeat("x", maxPost+1) + `"}}`)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callBudget)
	r.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Host = host
	set := func(when bool, name, value string) {
		if when {
			req.Header.Set(name, value)
		}
	}
	set(body != "", "Content-Type", "application/json")
	set(long, "Expect", "100-continue") // who refuses it ends the connection
	set(path == mcpPath, "Accept", "application/json, text/event-stream")
	set(path == mcpPath && method == http.MethodGet, "Accept", "text/event-stream")
	set(path == mcpPath && session != "", sessionHeader, session)
	set(path == mcpPath && session != "", "Mcp-Protocol-Version", "2025-06-18")
	return req
}

// message is one of MCP by its method and, if any, its parameters.
func message(text string) string {
	method, params, _ := strings.Cut(text, " ")
	switch {
	case method == "initialize":
		return Hello
	case strings.HasPrefix(method, "notifications/"):
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":6,"method":%q,"params":%s}`, method, cmp.Or(params, "{}"))
}

func (r *recorder) send(req *http.Request) *http.Response {
	r.Helper()
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return resp
}

// ask asks, and keeps the answers. While the stream of the session is open, another
// one is asked for.
func (r *recorder) ask(asks ...string) {
	r.Helper()
	for _, ask := range asks {
		resp := r.send(r.request(ask))
		if ask != "GET "+mcpPath {
			r.add(r.exchange(ask, resp))
			continue
		}
		r.add(Exchange{Ask: ask, Status: resp.StatusCode, Header: headersOf(resp)})
		r.add(r.exchange(ask+", "+secondStream, r.send(r.request(ask))))
		resp.Body.Close()
	}
}

// late asks what is not answered in this state. The function that it returns waits
// for the answer.
func (r *recorder) late(ask string) (answer func() Exchange) {
	r.Helper()
	r.add(Exchange{Ask: ask, Waits: true})
	req := r.request(ask)
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
		return r.exchange(ask, resp)
	}
}

func (r *recorder) exchange(ask string, resp *http.Response) Exchange {
	r.Helper()
	defer resp.Body.Close()
	e := Exchange{Ask: r.scrub.ask(ask), Status: resp.StatusCode, Header: headersOf(resp)}
	if id := resp.Header.Get(sessionHeader); id != "" && strings.HasSuffix(ask, " initialize") {
		r.session = id
	}
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
	for _, name := range []string{"Content-Type", sessionHeader, "Allow"} {
		if value := resp.Header.Get(name); value != "" {
			headers[name] = value
		}
	}
	if headers[sessionHeader] != "" {
		headers[sessionHeader] = "session"
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
	resp := r.send(r.request("GET " + path))
	defer resp.Body.Close()
	return bodyOf(r, resp)
}

// says reports whether an answer, which is not kept, has all these texts.
func (r *recorder) says(path string, texts ...string) bool {
	r.Helper()
	answer := canonical(r.fetch(path))
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(answer, text) })
}

func (r *recorder) await(what string, fine func() bool) {
	r.Helper()
	if !poll(20*time.Millisecond, startBudget, nil, fine) {
		r.Fatalf("never: %s", what)
	}
}

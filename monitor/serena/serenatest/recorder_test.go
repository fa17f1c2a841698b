//go:build record || contract

package serenatest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// record starts a Serena of a version and asks it all that the transcript of that
// version asks, in each state. It returns the transcript with the answers of now.
//
// What is to be asked of all versions stands in their transcripts, which TestRecord
// writes anew. That of another version begins as a copy.
func record(t testing.TB, version string) Transcript {
	t.Helper()
	tr := Recorded(t, version)
	var r *recorder
	for i, state := range tr.States {
		if state.After == "" {
			r = newRecorder(t, version, state.Name)
		}
		if i == 0 {
			tr.Args = r.args()
		}
		r.enter(state.Name)
		for j, e := range state.Exchanges {
			state.Exchanges[j] = r.ask(e)
		}
	}
	return tr
}

// recorder asks one server and takes down what it answers.
type recorder struct {
	testing.TB
	server  *Server
	client  http.Client
	project string
	session string // of MCP
	scrub   scrubber
	waiting map[string]<-chan answer // what was not answered in its state
	finish  func()                   // lets the tool end that is at work
	settled time.Time                // until then the server may be on its way into the state
}

// recordedProject is what transcripts call the project.
const recordedProject = "/home/user/alpha"

func newRecorder(t testing.TB, version, state string) *recorder {
	t.Helper()
	r := &recorder{TB: t, project: GoProject(t, "alpha"), waiting: map[string]<-chan answer{}, finish: func() {}}
	r.client = http.Client{Timeout: callBudget, Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: startBudget}}
	o := Options{Version: version, HTTP: true}
	if state == REPL {
		o.Project, o.Args = r.project, []string{"--agent-interface", "REPL"}
	}
	r.server = Start(t, o)
	r.server.WaitReady(t)
	paths := []string{r.project, recordedProject, r.server.Home, "/home/user", Tools(t), "/tools"}
	r.scrub = scrubber{paths, map[int64]json.Number{}}
	return r
}

// args is the command line of the server as the process table has it.
func (r *recorder) args() (args []string) {
	r.Helper()
	p, err := process.Read(r.server.ServerPID)
	if err != nil {
		r.Fatal(err)
	}
	for _, a := range p.Args {
		args = append(args, r.scrub.text(a))
	}
	return args
}

// enter does what takes a server into a state and is no exchange.
func (r *recorder) enter(state string) {
	r.Helper()
	switch state {
	case Busy, CutOff:
		r.work()
	case Called:
		r.finish()
	}
	r.settled = time.Now().Add(startBudget)
}

// work calls a tool that runs until it is told to finish.
func (r *recorder) work() {
	r.Helper()
	dir := r.TempDir()
	began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go on")
	r.scrub.paths = append(r.scrub.paths, dir, "/tmp/gate")
	command := fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn)
	ended := r.send(fmt.Sprintf(`POST /mcp tools/call {"arguments":{"command":%q,"session":"test"},"name":"execute_shell_command"}`, command))
	if !poll(20*time.Millisecond, startBudget, nil, func() bool { _, err := os.Stat(began); return err == nil }) {
		r.Fatal("the tool is never at work")
	}
	r.exchange("", <-r.send("GET /queued_task_executions")) // tells the id of its task
	r.finish = func() {
		r.Helper()
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			r.Fatal(err)
		}
		<-ended // without an answer, if it was cut off
	}
}

// ask asks what was asked for the transcript, and is what is answered now. What only
// reads is asked until that is the same, or the server must have settled.
func (r *recorder) ask(recorded Exchange) (live Exchange) {
	r.Helper()
	ask := recorded.Ask
	if recorded.Waits {
		r.waiting[ask] = r.send(ask)
		return recorded
	}
	if late := r.waiting[ask]; late != nil {
		delete(r.waiting, ask)
		return r.exchange(ask, <-late)
	}
	if ask == "DELETE "+mcpPath {
		r.finish() // not before: a call that was cut off may count when it ends
	}
	reads := strings.HasPrefix(ask, http.MethodGet) && !strings.Contains(ask, mcpPath)
	poll(20*time.Millisecond, time.Until(r.settled), nil, func() bool {
		live = r.exchange(ask, <-r.send(ask))
		return !reads || live.steady() == recorded.steady()
	})
	return live
}

// answer is what has come of a request.
type answer struct {
	*http.Response
	body []byte
	err  error
}

// send asks. The answer comes later.
func (r *recorder) send(ask string) <-chan answer {
	r.Helper()
	real := strings.ReplaceAll(ask, recordedProject, r.project)
	for number, id := range r.scrub.tasks {
		if before, is := strings.CutSuffix(ask, fmt.Sprintf(`{"task_id":%d}`, number)); is {
			real = fmt.Sprintf(`%s{"task_id":%s}`, before, id)
		}
	}
	request, err := requestOf(real, fmt.Sprintf("http://127.0.0.1:%d", r.server.DashboardPort), r.server.MCPURL, r.session)
	if err != nil {
		r.Fatal(err)
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{}
		a.Response, a.err = r.client.Do(request)
		if a.err == nil {
			defer a.Body.Close()
		}
		if a.err == nil && ask != "GET "+mcpPath { // a stream on which nothing comes
			a.body, a.err = io.ReadAll(a.Body)
		}
		answers <- a
	}()
	return answers
}

// exchange is a request with its answer. Of an event stream that is the last message.
func (r *recorder) exchange(ask string, a answer) Exchange {
	r.Helper()
	if a.err != nil {
		r.Fatalf("%s: %v", ask, a.err)
	}
	e := Exchange{Ask: ask, Status: a.StatusCode, Header: map[string]string{}}
	for _, name := range []string{"Content-Type", sessionHeader, "Allow"} { // on which clients depend
		if value := a.Header.Get(name); value != "" {
			e.Header[name] = value
		}
	}
	if id := e.Header[sessionHeader]; id != "" {
		r.session, e.Header[sessionHeader] = id, "session"
	}
	if strings.HasPrefix(e.Header["Content-Type"], "text/event-stream") {
		stream := a.body
		a.body = nil
		for line := range bytes.Lines(stream) {
			if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok {
				a.body = data
			}
		}
	}
	if json.Valid(a.body) {
		e.JSON = r.scrub.json(a.body)
	} else {
		e.Text = r.scrub.text(string(a.body))
	}
	return e
}

// hello is what transcripts were begun with.
const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// requestOf is the request that askOf names so, to a dashboard at one address and MCP
// at the other.
func requestOf(ask, dashboard, mcpURL, session string) (*http.Request, error) {
	plain, about := ask, ""
	for _, a := range []string{unknownSession, tooLong, otherHost} {
		if before, is := strings.CutSuffix(ask, a); is {
			plain, about = before, a
		}
	}
	method, rest, _ := strings.Cut(plain, " ")
	path, body, _ := strings.Cut(rest, " ")
	url := dashboard + path
	if path == mcpPath {
		url = mcpURL
		if method == http.MethodPost {
			body = message(cmp.Or(body, "ping"), about == tooLong)
		}
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch about {
	case unknownSession:
		session = strings.Repeat("0", 32)
	case tooLong:
		r.Header.Set("Expect", "100-continue") // who refuses it ends the connection
	case otherHost:
		r.Host = "rebound.example"
	}
	if path == mcpPath && session != "" {
		r.Header.Set(sessionHeader, session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	return r, nil
}

// message is one of MCP by its method and, if any, its parameters.
func message(text string, long bool) string {
	method, params, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(method, "notifications/"):
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)
	case method == "initialize":
		params = hello
	case long:
		method, params = "tools/call", `{"name":"no_such_tool","arguments":{"text":"`+strings.Repeat("x", maxPost+1)+`"}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":6,"method":%q,"params":%s}`, method, cmp.Or(params, "{}"))
}

// scrubber takes out of answers what belongs to one machine or one moment: paths,
// times, ids of tasks, and most of a log.
type scrubber struct {
	paths []string              // old and new, in turn
	tasks map[int64]json.Number // ids of tasks, addresses in memory in some versions, by their numbers
}

var moments = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d,\d{3}`), "2026-01-01${1}00:00:00,000"},
	{regexp.MustCompile(`/python[\d.]+\b`), "/python"},
	// Language servers start beside the answer to activate_project.
	{regexp.MustCompile(`(Active language servers: )(go)?\.`), "${1}go."},
	// Installed below a git repository, Serena adds that one's revision.
	{regexp.MustCompile(`\b(` + strings.ReplaceAll(strings.Join(Versions, "|"), ".", `\.`) + `)-[0-9a-f]+(-dirty)?`), "${1}"},
}

func (s *scrubber) text(text string) string {
	text = strings.NewReplacer(s.paths...).Replace(text)
	// In which order a directory is listed is the file system's.
	text = strings.ReplaceAll(text, `main.go\", \"go.mod`, `go.mod\", \"main.go`)
	for _, m := range moments {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

// How much is kept of a log, at either end, and of any text. A text is cut because
// what Serena tells a model is neither needed here nor ours.
const (
	keptMessages = 4
	keptText     = 120 // characters
)

// json scrubs an answer. Of a list of tools only the names are kept.
func (s *scrubber) json(body []byte) json.RawMessage {
	return encode(s.trimmed("", decode([]byte(s.text(canonical(body))))))
}

// trimmed is what is kept of a member of an answer.
func (s *scrubber) trimmed(name string, v any) any {
	switch v := v.(type) {
	case string:
		if text := []rune(v); len(text) > keptText {
			return string(text[:keptText])
		}
	case []any:
		if name == "messages" && len(v) > 2*keptMessages {
			v = slices.Concat(v[:keptMessages], v[len(v)-keptMessages:])
		}
		for i := range v {
			if tool, ok := v[i].(map[string]any); ok && name == "tools" {
				v[i] = map[string]any{"name": tool["name"]}
			}
			v[i] = s.trimmed("", v[i])
		}
		return v
	case map[string]any:
		delete(v, "instructions")
		if id, ok := v["task_id"].(json.Number); ok {
			name, _ := v["name"].(string)
			number := serena.TaskNumber(name) // 0 for one of the dashboard's own
			s.tasks[number], v["task_id"] = id, number
		}
		for name, member := range v {
			v[name] = s.trimmed(name, member)
		}
	}
	return v
}

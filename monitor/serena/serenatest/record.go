package serenatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
)

// Record starts a Serena of a version and asks it all that the transcript of that
// version asks, in each state. It returns the transcript with the answers of now.
//
// What is to be asked of all versions stands in their transcripts, which TestRecord
// writes anew. That of another version begins as a copy.
func Record(t testing.TB, version string) Transcript {
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

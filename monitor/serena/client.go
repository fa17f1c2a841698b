// Package serena knows Serena from the outside: how a command line that starts
// its MCP server looks, what an instance's own dashboard answers, and what its log
// says of its health. It needs nothing installed and changes nothing in an instance.
// It is tested with Serena 1.5.3, 1.7.0 and 2.1.0.
//
// Which processes exist is monitor/process, and what to make of an answer is monitor
// and monitor/watch. Registrations of servers come to app/api.
package serena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The time an instance has for an answer, and how much of it is read. A probe
// of liveness uses ProbeTimeout for every request.
const (
	ProbeTimeout  = 300 * time.Millisecond
	AnswerTimeout = time.Second
	maxProbeBody  = 1 << 20
	maxLogBody    = 64 << 20 // a dashboard hands out its whole log in one answer
)

// ErrNotDashboard says that something answered which is not a Serena dashboard.
var ErrNotDashboard = errors.New("not a Serena dashboard")

// ErrFault says that the server answered with a fault of its own (status 5xx).
var ErrFault = errors.New("the server reports a fault")

// ErrNoRoute says that this version of Serena does not have the route.
var ErrNoRoute = errors.New("this version of Serena does not offer it")

// Client talks to dashboards on the loopback interface. It is safe for
// concurrent use and keeps no connection open between requests: Serena's
// dashboard closes each one.
type Client struct {
	http *http.Client
}

// NewClient returns a client that follows no redirect and uses no proxy.
func NewClient() *Client {
	return &Client{http: &http.Client{
		Transport: &http.Transport{
			// A dial outlives the request that asked for it, and one to a server that
			// is suspended may never be answered. On loopback an answer takes no time.
			DialContext:            (&net.Dialer{Timeout: ProbeTimeout}).DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// DashboardURL is the address of the page that an instance serves.
func DashboardURL(port int) string {
	return "http://127.0.0.1:" + strconv.Itoa(port) + "/dashboard/index.html"
}

// Heartbeat asks whether a Serena dashboard answers on the port.
func (c *Client) Heartbeat(ctx context.Context, port int) error {
	return c.get(ctx, port, "/heartbeat", "alive", new(struct{}))
}

// Task is an entry of the executions queue.
type Task struct {
	Name      string `json:"name"` // "Task-22:FindSymbolTool"
	IsRunning bool   `json:"is_running"`
	Finished  bool   `json:"finished_successfully"`
}

// CutOff tells of the last execution that it may still be at work outside the
// queue: a call that took too long or was cancelled goes on in a thread that
// nobody waits for. From Serena 2 on a call that failed looks the same. Source:
// serena/task_executor.py of 1.5.3, 1.7.0 and 2.1.0.
func (t *Task) CutOff() bool {
	return t != nil && IsToolCall(t.Name) && !t.IsRunning && !t.Finished
}

// LastExecution returns the task that ended last, nil before the first.
func (c *Client) LastExecution(ctx context.Context, port int) (*Task, error) {
	var answer struct {
		Last *Task `json:"last_execution"`
	}
	if err := c.get(ctx, port, "/last_execution", "success", &answer); err != nil {
		return nil, err
	}
	return answer.Last, nil
}

// Queue returns the tasks that run or wait, the running one first, without
// those that no client asked for: up to Serena 1.5.3 an overview is a task as
// well, and asking for one would make an instance look busy.
func (c *Client) Queue(ctx context.Context, port int) ([]Task, error) {
	var answer struct {
		Tasks []Task `json:"queued_executions"`
	}
	if err := c.get(ctx, port, "/queued_task_executions", "success", &answer); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Tasks, func(t Task) bool { return strings.HasPrefix(t.Name, "BackgroundTask:") }), nil
}

// Overview is the part of get_config_overview that the model uses. Up to
// Serena 1.5.3 the request waits behind a running tool: it says nothing about
// liveness.
type Overview struct {
	Project *struct {
		Name string `json:"name"`
		Path string `json:"path"`
	} `json:"active_project"`
	Context struct {
		Name string `json:"name"`
	} `json:"context"`
	Modes []struct {
		Name string `json:"name"`
	} `json:"modes"`
	Version string `json:"serena_version"`
	// AgentInterface is "tools" or "REPL", and "" before Serena 2.
	AgentInterface string `json:"agent_interface"`
}

// KeepsState reports whether the variables of its clients live in the memory of
// the server, as with the interface REPL, which Serena 2 brought; nil when the
// overview does not say.
func (o *Overview) KeepsState() *bool {
	major, _, _ := strings.Cut(o.Version, ".")
	keeps := strings.EqualFold(o.AgentInterface, "REPL")
	if !keeps && !strings.EqualFold(o.AgentInterface, "tools") && (o.AgentInterface != "" || major != "0" && major != "1") {
		return nil
	}
	return &keeps
}

// Overview asks for the configuration overview.
func (c *Client) Overview(ctx context.Context, port int) (*Overview, error) {
	var o Overview
	if err := c.get(ctx, port, "/get_config_overview", "", &o); err != nil {
		return nil, err
	}
	// Before the agent is ready the project is null or its fields are.
	if o.Project != nil && o.Project.Name == "" && o.Project.Path == "" {
		o.Project = nil
	}
	return &o, nil
}

// ToolCalls sums the tool calls that the instance counted since it started or
// since its statistics were cleared. Serena counts successful ones only. (The
// overview has counts too, but they are as old as the last change of project.)
func (c *Client) ToolCalls(ctx context.Context, port int) (int64, error) {
	var answer struct {
		Stats map[string]struct {
			Calls int64 `json:"num_times_called"`
		} `json:"stats"`
	}
	err := c.get(ctx, port, "/get_tool_stats", "", &answer)
	var n int64
	for _, s := range answer.Stats {
		n += s.Calls
	}
	return n, err
}

// LogPage is a stretch of an instance's log.
type LogPage struct {
	Messages []string `json:"messages"`
	MaxIdx   int      `json:"max_idx"` // index of the last message; ask for MaxIdx+1 next
}

// beyondLog is an index from which on there are no messages: the answer has only
// what else it tells.
const beyondLog = 1 << 30

// Logs returns the log messages from index start on.
func (c *Client) Logs(ctx context.Context, port int, start int) (LogPage, error) {
	return c.logs(ctx, port, start, maxLogBody)
}

// Records returns the records of the log from an index on, and the index to go on
// from next. From an index below 0 they are the newest, and so they are when the log
// was cleared since. Of more than fits into an answer none is returned.
func (c *Client) Records(ctx context.Context, port, from int) (records []Record, next int, err error) {
	const newest = 400 // a call writes about ten
	var page LogPage
	if from >= 0 {
		page, err = c.logs(ctx, port, from, maxProbeBody)
	}
	if from < 0 || err == nil && page.MaxIdx < from-1 {
		if page, err = c.logs(ctx, port, beyondLog, maxProbeBody); err == nil {
			page, err = c.logs(ctx, port, max(page.MaxIdx-newest, 0), maxProbeBody)
		}
	}
	if errors.Is(err, ErrNotDashboard) {
		page, err = c.logs(ctx, port, beyondLog, maxProbeBody)
	}
	if err != nil {
		return nil, from, err
	}
	for _, m := range page.Messages {
		if r, ok := parseRecord(m); ok {
			records = append(records, r)
		}
	}
	return records, page.MaxIdx + 1, nil
}

func (c *Client) logs(ctx context.Context, port, start int, limit int64) (page LogPage, err error) {
	err = c.ask(ctx, port, request{http.MethodPost, "/get_log_messages", fmt.Sprintf(`{"start_idx":%d}`, start), limit, ""}, &page)
	return page, err
}

func (c *Client) get(ctx context.Context, port int, route, status string, into any) error {
	return c.ask(ctx, port, request{http.MethodGet, route, "", maxProbeBody, status}, into)
}

// request is what a dashboard is asked.
type request struct {
	method, route, body string
	limit               int64  // of the answer
	status              string // that the answer has to have, "" for any
}

// ask makes one request and decodes the JSON answer. The deadline is the context's;
// without one it is AnswerTimeout.
func (c *Client) ask(ctx context.Context, port int, r request, into any) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("asking port %d for %s: %w", port, r.route, err)
		}
	}()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, AnswerTimeout)
		defer cancel()
	}
	resp, err := c.send(ctx, port, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed:
		return ErrNoRoute
	case resp.StatusCode >= 500:
		return fmt.Errorf("it answers %s: %w", resp.Status, ErrFault)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers %s: %w", resp.Status, ErrNotDashboard)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, r.limit+1))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if int64(len(answer)) > r.limit {
		return fmt.Errorf("it answers more than %d bytes: %w", r.limit, ErrNotDashboard)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("it answers something else than expected: %w", errors.Join(ErrNotDashboard, err))
	}
	if r.status == "" {
		return nil
	}
	var is struct {
		Status string `json:"status"`
	}
	if _ = json.Unmarshal(answer, &is); is.Status != r.status {
		return fmt.Errorf("it answers with status %.40q, not %q: %w", is.Status, r.status, ErrNotDashboard)
	}
	return nil
}

func (c *Client) send(ctx context.Context, port int, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, "http://127.0.0.1:"+strconv.Itoa(port)+r.route, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.http.Do(req)
}

// askTimeout is how long the request may take to arrive. The answer is not
// waited for: Serena cleans up first, and over stdio it ends without one.
const askTimeout = 500 * time.Millisecond

// Shutdown asks the Serena whose dashboard has the port to end: PUT /shutdown.
// It stops its language servers, which may take 2 s, and sends itself SIGTERM
// (SerenaAgent.shutdown of serena/agent.py). The error is nil when the request
// was sent and not turned down.
func (c *Client) Shutdown(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { sent.Store(info.Err == nil) },
	})
	resp, err := c.send(ctx, port, request{method: http.MethodPut, route: "/shutdown"})
	if err != nil && sent.Load() {
		return nil // it is at it, or gone already
	}
	if err != nil {
		return fmt.Errorf("asking port %d to end: %w", port, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("port %d answered /shutdown with %s", port, resp.Status)
	}
	return nil
}

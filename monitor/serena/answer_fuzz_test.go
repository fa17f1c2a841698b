package serena

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// answers is a transport for which something answers each request with this.
type answers struct {
	status int
	body   []byte
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Status: fmt.Sprint(a.status), ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		ContentLength: -1, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r,
	}, nil
}

// FuzzAnswer: whatever listens where a dashboard is asked for, what it answers is
// an answer that can be used, or is said to be none.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"status":"alive"}`,
		// As Serena 2.1.0 answers.
		`{"active_project":{"name":"p","path":"/p"},"context":{"name":"ide"},"modes":[{"name":"editing"}],"serena_version":"2.1.0","agent_interface":"REPL"}`,
		`{"queued_executions":[{"name":"BackgroundTask:_get_config_overview","is_running":true},{"name":"Task-2:FindSymbolTool","is_running":true,"task_id":140337966854160}],"status":"success"}`,
		`{"last_execution":{"name":"Task-22:FindSymbolTool","task_id":22,"finished_successfully":true,"logged":true},"status":"success"}`,
		`{"stats":{"find_symbol":{"num_times_called":20,"input_tokens":1100,"output_tokens":600}}}`,
		`{"messages":["INFO  2026-11-21 00:46:03,000 [Task-2:ListDirTool] a"],"max_idx":0,"active_project":null}`,
		`{"active_project":{"name":"p","path":"/p"},"stats":{"a":{"num_times_called":1e99}}}`,
		`{"queued_executions":[null],"status":"success","last_execution":[]}`,
		`{"messages":[1],"max_idx":"x"}`, `{"max_idx":-9223372036854775808}`, `{"modes":null,"active_project":{"name":null,"path":null}}`,
		"<html>", "", "null", `{"status":"success"`,
	} {
		f.Add(http.StatusOK, []byte(seed))
	}
	for _, status := range []int{http.StatusFound, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError, 0} {
		f.Add(status, []byte(`{"status":"alive"}`))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		c, ctx := NewClient(), context.Background()
		c.http.Transport = answers{status, body}
		check := func(err error) bool {
			known := errors.Is(err, ErrNotDashboard) || errors.Is(err, ErrFault) || errors.Is(err, ErrNoRoute)
			if err == nil && status != http.StatusOK || err != nil && !known {
				t.Errorf("status %d: %v", status, err)
			}
			return err == nil
		}
		if check(c.Heartbeat(ctx, 24282)) && !bytes.Contains(body, []byte("alive")) && !bytes.Contains(body, []byte(`\u`)) {
			t.Errorf("%q is alive", body)
		}
		last, err := c.LastExecution(ctx, 24282)
		check(err)
		last.CutOff()
		queue, err := c.Queue(ctx, 24282)
		if check(err); slices.ContainsFunc(queue, func(task Task) bool { return strings.HasPrefix(task.Name, "BackgroundTask:") }) {
			t.Errorf("nobody has asked for one of %+v", queue)
		}
		for _, task := range queue {
			if n := TaskNumber(task.Name); n < 0 {
				t.Errorf("task %d", n)
			}
		}
		overview, err := c.Overview(ctx, 24282)
		if check(err) {
			overview.KeepsState()
			if p := overview.Project; p != nil && p.Name == "" && p.Path == "" {
				t.Error("no project is a project")
			}
		}
		_, err = c.ToolCalls(ctx, 24282)
		check(err)
		page, err := c.Logs(ctx, 24282, 0)
		check(err)
		records, _, err := c.Records(ctx, 24282, -1)
		check(err)
		if at := LastCall(records); !at.IsZero() {
			stamp := at.Format(time.DateTime)
			if !slices.ContainsFunc(page.Messages, func(m string) bool { return strings.Contains(m, stamp) }) {
				t.Errorf("a call at %s is in none of %q", stamp, page.Messages)
			}
		}
	})
}

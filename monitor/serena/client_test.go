package serena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dashboard serves one handler as if it were a dashboard and returns its port.
func dashboard(t *testing.T, h http.HandlerFunc) int {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// patient is a context in which a question may take a minute: without a deadline an
// answer has a second.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func TestHeartbeat(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    error // nil: alive
		fails   bool  // any error
	}{
		{"alive", answer(`{"status":"alive"}`), nil, false},
		{"alive with more members", answer(`{"status":"alive","x":[1,2]}`), nil, false},
		{"another word", answer(`{"status":"dead"}`), ErrNotDashboard, true},
		{"empty", answer(``), ErrNotDashboard, true},
		{"null", answer(`null`), ErrNotDashboard, true},
		{"a page", answer(`<!doctype html><title>Jupyter</title>`), ErrNotDashboard, true},
		{"binary", answer("\x00\xff\xfe"), ErrNotDashboard, true},
		{"10 MB", answer(`{"status":"alive","pad":"` + strings.Repeat("x", 10<<20) + `"}`), ErrNotDashboard, true},
		{"deep nesting", answer(strings.Repeat("[", 500_000)), ErrNotDashboard, true},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/heartbeat", http.StatusFound)
		}, ErrNotDashboard, true},
		{"forbidden", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, ErrNotDashboard, true},
		{"not found", http.NotFound, ErrNoRoute, true},
		{"failing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, nil, true},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"status":"al`)
		}, nil, true},
		{"endless headers", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			io.WriteString(w, `{"status":"alive"}`)
		}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := NewClient().Heartbeat(patient(t), dashboard(t, c.handler))
			if (err != nil) != c.fails {
				t.Fatalf("got %v", err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.want == nil && c.fails && (errors.Is(err, ErrNotDashboard) || errors.Is(err, ErrNoRoute)) {
				t.Errorf("%v: a fault is not proof that it is something else", err)
			}
		})
	}
}

func TestSilentListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err = NewClient().Heartbeat(ctx, l.Addr().(*net.TCPAddr).Port)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNotDashboard) {
		t.Errorf("got %v", err)
	}
}

func TestRequestsNameTheirHost(t *testing.T) {
	var host, path string
	port := dashboard(t, func(w http.ResponseWriter, r *http.Request) {
		host, path = r.Host, r.Method+" "+r.URL.Path
		io.WriteString(w, `{"messages":["a"],"max_idx":3,"active_project":null}`)
	})
	page, err := NewClient().Logs(patient(t), port, 2)
	if err != nil || page.MaxIdx != 3 || len(page.Messages) != 1 {
		t.Errorf("got %+v, %v", page, err)
	}
	if want := fmt.Sprintf("127.0.0.1:%d", port); host != want || path != "POST /get_log_messages" {
		t.Errorf("host %q (want %q), %q", host, want, path)
	}
}

// The log is read from where it was left, also when it was cleared meanwhile.
func TestRecords(t *testing.T) {
	log := make([]string, 1000)
	for i := range log {
		log[i] = fmt.Sprintf("INFO  2026-11-21 00:46:03,637 [Thread-%d] serena.agent:start:336 - hello\n world", i)
	}
	var asked []int
	port := dashboard(t, func(w http.ResponseWriter, r *http.Request) {
		var from struct {
			Start int `json:"start_idx"`
		}
		if err := json.NewDecoder(r.Body).Decode(&from); err != nil {
			t.Error(err)
		}
		asked = append(asked, from.Start)
		json.NewEncoder(w).Encode(map[string]any{"messages": log[min(from.Start, len(log)):], "max_idx": len(log) - 1})
	})
	read := func(from int) (records []Record, next int) {
		t.Helper()
		records, next, err := NewClient().Records(patient(t), port, from)
		if err != nil {
			t.Fatal(err)
		}
		return records, next
	}
	records, next := read(-1)
	if next != 1000 || len(records) != 401 || records[400].Thread != "Thread-999" || records[0].Where != "serena.agent:start" || records[0].Text != "hello\n world" {
		t.Errorf("the newest: %d, next %d, %+v", len(records), next, records[0])
	}
	log = append(log, log[5], "no record", log[6])
	if records, next = read(next); next != 1003 || len(records) != 2 || records[0].Thread != "Thread-5" {
		t.Errorf("what is new: %+v, next %d", records, next)
	}
	asked = nil
	if records, next = read(next); next != 1003 || len(records) != 0 || len(asked) != 1 {
		t.Errorf("nothing is new: %+v, next %d, asked %v", records, next, asked)
	}
	log = log[:2]
	if records, next = read(next); next != 2 || len(records) != 2 {
		t.Errorf("cleared: %+v, next %d", records, next)
	}
	log = append(log, strings.Repeat("x", 2<<20))
	if records, next = read(next); next != 3 || len(records) != 0 {
		t.Errorf("too much: %+v, next %d", records, next)
	}
}

func TestStatusOfAnAnswer(t *testing.T) {
	port := dashboard(t, answer(`{"status":"error","message":"x"}`))
	if _, err := NewClient().LastExecution(patient(t), port); !errors.Is(err, ErrNotDashboard) {
		t.Errorf("last execution: %v", err)
	}
	if _, err := NewClient().Queue(patient(t), port); !errors.Is(err, ErrNotDashboard) {
		t.Errorf("queue: %v", err)
	}
}

func TestLastCall(t *testing.T) {
	at := func(s string) time.Time {
		when, err := time.ParseInLocation(time.DateTime, s, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, c := range []struct {
		name     string
		messages []string
		want     time.Time
	}{
		{"none", nil, time.Time{}},
		{"only its own tasks", []string{"INFO  2026-11-21 00:46:03,637 [Task-1:init_project_services] serena.task_executor:stop:336 - done"}, time.Time{}},
		{"the newest", []string{
			"INFO  2026-11-21 00:46:03,637 [Task-2:ListDirTool] a",
			"INFO  2026-11-21 00:47:04,000 [Task-3:FindSymbolTool] b",
			"INFO  2026-11-21 00:48:00,000 [MainThread] serena.agent - talks about [Task-4:X]",
		}, at("2026-11-21 00:47:04")},
		{"warning with one space", []string{"WARNING 2026-11-21 00:46:03,000 [Task-2:ListDirTool] a"}, at("2026-11-21 00:46:03")},
		{"foreign bytes", []string{"", " ", "INFO", "INFO  2026-11-21 00:46", "INFO  9999-99-99 99:99:99,999 [Task-2:X] a", "INFO  2026-11-21 00:46:03,000 [Task-", "\x00\xff"}, time.Time{}},
	} {
		var records []Record
		for _, m := range c.messages {
			if r, ok := parseRecord(m); ok {
				records = append(records, r)
			}
		}
		if got := LastCall(records); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestKeepsState(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		o    Overview
		want *bool
	}{
		{Overview{Version: "2.1.0", AgentInterface: "REPL"}, &yes},
		{Overview{Version: "2.1.0", AgentInterface: "tools"}, &no},
		{Overview{AgentInterface: "tools"}, &no},
		{Overview{Version: "2.1.0-abcdef12-dirty", AgentInterface: "repl"}, &yes},
		{Overview{Version: "1.7.0"}, &no},
		{Overview{Version: "0.1.4"}, &no},
		{Overview{Version: "2.1.0"}, nil},
		{Overview{Version: "10.0.0"}, nil},
		{Overview{}, nil},
		{Overview{Version: "3.0.0", AgentInterface: "notebook"}, nil},
		{Overview{Version: "1.7.0", AgentInterface: "notebook"}, nil},
	} {
		got := c.o.KeepsState()
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %v", c.o, got)
		}
	}
}

func TestCutOff(t *testing.T) {
	for _, c := range []struct {
		task *Task
		want bool
	}{
		{nil, false},
		{&Task{Name: "Task-2:FindSymbolTool", Finished: true}, false},
		{&Task{Name: "Task-2:FindSymbolTool", IsRunning: true}, false},
		{&Task{Name: "Task-2:FindSymbolTool"}, true},
		{&Task{Name: "Task-1:init_project_services"}, false},
	} {
		if got := c.task.CutOff(); got != c.want {
			t.Errorf("%+v: %v", c.task, got)
		}
	}
}

// A message that is no record, or in another encoding, tells nothing.
func TestParseRecord(t *testing.T) {
	const right = "ERROR 2026-11-21 00:46:03,637 [StartLS:go] serena.ls_manager:_start_language_server:1 - gone"
	for text, where := range map[string]string{
		right:                   "serena.ls_manager:_start_language_server",
		right + "\r\nTraceback": "serena.ls_manager:_start_language_server",
		"\ufeff" + right:        "serena.ls_manager:_start_language_server",
		strings.ReplaceAll(right, " - ", " \xff "):                                                     "",
		"ERROR 2026-11-21 00:46:03,637 StartLS:go ":                                                    "none",
		"ERROR 21.11.2026 00:46:03,637 [StartLS:go] serena.ls_manager:_start_language_server:1 - gone": "none",
		strings.Join(strings.Split(right, ""), "\x00"):                                                 "none",
		"": "none",
	} {
		r, ok := parseRecord(text)
		if ok != (where != "none") || ok && r.Where != where {
			t.Errorf("%q: %v, %+v", text, ok, r)
		}
	}
}

// askToEnd is Shutdown, tried again where the machine was too slow even to
// send the request.
func askToEnd(ctx context.Context, port int) error {
	for {
		err := NewClient().Shutdown(ctx, port)
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func TestShutdownRequest(t *testing.T) {
	heard := make(chan *http.Request, 1)
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case heard <- r.Clone(context.Background()):
		default:
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	if err := askToEnd(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	got := <-heard // its answer may have come too late to be waited for
	if got.Method != http.MethodPut || got.URL.Path != "/shutdown" || !strings.HasPrefix(got.Host, "127.0.0.1:") || got.ContentLength != 0 {
		t.Errorf("%s %s, host %s, %d bytes", got.Method, got.URL, got.Host, got.ContentLength)
	}
	for _, no := range []int32{http.StatusFound, http.StatusBadRequest, http.StatusInternalServerError} {
		status.Store(no)
		// What comes later than half a second is not heard.
		deadline := time.Now().Add(time.Minute)
		for NewClient().Shutdown(t.Context(), port) == nil {
			if time.Now().After(deadline) {
				t.Fatalf("status %d counts as yes", no)
			}
		}
	}
	for what, end := range map[string]http.HandlerFunc{
		"hangs up":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cleans up first": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		server := httptest.NewServer(end)
		if err := askToEnd(t.Context(), server.Listener.Addr().(*net.TCPAddr).Port); err != nil {
			t.Errorf("it %s: %v", what, err)
		}
		server.Close()
	}
	server.Close()
	if err := NewClient().Shutdown(t.Context(), port); err == nil {
		t.Error("nobody listens, and it counts as yes")
	}
}

func TestTaskNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"Task-22:FindSymbolTool": 22, "Task-1:init_project_services": 1, "Task-3": 3,
		"": 0, "Task-:x": 0, "Task--1:x": 0, "FindSymbolTool": 0, "Task-99999999999999999999:x": 0,
	} {
		if got := TaskNumber(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

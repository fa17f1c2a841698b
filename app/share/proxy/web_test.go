package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/payload"
	"lamplighter/monitor"
)

func TestWebClientsShareAServer(t *testing.T) {
	s := serveWeb(t, nil)
	first, second := s.begin(t, "/a"), s.begin(t, "/a")
	other := s.begin(t, "/b")
	if first.id == second.id {
		t.Error("two clients have one MCP session")
	}
	for i, c := range []*webClient{first, second, other} {
		want := fmt.Sprintf(`{"who":%d}`, i)
		if status, lines := c.post(callLine(7, "echo", want)); status != http.StatusOK || len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("client %d: %d %q", i, status, lines)
		}
	}
	if n := s.world.started(); n != 2 {
		t.Errorf("%d servers for two projects", n)
	}
	apptest.Eventually(t, "who they are is known", func() bool { return slices.Equal(clientNames(s.broker, "/a"), []string{"tester", "tester"}) })
	if shared := s.broker.Shared(); shared[0].Clients[0].PID != 77 {
		t.Errorf("shared %+v", shared)
	}
	if resp := first.ask(http.MethodDelete, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("DELETE: %s", resp.Status)
	}
	if len(clientNames(s.broker, "/a")) != 1 || len(s.world.server("/a").Sessions()) != 1 {
		t.Error("after DELETE the client is still there")
	}
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		if resp := first.ask(method, callLine(1, "echo", "{}")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s after DELETE: %s", method, resp.Status)
		}
	}
}

func TestWebRefuses(t *testing.T) {
	s := serveWeb(t, nil)
	begun := s.begin(t, "/a")
	long := strings.Repeat("[", 100_000)
	for name, test := range map[string]struct {
		method, body, dir, accept, id string
		status                        int
		want                          string
	}{
		"no session to end":      {"DELETE", "", "/a", both, "", 400, sessionHeader},
		"no session to hear":     {"GET", "", "/a", both, "", 400, sessionHeader},
		"a header to look":       {"HEAD", "", "/a", both, "", 400, ""},
		"garbage":                {"POST", "garbage", "/a", both, begun.id, 400, `"id":null,"error":{"code":-32700`},
		"nothing":                {"POST", "", "/a", both, begun.id, 400, `-32700`},
		"brackets":               {"POST", long, "/a", both, begun.id, 400, `"error"`},
		"a project that is none": {"POST", initialize, "relative", both, "", 400, `"id":0,"error":{"code":-32600,"message":"relative is no project`},
		"not shared":             {"POST", initialize, "/alone", both, "", 503, "another user is logged in"},
		"no Serena":              {"POST", initialize, "/none", both, "", 503, "no Serena was found"},
		"refuses all":            {"POST", initialize, "/a", "text/html", "", 406, "accept both"},
		"a newer protocol":       {"POST", `{"jsonrpc":"2.0","id":"d","method":"server/discover"}`, "/a", both, "", 200, `"id":"d","error":{"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			c := &webClient{webServed: s, t: t, id: test.id, accept: test.accept, dir: test.dir}
			resp := c.ask(test.method, test.body)
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != test.status || !strings.Contains(string(text), test.want) {
				t.Errorf("%s, %v: %s", resp.Status, err, text)
			}
			if len(text) > 0 && (resp.Header.Get("Content-Type") != jsonType || !json.Valid(text)) {
				t.Errorf("%v: %s", resp.Header, text)
			}
			if resp.Header.Get(sessionHeader) != "" {
				t.Error("it names an MCP session")
			}
		})
	}
	if len(s.web.all()) != 1 {
		t.Errorf("%d sessions", len(s.web.all()))
	}
}

// The server decides which versions of the protocol there are: each client gets
// the one that it agreed on with it, and may name another one later, as Serena
// takes that. Only what is no version is refused.
func TestWebVersionOfTheProtocol(t *testing.T) {
	s := serveWeb(t, nil)
	for _, wanted := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := s.client(t, "/a")
		resp := c.ask(http.MethodPost, strings.ReplaceAll(initialize, "2025-06-18", wanted))
		text, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(text), `"protocolVersion":"`+wanted) {
			t.Fatalf("%s: %s, %v", wanted, text, err)
		}
		c.id = resp.Header.Get(sessionHeader)
		c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i, version := range []string{"", "2024-11-05", "2025-06-18", "2025-11-25"} {
			c.version = version
			if status, lines := c.post(callLine(i, "echo", "{}")); status != http.StatusOK || len(lines) != 1 || !strings.Contains(lines[0], `"result"`) {
				t.Errorf("%q after %s was agreed on: %d %q", version, wanted, status, lines)
			}
		}
		c.version = "x"
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			if resp := c.ask(method, callLine(9, "echo", "{}")); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", method, resp.Status)
			}
		}
	}
}

func TestWebBodies(t *testing.T) {
	for name, body := range map[string]string{
		"on one line":  initialize,
		"over several": strings.ReplaceAll(initialize, ",", ",\r\n\t"),
		"spaces":       " \n" + initialize + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveWeb(t, nil)
			if status, lines := s.client(t, "/a").post(body); status != http.StatusOK || len(lines) != 1 || !strings.Contains(lines[0], `"id":0,"result"`) {
				t.Errorf("%d %q", status, lines)
			}
		})
	}
}

// A long message that finds no room among those of others is refused with what to
// do, and a short one passes all the same.
func TestWebBodiesHaveABudget(t *testing.T) {
	s := serveWeb(t, nil)
	h := payload.NewBudget(payload.Kept).Handler(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		s.web.ServeMCP(rw, req, func() monitor.Client { return monitor.Client{} })
	}))
	for name, test := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"short": {initialize, http.StatusOK, "protocolVersion"},
		"long":  {initialize + strings.Repeat(" ", 2<<20), http.StatusServiceUnavailable, "send this again in a few seconds"},
	} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/mcp?project=/a", strings.NewReader(test.body)))
		if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.want) {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}

// A client that takes no stream with its answer gets what that would have held besides on
// its GET stream, where it has one.
func TestWebAnswersAsJSON(t *testing.T) {
	s := serveWeb(t, nil)
	c := s.begin(t, "/a")
	lines := c.listen()
	c.accept = "application/json"
	resp := c.ask(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"steps":3},"_meta":{"progressToken":"p"}}}`)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.Header.Get("Content-Type") != jsonType || !strings.Contains(string(text), `"id":1,"result"`) {
		t.Errorf("%v %v: %s", err, resp.Header, text)
	}
	for range 3 {
		if line := take(t, lines); !strings.Contains(line, "notifications/progress") {
			t.Errorf("got %s", line)
		}
	}
}

func TestWebStreamsOfOneClient(t *testing.T) {
	s := serveWeb(t, nil)
	c := s.begin(t, "/a")
	if status, lines := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"steps":2},"_meta":{"progressToken":"p"}}}`); status != 200 ||
		len(lines) != 3 || !strings.Contains(lines[0], "notifications/progress") || !strings.Contains(lines[2], `"id":1,"result"`) {
		t.Errorf("%d %q", status, lines)
	}
	before := c.listen()
	lines := c.listen() // which is the one from now on
	apptest.Eventually(t, "the server can send", func() bool {
		sessions := s.world.server("/a").Sessions()
		return len(sessions) == 1 && s.world.server("/a").Listening(sessions[0])
	})
	if status, got := c.post(callLine(2, "notify", "{}")); status != 200 || len(got) != 1 {
		t.Errorf("%d %q", status, got)
	}
	if line := take(t, lines); !strings.Contains(line, "list_changed") || len(before) > 0 {
		t.Errorf("got %s, and the stream before %d", line, len(before))
	}
	// What the server asks the client, on the stream of the request.
	own := messages(c.ask(http.MethodPost, callLine(3, "ask", "{}")))
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(take(t, own)), &asked); err != nil || asked.Method != "sampling/createMessage" {
		t.Fatalf("%v %+v", err, asked)
	}
	if status, _ := c.post(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"said":"yes"}}`); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	if line := take(t, own); !strings.Contains(line, `"id":3`) || !strings.Contains(line, "yes") {
		t.Errorf("got %s", line)
	}
	if _, more := <-own; more {
		t.Error("more follows the answer")
	}
}

func TestWebCancel(t *testing.T) {
	s := serveWeb(t, nil)
	for accept, want := range map[string]int{both: http.StatusOK, jsonType: http.StatusAccepted} {
		c := s.begin(t, "/a")
		c.accept = accept
		status, ended := 0, make(chan []string)
		go func() {
			var got []string
			status, got = c.post(callLine(5, "wait", "{}"))
			ended <- got
		}()
		apptest.Eventually(t, "it waits", func() bool { return s.world.server("/a").InFlight() == 1 })
		if status, _ := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`); status != http.StatusAccepted {
			t.Errorf("status %d", status)
		}
		if got := <-ended; len(got) != 0 || status != want {
			t.Errorf("a cancelled request got %d %q", status, got)
		}
		apptest.Eventually(t, "it waits no more", func() bool { return s.world.server("/a").InFlight() == 0 })
	}
}

// A client that goes away without a word does not cancel what it asked.
func TestWebClientGoesAway(t *testing.T) {
	s := serveWeb(t, nil)
	c := s.begin(t, "/a")
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(callLine(5, "wait", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(sessionHeader, c.id)
	req.Header.Set("Accept", both)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it waits", func() bool { return s.world.server("/a").InFlight() == 1 })
	cancel()
	resp.Body.Close()
	if status, lines := c.post(callLine(6, "echo", "{}")); status != 200 || len(lines) != 1 {
		t.Errorf("%d %q", status, lines)
	}
	s.world.server("/a").Release()
	apptest.Eventually(t, "it was carried out", func() bool { return s.world.server("/a").InFlight() == 0 })
	if n := len(s.web.all()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestWebSessionsEnd(t *testing.T) {
	s := serveWeb(t, func(o *Options) { o.Limits.Idle = 400 * time.Millisecond })
	left, heard := s.begin(t, "/a"), s.begin(t, "/b")
	lines := heard.listen()
	for range 5 {
		time.Sleep(100 * time.Millisecond)
		if status, _ := left.post(callLine(1, "echo", "{}")); status != http.StatusOK {
			t.Errorf("too early: %d", status)
		}
	}
	apptest.Eventually(t, "the unused one ends", func() bool { return len(s.web.all()) == 1 })
	if status, _ := left.post(callLine(1, "echo", "{}")); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
	if status, _ := heard.post(callLine(1, "echo", "{}")); status != http.StatusOK {
		t.Errorf("the one with a stream: %d", status)
	}
	s.stop()
	for range lines {
		t.Error("something came")
	}
	if status, _ := heard.post(callLine(1, "echo", "{}")); status != http.StatusNotFound {
		t.Errorf("after the end: %d", status)
	}
	if status, lines := s.client(t, "/a").post(initialize); status != http.StatusServiceUnavailable || !strings.Contains(lines[0], "ask again") {
		t.Errorf("after the end: %d %q", status, lines)
	}
}

// The fate of what is in flight at the end is told.
func TestWebEndsWithRequestsInFlight(t *testing.T) {
	s := serveWeb(t, nil)
	c := s.begin(t, "/a")
	ended := make(chan []string)
	go func() { _, got := c.post(callLine(5, "wait", "{}")); ended <- got }()
	apptest.Eventually(t, "it waits", func() bool { return s.world.server("/a").InFlight() == 1 })
	s.stop()
	if got := <-ended; len(got) != 1 || !strings.Contains(got[0], `"id":5,"error"`) || !strings.Contains(got[0], "may have been carried out") {
		t.Errorf("got %q", got)
	}
	// Nobody comes back to it.
	if left := s.world.server("/a").Sessions(); len(left) != 0 {
		t.Errorf("the server still has the MCP sessions %q", left)
	}
}

func TestWebInitializeThatFails(t *testing.T) {
	s := serveWeb(t, nil)
	s.world.mu.Lock()
	s.world.broken = fmt.Errorf("it does not start")
	s.world.mu.Unlock()
	if status, lines := s.client(t, "/a").post(initialize); status != 200 || len(lines) != 1 || !strings.Contains(lines[0], "it does not start") {
		t.Errorf("%d %q", status, lines)
	}
	apptest.Eventually(t, "there is no session", func() bool { return len(s.web.all()) == 0 })
}

func TestWebTooManySessions(t *testing.T) {
	s := serveWeb(t, func(o *Options) { o.Limits.Sessions = 1 })
	s.begin(t, "/a")
	if status, lines := s.client(t, "/a").post(initialize); status != 503 || !strings.Contains(lines[0], "too many") {
		t.Errorf("%d %q", status, lines)
	}
	if n := len(clientNames(s.broker, "/a")); n != 1 {
		t.Errorf("%d clients", n)
	}
}

func TestWebTenClientsAtOnce(t *testing.T) {
	s := serveWeb(t, nil)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			c := s.begin(t, "/a")
			for j := range 10 {
				want := fmt.Sprintf(`{"who":"%d-%d"}`, i, j)
				if status, lines := c.post(callLine(1, "echo", want)); status != 200 || len(lines) != 1 || !strings.Contains(lines[0], want) {
					t.Errorf("client %d: %d %q", i, status, lines)
				}
			}
		})
	}
	all.Wait()
}

func TestAccepts(t *testing.T) {
	for said, want := range map[string]bool{
		"": true, "*/*": true, "text/*": true, "text/event-stream": true, both: true, "Text/Event-Stream;charset=utf-8": true,
		"application/json": false, ";;": false, "text/plain": false,
	} {
		req := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		if said != "" {
			req.Header.Set("Accept", said)
		}
		if got := accepts(req, streamType); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

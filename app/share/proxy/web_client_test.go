package proxy

import (
	"bufio"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share"
	"lamplighter/monitor"
)

// webServed is a Server of clients over HTTP in a test.
type webServed struct {
	world  *world
	broker *share.Broker
	web    *Server
	url    string
	stop   func() // its ServeWeb
}

// all are the sessions that are open.
func (server *Server) all() []*webSession {
	server.mu.Lock()
	defer server.mu.Unlock()
	return slices.Collect(maps.Values(server.sessions))
}

func serveWeb(t testing.TB, change func(*Options)) *webServed {
	t.Helper()
	w := newWorld(t)
	broker, _ := newBroker(t, w)
	o := optionsOf(broker)
	if change != nil {
		change(&o)
	}
	web := New(o)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		web.ServeMCP(rw, req, func() monitor.Client {
			return monitor.Client{Identity: monitor.Identity{PID: 77, Start: 1}, Name: "program"}
		})
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s := &webServed{world: w, broker: broker, web: web, url: server.URL + "/mcp", stop: running(t, web.ServeWeb)}
	apptest.Eventually(t, "it serves", func() bool { web.mu.Lock(); defer web.mu.Unlock(); return web.serving != nil })
	return s
}

// webClient is one MCP session over HTTP.
type webClient struct {
	*webServed
	t      testing.TB
	id     string
	accept string
	dir    string

	version string // of the protocol, in the header; "" none
}

const both = "application/json, text/event-stream"

// ask sends a request, and returns its answer unread.
func (c *webClient) ask(method, body string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+"?project="+c.dir, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.accept != "" {
		req.Header.Set("Accept", c.accept)
	}
	if c.id != "" {
		req.Header.Set(sessionHeader, c.id)
	}
	if c.version != "" {
		req.Header.Set(versionHeader, c.version)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// post sends a message, and returns the status and the messages of the answer.
func (c *webClient) post(body string) (status int, lines []string) {
	c.t.Helper()
	resp := c.ask(http.MethodPost, body)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if resp.Header.Get("Content-Type") != streamType {
		if len(text) > 0 {
			lines = []string{string(text)}
		}
		return resp.StatusCode, lines
	}
	for line := range strings.Lines(string(text)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			lines = append(lines, strings.TrimSuffix(data, "\n"))
		}
	}
	return resp.StatusCode, lines
}

func (s *webServed) client(t testing.TB, dir string) *webClient {
	return &webClient{webServed: s, t: t, accept: both, dir: dir}
}

// begin is a client that is ready to call tools.
func (s *webServed) begin(t testing.TB, dir string) *webClient {
	t.Helper()
	c := s.client(t, dir)
	resp := c.ask(http.MethodPost, initialize)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), "protocolVersion") {
		t.Fatalf("%s, %v: %s", resp.Status, err, text)
	}
	if c.id = resp.Header.Get(sessionHeader); len(c.id) < 26 {
		t.Fatalf("MCP session %q", c.id)
	}
	if status, lines := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != http.StatusAccepted || lines != nil {
		t.Fatalf("%d %q", status, lines)
	}
	return c
}

// listen opens the GET stream and returns its messages.
func (c *webClient) listen() <-chan string {
	c.t.Helper()
	resp := c.ask(http.MethodGet, "")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != streamType {
		c.t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	return messages(resp)
}

// messages are those of a stream.
func messages(resp *http.Response) <-chan string {
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				lines <- data
			}
		}
	}()
	return lines
}

func take(t testing.TB, lines <-chan string) string {
	t.Helper()
	select {
	case line, ok := <-lines:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return line
	case <-time.After(time.Minute):
		t.Fatal("nothing comes")
	}
	return ""
}

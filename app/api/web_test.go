package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/payload"
	"lamplighter/monitor/stop"
)

// site is a Web that serves until the test ends.
type site struct {
	*Web
	stop func()
	log  apptest.Buffer

	mu   sync.Mutex
	said []string
}

func (s *site) warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// serveWeb serves on any free port, unless change sets another.
func serveWeb(t *testing.T, h http.Handler, change func(*Web)) *site {
	t.Helper()
	return serveWebWith(t, func(o *WebOptions) { o.Handler = h }, change)
}

// serveWebWith serves with these options, of which set sets what is special.
func serveWebWith(t *testing.T, set func(*WebOptions), change func(*Web)) *site {
	t.Helper()
	s := &site{}
	o := WebOptions{
		Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Warn: func(sentences ...string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.said = sentences
		},
	}
	set(&o)
	s.Web = NewWeb(o)
	s.forwarded = false
	s.Set(true, 0)
	if change != nil {
		change(s.Web)
	}
	s.run(t)
	return s
}

func (s *site) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve ended with %v", err)
		}
	})
	t.Cleanup(s.stop)
	if s.wanted().on {
		s.at(t)
	}
}

// at is the address that is served, without a path.
func (s *site) at(t *testing.T) string {
	t.Helper()
	apptest.Eventually(t, "it serves", func() bool { return s.URL() != "" })
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// connect opens a connection, which the test closes at its end.
func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// send sends a request in one piece, with $HOST for the address, over a
// connection of its own.
func (s *site) send(t *testing.T, text string) (*http.Response, string) {
	t.Helper()
	address := s.at(t)
	conn := connect(t, address)
	defer conn.Close()
	// The answer may come, and the connection end, before all is sent.
	_, _ = io.WriteString(conn, strings.ReplaceAll(text, "$HOST", address))
	return receive(t, bufio.NewReader(conn))
}

func receive(t *testing.T, r *bufio.Reader) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func get(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: $HOST\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// Requests as no client of ours writes them.
func TestRawRequests(t *testing.T) {
	s := serveWeb(t, Handler(parts(newModel(), shower{})), nil)
	for _, test := range []struct {
		request string
		status  int
		body    string // part of it
	}{
		{"GET /health HTTP/1.0\r\n\r\n", 403, `{"error":`},
		{"GET http://evil.example/health HTTP/1.1\r\nHost: $HOST\r\n\r\n", 403, `{"error":`},
		{"GET http://$HOST/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, `{"error":"the request has to name a path`},
		{"TRACE /health HTTP/1.1\r\nHost: $HOST\r\n\r\n", 405, `{"error":`},
		{"OPTIONS /health HTTP/1.1\r\nHost: $HOST\r\n\r\n", 405, `{"error":`},
		{"OPTIONS * HTTP/1.1\r\nHost: $HOST\r\n\r\n", 400, `{"error":`},
		{"CONNECT $HOST HTTP/1.1\r\nHost: $HOST\r\n\r\n", 400, `{"error":`},
		{"CONNECT /health HTTP/1.1\r\nHost: $HOST\r\n\r\n", 405, `{"error":`},
		{"BREW /health HTTP/1.1\r\nHost: $HOST\r\n\r\n", 405, `{"error":`},
	} {
		resp, body := s.send(t, test.request)
		if resp.StatusCode != test.status || !strings.Contains(body, test.body) {
			t.Errorf("%q: %d %.300s", test.request, resp.StatusCode, body)
		}
		secured(t, test.request, resp.Header)
	}
	// What net/http refuses by itself, before there is a request.
	for _, text := range []string{
		"GET /health HTTP/1.1\r\n\r\n", "GET /health HTTP/1.1\r\nHost: $HOST\r\nHost: evil.example\r\n\r\n",
		"GET /health HTTP/1.1\r\nHost: $HOST\r\nOrigin: a\x00b\r\n\r\n", "GET /\x00 HTTP/1.1\r\nHost: $HOST\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: $HOST\r\n\r\n",
		"POST /global-dashboard/instance/7/kill HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"GET /health HTTP/1.1\r\nHost: $HOST\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
	} {
		conn := connect(t, s.at(t))
		_, _ = io.WriteString(conn, strings.ReplaceAll(text, "$HOST", s.at(t)))
		// The end of the connection may overtake the answer.
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && resp.StatusCode < 400 {
			t.Errorf("%.200q: %d", text, resp.StatusCode)
		}
	}
	if warnings := s.warnings(); len(warnings) != 0 {
		t.Errorf("warned of %q", warnings)
	}
}

// secured checks what every answer has, and that none lets others read it.
func secured(t *testing.T, what string, header http.Header) {
	t.Helper()
	if !strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("%s: policy %q", what, header.Get("Content-Security-Policy"))
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %s is %q", what, name, got)
		}
	}
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: it has %s", what, name)
		}
	}
}

func TestWebBodies(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop = l
	s := serveWeb(t, Handler(p), nil)
	post := func(headers, body string) string {
		return "POST /global-dashboard/instance/7/kill HTTP/1.1\r\nHost: $HOST\r\n" + headers + "\r\n" + body
	}
	long := strings.Repeat(" ", payload.Max+1)
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"a form":                {post("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n", "a=b"), 400},
		"text":                  {post("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"), 400},
		"too long":              {post("Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(long))+"\r\n", long), 413},
		"too long, only said":   {post("Content-Type: application/json\r\nContent-Length: 99999999999\r\n", ""), 413},
		"too long, in pieces":   {post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(long), long)), 413},
		"in pieces, of no kind": {post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 400},
		"broken pieces":         {post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "zz\r\n"), 400},
	} {
		resp, body := s.send(t, test.request)
		if resp.StatusCode != test.status || !strings.HasPrefix(body, `{"error":`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
	if len(l.orders) != 0 {
		t.Errorf("carried out %+v", l.orders)
	}
	if resp, body := s.send(t, post("Content-Type: application/json\r\nSec-Fetch-Site: same-origin\r\nOrigin: http://$HOST\r\nContent-Length: 16\r\n", `{"dry_run":true}`)); resp.StatusCode != 200 {
		t.Fatalf("a good one: %d %s", resp.StatusCode, body)
	}
	if want := []stop.Order{{DryRun: true, Protect: []int{os.Getpid()}, By: "the page"}}; !reflect.DeepEqual(l.orders, want) {
		t.Errorf("ordered %+v", l.orders)
	}
}

// Who asks is found by its connection, and must not end with what it asks for.
func TestKillOverTCPProtectsWhoAsks(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop = l
	s := serveWeb(t, Handler(p), nil)
	cmd := helper(t, "kill", "http://"+s.at(t)+"/global-dashboard/instance/7-7/kill")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "200" {
		t.Fatalf("%v: %s", err, out)
	}
	if want := []stop.Order{{Protect: []int{cmd.Process.Pid}, By: "a request"}}; !reflect.DeepEqual(l.orders, want) {
		t.Errorf("ordered %+v, want %+v", l.orders, want)
	}
}

func TestWebAddress(t *testing.T) {
	s := serveWeb(t, http.NotFoundHandler(), nil)
	base := "http://" + s.at(t) + "/global-dashboard/"
	for fragment, want := range map[string]string{
		"": base, "/24284/logs": base + "#/24284/logs", "/7-7": base + "#/7-7", "/a b\x00<": base + "#/a%20b%00%3C",
	} {
		if got := s.OpenURL(fragment); got != want {
			t.Errorf("%q: %s", fragment, got)
		}
	}
	s.stop()
	if s.URL() != "" || s.OpenURL("") != "" {
		t.Errorf("afterwards: %q, %q", s.URL(), s.OpenURL(""))
	}
}

package dashboard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// rawDashboard is a program that answers with bytes of a test's choice, where
// the dashboard of an instance should be. What real ones say is in proxy_versions_test.go.
type rawDashboard struct {
	port int

	mu    sync.Mutex
	asked []string // requests, as they came in
	conns []net.Conn
}

// serveRaw calls answer for each request, with its connection, which is closed
// afterwards.
func serveRaw(t testing.TB, answer func(conn net.Conn, request string)) *rawDashboard {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &rawDashboard{port: l.Addr().(*net.TCPAddr).Port}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			d.conns = append(d.conns, conn)
			d.mu.Unlock()
			running.Go(func() { d.serve(conn, answer) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		d.mu.Lock()
		for _, conn := range d.conns {
			conn.Close()
		}
		d.mu.Unlock()
		running.Wait()
	})
	return d
}

func (d *rawDashboard) serve(conn net.Conn, answer func(net.Conn, string)) {
	defer func() {
		conn.Close()
		d.mu.Lock()
		d.conns = slices.DeleteFunc(d.conns, func(c net.Conn) bool { return c == conn })
		d.mu.Unlock()
	}()
	var raw bytes.Buffer
	req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	if raw.Len() > 0 {
		d.mu.Lock()
		d.asked = append(d.asked, raw.String())
		d.mu.Unlock()
	}
	if err == nil {
		answer(conn, raw.String())
	}
}

// requests are those that came in so far.
func (d *rawDashboard) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// says answers every request with the same bytes.
func says(raw string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) { _, _ = io.WriteString(conn, raw) }
}

// ok is a good answer with that body.
func ok(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body
}

// hangs never answers, until the other side has gone.
func hangs(conn net.Conn, _ string) { _, _ = conn.Read(make([]byte, 1)) }

// ours is an instance with that dashboard, whose process is the test's.
func ours(t testing.TB, port int) monitor.Instance {
	t.Helper()
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return monitor.Instance{
		Identity: stat.Identity, Kind: monitor.KindSerena, Recognised: true, Port: port, DashboardURL: serena.DashboardURL(port),
		ProjectName: "alpha", Version: "2.1.0", State: monitor.StateProject,
	}
}

// trusting is a Proxy that takes every process for the one that listens: what
// serena.PortOwner says of the test's own process is that it is lamplighter. It
// waits longer than the second that users are promised, which a busy machine may
// take for anything.
func trusting() *Proxy { return patient(time.Minute) }

// hurried is such a Proxy that waits as long as for users.
func hurried() *Proxy { return patient(0) }

// patient waits so long for what Serena answers at once.
func patient(quick time.Duration) *Proxy {
	return NewProxy(ProxyOptions{Limits: Limits{Quick: quick}, Owner: func(pid, _ int) (monitor.Identity, error) {
		stat, err := process.ReadStat(pid)
		return stat.Identity, err
	}})
}

// forward asks for a route like "GET last_execution", and checks what is true
// of every answer.
func forward(t testing.TB, p *Proxy, in monitor.Instance, route, body string) *httptest.ResponseRecorder {
	t.Helper()
	method, name, _ := strings.Cut(route, " ")
	req := httptest.NewRequest(method, "/", strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	p.Forward(w, req, &in, Route{method, name}, nil)
	checkAnswer(t, w)
	return w
}

// checkAnswer: an answer is a JSON object or an error in words, and its headers
// are ours.
func checkAnswer(t testing.TB, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.Bytes()
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil || !utf8.Valid(body) {
		t.Errorf("status %d: %.100q is not a JSON object (%v)", w.Code, body, err)
	}
	switch w.Code {
	case 200:
	case 400, 404, 409, 413, 502, 503, 504:
		if text, ok := fields["error"].(string); !ok || len(fields) != 1 || text == "" || len(text) > 500 || monitor.Clean(text) != text {
			t.Errorf("status %d: %.300q is not an error in words", w.Code, body)
		}
	default:
		t.Errorf("status %d", w.Code)
	}
	for name := range w.Header() {
		if !slices.Contains([]string{"Content-Type", "Content-Length", "Cache-Control", "X-Content-Type-Options"}, name) &&
			(w.Code != 413 || name != "Connection" || w.Header().Get(name) != "close") { // whose body is not read to its end
			t.Errorf("the header %s is not ours", name)
		}
	}
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
}

// child is a process of our own that listens nowhere, and what ends it.
func child(t *testing.T) (id monitor.Identity, end func()) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the child: %v", err)
		}
	})
	t.Cleanup(end)
	stat, err := process.ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Identity, end
}

package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func (s *site) port(t *testing.T) int {
	t.Helper()
	_, text, err := net.SplitHostPort(s.at(t))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestPortTakenByAnotherProgram(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0"} {
		pid, taken := holdPort(t, address)
		s := serveWeb(t, http.NotFoundHandler(), func(w *Web) { w.Set(true, taken) })
		if got := s.port(t); got <= taken || got > taken+morePorts {
			t.Errorf("serves on %d instead of %d", got, taken)
		}
		want := fmt.Sprintf("port %d was taken by api.test (pid %d); the global dashboard is at %s", taken, pid, s.URL())
		if got := s.warnings(); len(got) != 1 || strings.Replace(got[0], "api.test.exe", "api.test", 1) != want {
			t.Errorf("said %q, want %q", got, want)
		}
		s.stop()
	}
}

// A program of which nothing can be seen is not given a name.
func TestPortTakenByNobodyKnown(t *testing.T) {
	if got := unusable(1, syscall.EADDRINUSE); !strings.HasPrefix(got, "port 1 was taken by another program") && !strings.Contains(got, "cannot be used") {
		t.Error(got)
	}
	err := &net.OpError{Op: "listen", Err: syscall.EACCES}
	if got := unusable(80, err); got != "port 80 cannot be used ("+syscall.EACCES.Error()+")" {
		t.Error(got)
	}
}

// The twenty after it may be taken as well, and become free later.
func TestNoPortIsFree(t *testing.T) {
	first := apptest.FreePort(t)
	var held []net.Listener
	for port := first; port <= min(first+morePorts, 65535); port++ {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue // somebody else has it, which is as good
		}
		defer l.Close()
		held = append(held, l)
	}
	s := serveWeb(t, http.NotFoundHandler(), func(w *Web) { w.Set(false, first) })
	s.Set(true, first)
	apptest.Eventually(t, "it says so", func() bool {
		said := s.warnings()
		return len(said) == 1 && strings.Contains(said[0], "none of the next 20 can be had; the global dashboard is not served: set web_dashboard_global_port")
	})
	if s.URL() != "" {
		t.Errorf("serves at %s", s.URL())
	}
	held[0].Close()
	s.Set(false, first)
	apptest.Eventually(t, "nothing is said when it is off", func() bool { return len(s.warnings()) == 0 })
	s.Set(true, first)
	if got := s.port(t); got != first {
		t.Errorf("serves on %d", got)
	}
}

// The wanted port is taken again once it is free, not while a page is open.
func TestPortBecomesFree(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		held, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		wanted := held.Addr().(*net.TCPAddr).Port
		m := newModel()
		m.set(snapshot(instance(7, "alpha")))
		s := serveWeb(t, Handler(parts(m, shower{})), func(w *Web) {
			w.limits.Retry = 10 * time.Millisecond
			w.Set(true, wanted)
		})
		before, substitute := s.at(t), s.URL()
		conn := connect(t, before)
		if _, err := io.WriteString(conn, strings.ReplaceAll(get("/global-dashboard/stream"), "$HOST", before)); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "somebody watches", s.Watched)
		held.Close()
		if next := s.goBack(t.Context(), wanted); next != nil {
			t.Fatal("it would leave a page that is open")
		}
		if s.URL() != substitute || len(s.warnings()) != 1 {
			t.Errorf("left a page that is open for %s, saying %q", s.URL(), s.warnings())
		}
		conn.Close()
		apptest.Eventually(t, "it is back", func() bool { return s.URL() == fmt.Sprintf("http://127.0.0.1:%d%s", wanted, pageRoot) })
		if got := s.warnings(); len(got) != 0 {
			t.Errorf("still says %q", got)
		}
		if resp, body := s.send(t, get("/health")); resp.StatusCode != 200 {
			t.Errorf("on the wanted port: %d %s", resp.StatusCode, body)
		}
		s.stop()
	}
}

// Another port ends the connections to the old one, not Serve.
func TestPortChanges(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	s := serveWeb(t, Handler(parts(m, shower{})), func(w *Web) { w.Set(true, apptest.FreePort(t)) })
	before, old := s.at(t), s.URL()
	stream := openStream(t, before)
	apptest.Eventually(t, "somebody watches", s.Watched)

	s.Set(true, s.port(t)) // no change
	s.Set(true, apptest.FreePort(t))
	if _, err := io.ReadAll(stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	apptest.Eventually(t, "it is elsewhere", func() bool { return s.URL() != "" && s.URL() != old })
	if conn, err := net.Dial("tcp4", before); err == nil {
		conn.Close()
		t.Error("the old port still answers")
	}
	if resp, body := s.send(t, get("/health")); resp.StatusCode != 200 {
		t.Errorf("on the new port: %d %s", resp.StatusCode, body)
	}
	if resp, _ := s.send(t, strings.Replace(get("/health"), "$HOST", before, 1)); resp.StatusCode != 403 {
		t.Errorf("the old port's name on the new one: %d", resp.StatusCode)
	}
	apptest.Eventually(t, "nobody watches", func() bool { return !s.Watched() })

	s.Set(false, 0)
	apptest.Eventually(t, "it is off", func() bool { return s.URL() == "" })
	s.Set(true, 0)
	s.at(t)
}

// A page that was open finds lamplighter again after it has restarted.
func TestWebRestarts(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	port := apptest.FreePort(t)
	s := serveWeb(t, Handler(parts(m, shower{})), func(w *Web) { w.Set(true, port) })
	for range 3 {
		stream := openStream(t, s.at(t))
		s.stop()
		if _, err := io.ReadAll(stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the stream ended with %v", err)
		}
		s.run(t)
		if got := s.port(t); got != port {
			t.Errorf("serves on %d instead of %d", got, port)
		}
	}
}

// A listener that fails is replaced.
func TestWebListenerFails(t *testing.T) {
	s := serveWeb(t, http.NotFoundHandler(), func(w *Web) { w.Set(false, 0) })
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	other := NewWeb(s.options)
	other.Set(true, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, err := other.serve(ctx, []net.Listener{l}, other.wanted())
		ended <- err
	}()
	apptest.Eventually(t, "it serves", func() bool { return other.URL() != "" })
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) || other.URL() != "" {
		t.Errorf("ended with %v at %q", err, other.URL())
	}
}

// openStream opens the stream and reads the head of its answer.
func openStream(t *testing.T, address string) *bufio.Reader {
	t.Helper()
	conn := connect(t, address)
	if _, err := io.WriteString(conn, strings.ReplaceAll(get("/global-dashboard/stream"), "$HOST", address)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	return bufio.NewReader(resp.Body)
}

// until reads lines of a stream until one contains text.
func until(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("before %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

func TestTwoHundredStreams(t *testing.T) {
	const most = 200
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	s := serveWeb(t, newRoutes(parts(m, shower{}), most).handler(), nil)
	streams := make([]*bufio.Reader, most)
	for i := range streams {
		streams[i] = openStream(t, s.at(t))
	}
	for _, r := range streams {
		until(t, r, `"project_name":"alpha"`)
	}
	if got := s.watchers.Load(); got != most {
		t.Errorf("%d watch", got)
	}
	resp, body := s.send(t, get("/global-dashboard/stream"))
	if resp.StatusCode != 503 || !strings.Contains(body, `{"error":"200 streams are open, which is the most; close one and ask again"}`) {
		t.Errorf("one more: %d %s", resp.StatusCode, body)
	}
	m.set(snapshot(instance(7, "beta")))
	for _, r := range streams {
		until(t, r, `"project_name":"beta"`)
	}
	if resp, _ := s.send(t, get("/health")); resp.StatusCode != 200 {
		t.Errorf("other routes: %d", resp.StatusCode)
	}
}

// One who takes nothing is dropped, and holds nobody up until then.
func TestSlowReaderIsDropped(t *testing.T) {
	m := newModel()
	large := make([]monitor.Instance, 500)
	for i := range large {
		large[i] = instance(i+1, strings.Repeat("x", 2000))
	}
	h := Handler(parts(m, shower{}))
	// A limit of its own, which the fast one may exceed where the machine is busy.
	hasty := serveWeb(t, h, func(w *Web) { w.limits.Reader = 10 * time.Millisecond })
	slow := connect(t, hasty.at(t))
	if _, err := io.WriteString(slow, strings.ReplaceAll(get("/global-dashboard/stream"), "$HOST", hasty.at(t))); err != nil {
		t.Fatal(err)
	}
	s := serveWeb(t, h, nil)
	fast := openStream(t, s.at(t))
	apptest.Eventually(t, "both are there", func() bool { return m.subscribers() == 2 })
	for n := 0; m.subscribers() == 2; n++ {
		name := fmt.Sprintf("<%d>", n)
		m.set(snapshot(append([]monitor.Instance{instance(1, name)}, large[1:]...)...))
		until(t, fast, name)
	}
	m.set(snapshot(instance(1, "last")))
	until(t, fast, "last")
	if got, dropped := s.watchers.Load(), hasty.watchers.Load(); got != 1 || dropped != 0 {
		t.Errorf("%d watch, and %d where one was dropped", got, dropped)
	}
}

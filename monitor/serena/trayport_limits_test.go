package serena

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/loopback"
)

// The limits as they are meant to be: a test that took them from the code would
// hold for any.
const (
	wantConnections = 32
	wantWaiting     = 16
	wantChecks      = 2
)

func TestTrayFlood(t *testing.T) {
	checking := make(chan struct{}, 1000)
	release := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(release) })
	var mu sync.Mutex
	now, most := 0, 0
	e := serveTray(t, func(e *tray) {
		e.options.Owner = func(pid, port int) (monitor.Identity, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			checking <- struct{}{}
			<-release
			mu.Lock()
			now--
			mu.Unlock()
			return claimed(pid, port)
		}
	})
	defer letGo()
	// Each in a connection of its own; more than may be open are closed at once.
	type outcome struct {
		status int
		err    error
	}
	const flood = 200
	outcomes := make(chan outcome, flood)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var senders sync.WaitGroup
	for i := range flood {
		senders.Go(func() {
			resp, err := client.Post(fmt.Sprintf("http://127.0.0.1:%d/register", e.port), "application/json", strings.NewReader(registerBody(1000+i, 30000+i, "")))
			if err != nil {
				outcomes <- outcome{err: err}
				return
			}
			resp.Body.Close()
			outcomes <- outcome{status: resp.StatusCode}
		})
	}
	// All but those that may wait are answered while the first are still checked.
	for range flood - wantWaiting {
		if o := wait(t, outcomes, "that one more is turned away"); o.err == nil && o.status != http.StatusServiceUnavailable {
			t.Fatalf("answered with %d while nothing was checked", o.status)
		}
	}
	for range wantChecks { // which may begin after the others were turned away
		wait(t, checking, "a check")
	}
	if len(outcomes) != 0 || len(checking) != 0 {
		t.Errorf("%d more were answered, %d more are checked", len(outcomes), len(checking))
	}
	letGo()
	senders.Wait()
	for range wantWaiting {
		if o := <-outcomes; o.status != http.StatusOK {
			t.Errorf("one of those that waited: %d, %v", o.status, o.err)
		}
	}
	if most != wantChecks {
		t.Errorf("%d were checked at once", most)
	}
	if got := e.told(); len(got) != wantWaiting {
		t.Errorf("told of %d", len(got))
	}
	if status, _ := e.send(t, http.MethodGet, "/health", "", nil); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}

// dialTray opens a connection and sends nothing.
func dialTray(t *testing.T, e *tray) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", e.port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestTrayBoundsConnections: silent ones beyond the limit are closed, the others
// stay and are answered when they speak.
func TestTrayBoundsConnections(t *testing.T) {
	const all = 100
	e := serveTray(t, func(e *tray) { e.limits.Header = time.Hour })
	type end struct {
		conn   int
		answer string
	}
	ends := make(chan end, all)
	conns := make([]net.Conn, all)
	for i := range conns {
		conns[i] = dialTray(t, e)
		go func() {
			line, _ := bufio.NewReader(conns[i]).ReadString('\n') // an error is an empty answer
			ends <- end{i, line}
		}()
	}
	open := make(map[int]bool)
	for i := range conns {
		open[i] = true
	}
	for range all - wantConnections {
		closed := wait(t, ends, "that one too many is closed")
		if closed.answer != "" {
			t.Errorf("silent, it was answered %q", closed.answer)
		}
		delete(open, closed.conn)
	}
	for i := range open {
		if _, err := fmt.Fprintf(conns[i], "GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", e.port); err != nil {
			t.Error(err)
		}
	}
	for range wantConnections {
		if held := wait(t, ends, "an answer to one that was open"); !strings.HasPrefix(held.answer, "HTTP/1.1 200 ") {
			t.Errorf("one of those that were open was answered %q", held.answer)
		}
	}
}

// TestTrayIsNotShutByOthers: connections of another user take no places,
// however many there are and although they send nothing.
func TestTrayIsNotShutByOthers(t *testing.T) {
	var mu sync.Mutex
	others := make(map[uint16]bool)
	e := serveTray(t, func(e *tray) {
		e.limits.Header = time.Hour
		e.options.Peer = func(_, remote netip.AddrPort) error {
			mu.Lock()
			defer mu.Unlock()
			if others[remote.Port()] {
				return errors.New("another user's")
			}
			return nil
		}
	})
	for range 3 * wantConnections {
		mu.Lock() // it is not asked about before it is known
		c := dialTray(t, e)
		others[uint16(c.LocalAddr().(*net.TCPAddr).Port)] = true
		mu.Unlock()
	}
	if status, answer := e.send(t, http.MethodPost, "/register", registerBody(7, 24282, ""), nil); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
}

// TestTrayPeerIsSlow: a question about one connection that takes its time holds
// no other one up.
func TestTrayPeerIsSlow(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	e := serveTray(t, func(e *tray) {
		e.options.Peer = func(netip.AddrPort, netip.AddrPort) error {
			if first.CompareAndSwap(false, true) {
				close(asked)
				<-release
			}
			return nil
		}
	})
	defer close(release)
	dialTray(t, e)
	wait(t, asked, "the question")
	if status, _ := e.send(t, http.MethodGet, "/health", "", nil); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

// TestTrayLeavesThePort: held by another it is left alone, told of once, and
// taken when it is free; given back when Serve ends.
func TestTrayLeavesThePort(t *testing.T) {
	holder, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := holder.Addr().String()
	log := &sink{}
	e := NewTrayEndpoint(TrayOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
	tries := make(chan error, 100)
	e.limits.Retry, e.limits.Header = time.Millisecond, time.Minute
	e.listen = func(ctx context.Context) (net.Listener, error) {
		l, err := loopback.Listen(ctx, holder.Addr().(*net.TCPAddr).Port)
		tries <- err
		return l, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	for range 5 {
		if err := <-tries; err == nil {
			t.Fatal("the port was taken although it is held")
		}
	}
	if n := strings.Count(log.String(), "found by looking"); n != 1 {
		t.Errorf("told %d times: %s", n, log)
	}
	holder.Close()
	for err := range tries {
		if err == nil {
			break
		}
	}
	port := holder.Addr().(*net.TCPAddr).Port
	if status, _ := (&tray{TrayEndpoint: e, port: port}).send(t, http.MethodGet, "/health", "", nil); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	silent, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve returned %v", err)
	}
	again, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatalf("not given back: %v", err)
	}
	again.Close()
}

// TestTrayEndsWhileRegistering: the request gets an answer, unless it takes longer
// than what requests get to end.
func TestTrayEndsWhileRegistering(t *testing.T) {
	for deadline := time.Now().Add(time.Minute); ; {
		status, answer, err := endWhileRegistering(t)
		if err == nil && status != http.StatusServiceUnavailable {
			t.Errorf("%d %v", status, answer)
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// endWhileRegistering ends an endpoint that looks at a claim, and returns what the
// claim is answered with.
func endWhileRegistering(t *testing.T) (status int, answer map[string]string, err error) {
	t.Helper()
	waiting := make(chan struct{}, 100)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	e := NewTrayEndpoint(TrayOptions{Owner: func(int, int) (monitor.Identity, error) {
		select {
		case waiting <- struct{}{}:
		default:
		}
		return monitor.Identity{}, ErrNotListening
	}})
	e.limits.Settle, e.limits.Header = time.Hour, time.Minute
	e.listen = func(context.Context) (net.Listener, error) { return l, nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	defer func() { cancel(); <-ended }()
	go func() {
		select {
		case <-waiting:
			cancel()
		case <-ctx.Done():
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/register", port), strings.NewReader(registerBody(7, 24282, "")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return ask(req)
}

func TestTrayListensOnItsPort(t *testing.T) {
	l, err := listenTray(t.Context())
	if err != nil {
		t.Fatalf("somebody has the port; run this where nobody can, with -exec build/isolated.sh: %v", err)
	}
	defer l.Close()
	if got := l.Addr().String(); got != "127.0.0.1:24224" {
		t.Errorf("listens on %s", got)
	}
	if second, err := listenTray(t.Context()); err == nil {
		second.Close()
		t.Error("the port was taken twice")
	}
}

package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share/wire"
)

// fakeWriter is a client's side that remembers. The zero value is ready.
type fakeWriter struct {
	mu       sync.Mutex
	accepted map[uint64]bool
	answers  map[uint64][]string // of each request
	settled  map[uint64]int
	lines    []delivered // all that was delivered
	moved    []string
	refuses  error         // of all that is written
	wrong    []string      // what no session may do
	block    chan struct{} // Deliver waits for it to be closed, if not nil
	blocked  int
	before   func(seq uint64) // Accept calls it first, if not nil; set before Take
}

type delivered struct {
	seq    uint64
	answer bool
	line   string
}

func (o *fakeWriter) init() {
	if o.accepted == nil {
		o.accepted, o.answers, o.settled = map[uint64]bool{}, map[uint64][]string{}, map[uint64]int{}
	}
}

func (o *fakeWriter) Accept(seq uint64) error {
	o.mu.Lock()
	before := o.before
	o.mu.Unlock()
	if before != nil {
		before(seq)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.init()
	if _, twice := o.accepted[seq]; twice {
		o.wrong = append(o.wrong, fmt.Sprintf("%d was accepted twice", seq))
	}
	o.accepted[seq] = true
	return o.refuses
}

func (o *fakeWriter) Deliver(seq uint64, answer bool, line []byte) error {
	if answer && line == nil {
		return o.settle(seq)
	}
	o.mu.Lock()
	block := o.block
	if block != nil {
		o.blocked++
	}
	o.mu.Unlock()
	if block != nil {
		<-block
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.init()
	if answer {
		if _, ok := o.accepted[seq]; !ok {
			o.wrong = append(o.wrong, fmt.Sprintf("%d was answered before it was accepted", seq))
		}
		if len(o.answers[seq]) > 0 || o.settled[seq] > 0 {
			o.wrong = append(o.wrong, fmt.Sprintf("%d was answered again: %s", seq, line))
		}
		o.answers[seq] = append(o.answers[seq], string(line))
	}
	o.lines = append(o.lines, delivered{seq, answer, string(line)})
	return o.refuses
}

func (o *fakeWriter) settle(seq uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.init()
	if _, ok := o.accepted[seq]; !ok || len(o.answers[seq]) > 0 || o.settled[seq] > 0 {
		o.wrong = append(o.wrong, fmt.Sprintf("%d was settled out of order", seq))
	}
	o.settled[seq]++
	return o.refuses
}

func (o *fakeWriter) Moved(project string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved = append(o.moved, project)
	return o.refuses
}

// fate is what was told of a request: the line of its answer, "settled", or "".
func (o *fakeWriter) fate(seq uint64) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.answers[seq]) > 0:
		return o.answers[seq][0]
	case o.settled[seq] > 0:
		return "settled"
	}
	return ""
}

// accepts is how many of the lines are accepted.
func (o *fakeWriter) accepts(seqs ...uint64) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, seq := range seqs {
		if _, ok := o.accepted[seq]; ok {
			n++
		}
	}
	return n
}

func (o *fakeWriter) errors() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.wrong)
}

// holds reports whether a line was delivered that contains all parts.
func (o *fakeWriter) holds(parts ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.lines, func(d delivered) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(d.line, part) })
	})
}

// client is a client with its session.
type testClient struct {
	*Session
	fakeWriter
	t     *testing.T
	seq   uint64
	ended chan error
	leave context.CancelFunc
}

// sessionOf is a session that nobody asks what its client says of itself, unless the
// options have who does.
func sessionOf(o SessionOptions) *Session {
	o.Log, o.Limits = quiet(), o.Limits.orDefault()
	if o.Info == nil {
		o.Info = func(ClientInfo) {}
	}
	return newSession(o)
}

// join starts a session, which ends with the test. change may be nil.
func join(t *testing.T, g *fakeGroup, change func(*SessionOptions)) *testClient {
	t.Helper()
	c := &testClient{t: t, ended: make(chan error, 1)}
	o := SessionOptions{Servers: g, Out: &c.fakeWriter}
	if change != nil {
		change(&o)
	}
	c.Session = sessionOf(o)
	t.Cleanup(func() { apptest.Eventually(t, "all brackets are closed", func() bool { return g.open() == 0 }) })
	c.begin()
	return c
}

// begin serves the session until the end of the test, which fails by what went wrong in
// it.
func (c *testClient) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	c.leave = cancel
	go func() { c.ended <- c.Serve(ctx) }()
	c.t.Cleanup(func() {
		c.Gone()
		c.wait()
		cancel()
		for _, wrong := range c.errors() {
			c.t.Error(wrong)
		}
	})
}

// wait waits for the end of the session, and returns what Serve returned.
func (c *testClient) wait() error {
	err := <-c.ended
	c.ended <- err
	return err
}

// inFlight is how many requests of the client have no answer yet.
func (c *testClient) inFlight() (n int) {
	c.Session.mu.Lock()
	defer c.Session.mu.Unlock()
	for _, it := range c.pending {
		if !it.told {
			n++
		}
	}
	return n
}

// isIdle reports whether nothing waits, and each request was answered.
func (s *Session) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) == 0 && len(s.pending) == 0
}

// hasLeft reports whether the session uses no server.
func (c *testClient) hasLeft() bool {
	c.Session.mu.Lock()
	defer c.Session.mu.Unlock()
	return c.link == nil
}

// park ends the server, which the client does not use.
func (c *testClient) park(g *fakeGroup) {
	c.t.Helper()
	apptest.Eventually(c.t, "nothing waits", c.isIdle)
	g.hang()
	apptest.Eventually(c.t, "it has left the server", c.hasLeft)
	g.answers(false)
}

// put sends a line, and returns its number.
func (c *testClient) put(format string, a ...any) uint64 {
	c.seq++
	c.Take(c.seq, fmt.Appendf(nil, format, a...))
	return c.seq
}

// get waits for the fate of a request.
func (c *testClient) get(seq uint64) string {
	c.t.Helper()
	apptest.Eventually(c.t, fmt.Sprintf("the fate of %d is told", seq), func() bool { return c.fate(seq) != "" })
	return c.fate(seq)
}

// letGo lets the server answer a call of its tool wait. It may not wait yet.
func (c *testClient) letGo(server *mcptest.Server, seq uint64) string {
	c.t.Helper()
	apptest.Eventually(c.t, fmt.Sprintf("the fate of %d is told", seq), func() bool {
		server.Release()
		return c.fate(seq) != ""
	})
	return c.fate(seq)
}

// ask sends a line and waits for its answer.
func (c *testClient) ask(format string, a ...any) string {
	c.t.Helper()
	return c.get(c.put(format, a...))
}

const initializeLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"tester","version":"1","title":"A Tester"}}}`

// greet is the handshake.
func (c *testClient) greet() {
	c.t.Helper()
	apptest.Contains(c.t, c.ask(initializeLine), `"id":0`, `"protocolVersion":"2025-06-18"`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls a tool without waiting for the answer.
func (c *testClient) call(id any, tool, arguments string) uint64 {
	c.t.Helper()
	quoted, err := json.Marshal(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.put(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, quoted, tool, arguments)
}

// isError checks an error line.
func isError(t *testing.T, line, id string, code int, parts ...string) {
	t.Helper()
	m := wire.Split([]byte(line))
	if string(m.ID) != id || m.Error == nil {
		t.Errorf("not an error for %s: %s", id, line)
	}
	apptest.Contains(t, string(m.Error), append(parts, fmt.Sprintf(`"code":%d,`, code))...)
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"lamplighter/app/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	hello       = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// inbox is where messages arrive.
type inbox struct {
	mu    sync.Mutex
	lines []string
}

func (b *inbox) take(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, string(line))
}

// event takes the events that are messages.
func (b *inbox) event(kind string, data []byte) {
	if kind == Message {
		b.take(data)
	}
}

func (b *inbox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.lines)
}

// transport is one that ends with the test.
func transport(t testing.TB) *http.Transport {
	rt := NewTransport()
	t.Cleanup(rt.CloseIdleConnections)
	return rt
}

// dial opens a session that is initialized and ends with the test.
func dial(t testing.TB, s *mcptest.Server, receive func([]byte)) *Server {
	t.Helper()
	session, answer, err := Open(t.Context(), Options{URL: s.URL(), Transport: transport(t), Receive: receive}, []byte(hello))
	if err != nil || session == nil {
		t.Fatalf("opening a session: %v, %s", err, answer)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	if err := session.Send(t.Context(), []byte(initialized), nil); err != nil {
		t.Fatal(err)
	}
	return session
}

// call is the line of a call of a tool of mcptest.
func call(id, tool, arguments string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// ask sends a call and returns the messages that answer it.
func ask(t testing.TB, s *Server, id, tool, arguments string) []string {
	t.Helper()
	var b inbox
	if err := s.Send(t.Context(), call(id, tool, arguments), b.take); err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	return b.all()
}

// fate names what an error of a Send Is.
func fate(err error) string {
	var refused *Refused
	var names []string
	for name, is := range map[string]bool{
		"not sent": errors.Is(err, ErrNotSent), "unknown": errors.Is(err, ErrUnknown), "lost": errors.Is(err, ErrLost),
		"refused": errors.As(err, &refused), "fine": err == nil,
	} {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}

// begun is a call in the background; err is set when done is closed.
type begun struct {
	taken, done <-chan struct{}
	err         error
}

func begin(ctx context.Context, s *Server, line []byte, each func([]byte)) *begun {
	done := make(chan struct{})
	c := &begun{done: done}
	c.taken = s.Begin(ctx, line, each, func(err error) {
		c.err = err
		close(done)
	})
	return c
}

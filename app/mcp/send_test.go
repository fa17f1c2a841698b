package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
)

func TestMessagesOfAnAnswer(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	got := ask(t, session, "1", "log", `{"steps":50}`)
	if len(got) != 51 || !strings.Contains(got[50], `"id":1`) {
		t.Errorf("got %d messages, the last is %q", len(got), got[len(got)-1])
	}
	for i, line := range got[:50] {
		if !strings.Contains(line, fmt.Sprintf(`"step":%d}`, i)) {
			t.Errorf("message %d is %q", i, line)
		}
	}
	if got := ask(t, session, "2", "silent", "{}"); len(got) != 0 {
		t.Errorf("an answer without messages has %q", got)
	}
	got = nil
	err := session.Send(t.Context(), call("3", "ask", "{}"), func(line []byte) {
		got = append(got, string(line))
		if strings.Contains(string(line), "sampling/createMessage") {
			if err := session.Send(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"ours":1.0}}`), nil); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || len(got) != 2 || !strings.Contains(got[1], `\"ours\":1.0`) {
		t.Errorf("after a question the answer is %q, %v", got, err)
	}
}

func TestManyInFlight(t *testing.T) {
	s := mcptest.New(t)
	const many = 100
	session := dial(t, s, nil)
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() {
			got := ask(t, session, fmt.Sprint(i), "echo", fmt.Sprintf(`{"i":%d,"ms":%d}`, i, many-i))
			if len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf(`"id":%d,`, i)) || !strings.Contains(got[0], fmt.Sprintf(`{"i":%d,`, i)) {
				t.Errorf("the answer of %d is %q", i, got)
			}
		})
	}
	group.Wait()
}

func TestLongMessages(t *testing.T) {
	s := mcptest.New(t)
	s.Set(func(b *mcptest.Behaviour) { b.Limit = 65 << 20 })
	session := dial(t, s, nil)
	for _, size := range []int{1<<20 - 200, 2 << 20, 5 << 20} {
		arguments := `{"text":"` + strings.Repeat("y", size) + `"}`
		s.Set(func(b *mcptest.Behaviour) { b.JSON = !b.JSON })
		got := ask(t, session, "1", "echo", arguments)
		if len(got) != 1 || !strings.Contains(got[0], arguments) {
			t.Errorf("a message of %d bytes does not come back whole", size)
		}
	}
	for range 2 {
		s.Set(func(b *mcptest.Behaviour) { b.JSON = !b.JSON })
		got := ask(t, session, "2", "big", fmt.Sprintf(`{"bytes":%d}`, 64<<20))
		if len(got) != 1 || len(got[0]) < 64<<20 || strings.Count(got[0][:64<<20], "xx") < 64<<19-100 {
			t.Error("a message of 64 MiB does not come whole")
		}
	}
}

func TestRefusals(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	for _, size := range []int{4 << 20, 64 << 20} {
		err := session.Send(t.Context(), call("1", "echo", `{"text":"`+strings.Repeat("y", size)+`"}`), nil)
		if fate(err) != "[refused]" || !strings.Contains(err.Error(), "413") || !strings.Contains(err.Error(), "4194304") {
			t.Errorf("a message of %d bytes: %v", size, err)
		}
	}
	if len(s.Executed()) != 0 {
		t.Error("it was carried out")
	}
	for _, test := range []struct {
		reaction   mcptest.Reaction
		fate, text string
	}{
		{mcptest.Reaction{Status: 400, Body: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"bad é"}}`)}, "[refused]", "400 (Bad Request): bad é"},
		{mcptest.Reaction{Status: 403, Body: []byte("  plain\n")}, "[refused]", "403 (Forbidden): plain"},
		{mcptest.Reaction{Status: 404}, "[unknown]", ErrUnknown.Error()},
		{mcptest.Reaction{Status: 302, Header: http.Header{"Location": {s.URL()}}}, "[refused]", "not followed"},
		{mcptest.Reaction{Status: 500, Body: bytes.Repeat([]byte("x"), 100_000)}, "[lost refused]", "xxx"},
		{mcptest.Reaction{Status: 502}, "[lost refused]", "502"},
		{mcptest.Reaction{Status: 503}, "[refused]", "503"},
		{mcptest.Reaction{Status: 504}, "[lost refused]", "504"},
		{mcptest.Reaction{ContentType: "text/html; charset=utf-8", Body: []byte("<html>")}, "[lost]", "text/html"},
		{mcptest.Reaction{ContentType: "application/json", Header: http.Header{"Content-Length": {"999999999"}}}, "[lost]", "unexpected EOF"},
	} {
		s.Set(func(b *mcptest.Behaviour) {
			b.Instead = func(mcptest.Received) *mcptest.Reaction { return &test.reaction }
		})
		err := session.Send(t.Context(), call("1", "echo", "{}"), func(line []byte) { t.Errorf("got %q", line) })
		if fate(err) != test.fate || !strings.Contains(err.Error(), test.text) {
			t.Errorf("HTTP status %d: %v, want %s", test.reaction.Status, err, test.fate)
		}
	}
	for _, test := range []struct {
		reaction mcptest.Reaction
		want     []string
	}{
		{mcptest.Reaction{Status: 202, ContentType: "application/json", Body: []byte("null")}, nil},
		{mcptest.Reaction{Status: 204}, nil},
		{mcptest.Reaction{ContentType: " APPLICATION/JSON ;charset=utf-8", Body: []byte("\n{\"a\":\n1}\n")}, []string{`{"a": 1}`}},
		{mcptest.Reaction{ContentType: "application/json", Body: []byte(" \n")}, nil},
		{mcptest.Reaction{ContentType: "Text/Event-Stream", Body: []byte("data: 1\n\n")}, []string{"1"}},
	} {
		s.Set(func(b *mcptest.Behaviour) {
			b.Instead = func(mcptest.Received) *mcptest.Reaction { return &test.reaction }
		})
		if got := ask(t, session, "1", "echo", "{}"); !slices.Equal(got, test.want) {
			t.Errorf("%+v is taken as %q", test.reaction, got)
		}
	}
	s.Set(func(b *mcptest.Behaviour) { b.Instead = nil })
}

// TestFateAtAnyCut: wherever the connection breaks, each message that is whole
// arrives once, and what is not is never taken for an answer.
func TestFateAtAnyCut(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	lines := []string{`{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}
	whole := append(mcptest.Event(lines[0]), mcptest.Event(lines[1])...)
	first := len(mcptest.Event(lines[0]))
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		s.Set(func(b *mcptest.Behaviour) {
			b.Instead = func(mcptest.Received) *mcptest.Reaction {
				return &mcptest.Reaction{Body: whole[:cut], Cut: true, Execute: true}
			}
		})
		var b inbox
		err := session.Send(context.Background(), call("1", "echo", "{}"), b.take)
		if fate(err) != "[lost]" {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := 0
		if cut >= first {
			want++
		}
		if cut == len(whole) {
			want++
		}
		if got := b.all(); !slices.Equal(got, lines[:want]) {
			t.Fatalf("cut at %d: got %q", cut, got)
		}
	})
	s.Set(func(b *mcptest.Behaviour) { b.Instead = nil })
	ask(t, session, "2", "echo", "{}")
}

// raw is a server that does what is said with each connection.
func raw(t *testing.T, each func(net.Conn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // the end of the test
			}
			group.Go(func() {
				defer c.Close()
				each(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return "http://" + listener.Addr().String() + "/mcp"
}

// bare is a session with a server that was never asked.
func bare(t *testing.T, url string) *Server {
	t.Helper()
	s, err := newServer(Options{URL: url, Transport: transport(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// header reads the header of a request.
func header(c net.Conn) {
	var got []byte
	for b := make([]byte, 1); !bytes.HasSuffix(got, []byte("\r\n\r\n")); got = append(got, b...) {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

func TestFateByWhatTheServerGot(t *testing.T) {
	long := call("1", "echo", `{"text":"`+strings.Repeat("y", 64<<20)+`"}`)
	short := call("1", "echo", "{}")
	for _, test := range []struct {
		name string
		line []byte
		each func(net.Conn)
		want string
	}{
		{"all of it", short, func(c net.Conn) { header(c); _, _ = io.CopyN(io.Discard, c, int64(len(short))) }, "[lost]"},
		{"all of a long one", long, func(c net.Conn) { header(c); _, _ = io.CopyN(io.Discard, c, int64(len(long))) }, "[lost]"},
		{"the header of a long one", long, header, "[not sent]"},
		{"half of a long one", long, func(c net.Conn) {
			header(c)
			_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
			_, _ = io.CopyN(io.Discard, c, 32<<20)
		}, "[not sent]"},
		{"a header that is none", short, func(c net.Conn) { header(c); _, _ = io.WriteString(c, "garbage\r\n\r\n") }, "[lost]"},
		{"half a header", short, func(c net.Conn) { header(c); _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-") }, "[lost]"},
		{"an endless header", short, func(c net.Conn) {
			header(c)
			for {
				if _, err := io.WriteString(c, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, "[lost]"},
		{"too little JSON", short, func(c net.Conn) {
			header(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}")
		}, "[lost]"},
		{"a refusal before the body", long, func(c net.Conn) {
			header(c)
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}, "[refused]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := bare(t, raw(t, test.each))
			if err := s.Send(t.Context(), test.line, func(line []byte) { t.Errorf("got %q", line) }); fate(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		s := bare(t, fmt.Sprintf("http://127.0.0.1:%d", apptest.FreePort(t)))
		c := begin(t.Context(), s, short, nil)
		<-c.taken
		<-c.done
		if fate(c.err) != "[not sent]" {
			t.Errorf("got %v", c.err)
		}
	})
}

// TestIdleConnections: a server that has closed a connection, or was ended and
// started again, gets the next request on another one.
func TestIdleConnections(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	for range 20 {
		s.Restart()
		err := session.Send(t.Context(), call("1", "echo", "{}"), nil)
		if f := fate(err); f != "[unknown]" && f != "[not sent]" && f != "[lost]" {
			t.Fatalf("got %v", err)
		}
	}
}

func TestBegin(t *testing.T) {
	s := mcptest.New(t)
	session := dial(t, s, nil)
	var b inbox
	c := begin(t.Context(), session, call("1", "wait", "{}"), b.take)
	<-c.taken
	select {
	case <-c.done:
		t.Error("it is done before it is answered")
	default:
	}
	apptest.Eventually(t, "the call", func() bool { return len(s.Executed()) == 1 })
	s.Release()
	<-c.done
	if got := b.all(); c.err != nil || len(got) != 1 || !strings.Contains(got[0], "waited") {
		t.Errorf("got %q, %v", got, c.err)
	}

	// A server that does not even begin to answer.
	s.Set(func(b *mcptest.Behaviour) { b.Deaf = true })
	ctx, cancel := context.WithCancel(t.Context())
	c = begin(ctx, session, call("2", "echo", "{}"), nil)
	apptest.Eventually(t, "the request", func() bool { return len(s.Lines(session.id)) == 3 })
	select {
	case <-c.taken:
		t.Error("it is taken")
	default:
	}
	cancel()
	<-c.taken
	<-c.done
	if fate(c.err) != "[lost]" || !errors.Is(c.err, context.Canceled) {
		t.Errorf("got %v", c.err)
	}
	s.Set(func(b *mcptest.Behaviour) { b.Deaf = false })

	// One that dies in the middle.
	c = begin(t.Context(), session, call("3", "wait", "{}"), nil)
	<-c.taken
	s.Kill()
	<-c.done
	if fate(c.err) != "[lost]" {
		t.Errorf("got %v", c.err)
	}
}

// TestSlowReceiver: what is not taken is not read on, so that it does not grow.
func TestSlowReceiver(t *testing.T) {
	written, seen := make(chan int64, 1), make(chan int64, 1)
	s := bare(t, raw(t, func(c net.Conn) {
		header(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		line := []byte("data: " + strings.Repeat("x", 1<<20) + "\n\n")
		var n int64
		for range 64 {
			m, err := c.Write(line)
			n += int64(m)
			if err != nil {
				break
			}
		}
		written <- n
	}))
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	c := begin(ctx, s, call("1", "echo", "{}"), func([]byte) {
		close(began) // panics when it is called again
		<-ctx.Done()
		seen <- <-written // what is on its way could be read until the connection has ended
	})
	<-began
	cancel()
	<-c.done
	if n := <-seen; n >= 64<<20 {
		t.Errorf("the server could send all of %d bytes", n)
	}
}

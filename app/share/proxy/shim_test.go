package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/app/socket"
)

// served is a Server in a test.
type served struct {
	server *Server
	world  *world
	broker *share.Broker
	place  socket.Place
	stop   func() // the server
	die    func() // the server, and its broker
}

func serve(t testing.TB, w *world, change func(*Options)) *served {
	t.Helper()
	return serveAt(t, w, socket.Options{Place: socket.Share(sharePath(t)), Log: quiet()}, change)
}

func serveAt(t testing.TB, w *world, at socket.Options, change func(*Options)) *served {
	t.Helper()
	broker, stopBroker := newBroker(t, w)
	o := optionsOf(broker)
	if change != nil {
		change(&o)
	}
	s := New(o)
	at.LockHeld = true
	listener, err := socket.Stand(at)
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, func(ctx context.Context) error { return s.Serve(ctx, listener) })
	return &served{world: w, server: s, broker: broker, place: at.Place, stop: stop, die: func() { stop(); stopBroker() }}
}

// shim is a connection of a raw client.
type shim struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
	seq  uint64
}

func (s *served) connect(t testing.TB) *shim {
	t.Helper()
	conn, err := socket.Dial(context.Background(), s.place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return &shim{t: t, conn: conn, r: bufio.NewReader(conn)}
}

// send writes a frame. Its error is for those that expect none.
func (c *shim) send(typ wire.Type, seq uint64, payload []byte) error {
	_, err := c.conn.Write(append(wire.AppendHeader(nil, wire.Header{Type: typ, Seq: seq, Length: len(payload)}), payload...))
	return err
}

func (c *shim) must(typ wire.Type, seq uint64, payload []byte) {
	c.t.Helper()
	if err := c.send(typ, seq, payload); err != nil {
		c.t.Fatal(err)
	}
}

// line sends the next line.
func (c *shim) line(text string) uint64 {
	c.t.Helper()
	c.seq++
	c.must(wire.Line, c.seq, []byte(text))
	return c.seq
}

// frame is one that came.
type frame struct {
	wire.Header
	text string
}

func (f frame) String() string { return fmt.Sprintf("%c %d %.200s", f.Type, f.Seq, f.text) }

func (c *shim) next() (frame, error) {
	head := make([]byte, wire.HeaderLength)
	if _, err := io.ReadFull(c.r, head); err != nil {
		return frame{}, err
	}
	h, err := wire.ParseHeader(head)
	if err != nil {
		return frame{}, fmt.Errorf("%w: %x", err, head)
	}
	payload := make([]byte, h.Length)
	_, err = io.ReadFull(c.r, payload)
	return frame{h, string(payload)}, err
}

// expect returns the next frame, which has to be of that type.
func (c *shim) expect(typ wire.Type) frame {
	c.t.Helper()
	f, err := c.next()
	if err != nil || f.Type != typ {
		c.t.Fatalf("%v, %v instead of %c", f, err, typ)
	}
	return f
}

// ended reads to the end, and returns the last frame.
func (c *shim) ended() (last frame) {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				c.t.Fatal("the connection stays open")
			}
			return last
		}
		last = f
	}
}

func greeting(dir string) wire.Greeting {
	return wire.Greeting{Program: "test", Dir: dir, Command: []string{"serena"}}
}

// hello says what it wants, and returns the welcome.
func (c *shim) hello(g wire.Greeting) frame {
	c.t.Helper()
	c.must(wire.Hello, 0, wire.AppendHello(nil, g))
	c.expect(wire.Heard)
	return c.expect(wire.Welcome)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`

// begin is a client that is ready to call tools.
func (s *served) begin(t testing.TB, dir string) *shim {
	t.Helper()
	c := s.connect(t)
	if w := c.hello(greeting(dir)); w.text != "S" {
		t.Fatalf("welcome %v", w)
	}
	seq := c.line(initialize)
	if f := c.answer(seq); !strings.Contains(f.text, `"id":0`) || !strings.Contains(f.text, "protocolVersion") {
		t.Fatalf("answer to initialize: %v", f)
	}
	c.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// answer returns the answer to a line, which has to be accepted before.
func (c *shim) answer(seq uint64) frame {
	c.t.Helper()
	accepted := false
	for {
		f, err := c.next()
		switch {
		case err != nil:
			c.t.Fatalf("no answer to %d: %v", seq, err)
		case f.Type == wire.Accept && f.Seq == seq:
			accepted = true
		case f.Type == wire.Deliver && f.Seq == seq:
			if !accepted {
				c.t.Errorf("%v was not accepted before", f)
			}
			return f
		case f.Type == wire.Accept || f.Type == wire.Deliver && f.Seq == 0:
		default:
			c.t.Fatalf("%v instead of the answer to %d", f, seq)
		}
	}
}

// call calls a tool and returns the answer.
func (c *shim) call(id int, tool, arguments string) frame {
	c.t.Helper()
	return c.answer(c.line(callLine(id, tool, arguments)))
}

func callLine(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
)

// fake is a background process: a socket that the test answers at.
type fake struct {
	t        testing.TB
	path     string
	listener net.Listener
	conns    chan *fakeConn
}

// newFake listens at a path of its own.
func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{t: t, path: fakePath(t)}
	f.listen()
	return f
}

// listen listens, again after close.
func (f *fake) listen() {
	f.t.Helper()
	listener, err := listenFake(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	conns := make(chan *fakeConn, 64)
	f.listener, f.conns = listener, conns
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		defer close(conns)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- &fakeConn{t: f.t, conn: conn, r: bufio.NewReaderSize(conn, 1<<20)}
		}
	}()
	f.t.Cleanup(func() {
		listener.Close()
		<-accepted
		for c := range conns {
			c.conn.Close()
		}
	})
}

// close listens no more.
func (f *fake) close() { f.listener.Close() }

// conn is the next connection.
func (f *fake) conn() *fakeConn {
	f.t.Helper()
	select {
	case c, ok := <-f.conns:
		if !ok {
			f.t.Fatal("nobody listens")
		}
		f.t.Cleanup(func() { c.conn.Close() })
		return c
	case <-time.After(time.Minute):
		f.t.Fatal("no shim connects")
		return nil
	}
}

// welcome takes the next connection and serves it in a mode.
func (f *fake) welcome(mode wire.WelcomeMode, why string) (*fakeConn, wire.Greeting) {
	f.t.Helper()
	c := f.conn()
	g := c.hello()
	c.send(wire.Welcome, 0, string(mode)+why)
	return c, g
}

// fakeConn is the background process's end of a connection.
type fakeConn struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// next is the next frame; ok is false at the end.
func (c *fakeConn) next() (h wire.Header, payload []byte, ok bool) {
	c.t.Helper()
	head := make([]byte, wire.HeaderLength)
	if _, err := io.ReadFull(c.r, head); err != nil {
		return wire.Header{}, nil, false
	}
	h, err := wire.ParseHeader(head)
	if err != nil {
		c.t.Errorf("the shim sent %q", head)
		return wire.Header{}, nil, false
	}
	payload = make([]byte, h.Length)
	_, err = io.ReadFull(c.r, payload)
	return h, payload, err == nil
}

// want is the payload of the next frame, which has to be of that type.
func (c *fakeConn) want(kind wire.Type, seq uint64) string {
	c.t.Helper()
	h, payload, ok := c.next()
	if !ok || h.Type != kind || h.Seq != seq {
		c.t.Fatalf("got %c %d %.100q (%v), not %c %d", h.Type, h.Seq, payload, ok, kind, seq)
	}
	return string(payload)
}

// hello takes the Hello, after which the shim waits for the Welcome.
func (c *fakeConn) hello() wire.Greeting {
	c.t.Helper()
	version, g, err := wire.ParseHello([]byte(c.want(wire.Hello, 0)))
	if err != nil || version != wire.Version {
		c.t.Fatalf("hello: version %d, %v", version, err)
	}
	c.send(wire.Heard, 0, "")
	return g
}

// send sends a frame. That the shim has gone is no matter.
func (c *fakeConn) send(kind wire.Type, seq uint64, payload string) {
	frame := wire.AppendHeader(nil, wire.Header{Type: kind, Seq: seq, Length: len(payload)})
	_, _ = c.conn.Write(append(frame, payload...))
}

// accept takes a line, which has to be the next one.
func (c *fakeConn) accept(seq uint64) string {
	c.t.Helper()
	line := c.want(wire.Line, seq)
	c.send(wire.Accept, seq, "")
	return line
}

func (c *fakeConn) close() { c.conn.Close() }

// closed waits until the shim has closed the connection.
func (c *fakeConn) closed() {
	c.t.Helper()
	if h, payload, ok := c.next(); ok {
		c.t.Fatalf("got %c %d %.100q", h.Type, h.Seq, payload)
	}
}

// client is the client of a shim that runs.
type client struct {
	*running
	t      testing.TB
	in     io.WriteCloser
	outEnd *os.File // its end of the shim's standard output
	out    *bufio.Reader
	errs   apptest.Buffer
}

// connectTo starts a shim for a command, with options before it.
func connectTo(t testing.TB, path string, options []string, command ...string) *client {
	t.Helper()
	args := append([]string{"connect", "--socket", path}, options...)
	return startClient(t, exec.Command(program, append(append(args, "--"), command...)...))
}

func startClient(t testing.TB, cmd *exec.Cmd) *client {
	t.Helper()
	c := &client{t: t}
	theirIn, in, inErr := os.Pipe()
	read, write, err := os.Pipe()
	if err := errors.Join(inErr, err); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, write, &c.errs
	c.in, c.outEnd, c.out = in, read, bufio.NewReaderSize(read, 1<<20)
	c.running = startProgram(t, cmd)
	theirIn.Close()
	write.Close()
	t.Cleanup(func() { in.Close(); read.Close() })
	return c
}

// write sends a line of the client.
func (c *client) write(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// line is the next line for the client.
func (c *client) line() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("after %.100q: %v; it complained %q", line, err, c.errs.String())
	}
	return strings.TrimSuffix(line, "\n")
}

// wants checks the next line.
func (c *client) wants(line string) {
	c.t.Helper()
	if got := c.line(); got != line {
		c.t.Fatalf("got %.200q, not %.200q", got, line)
	}
}

// refused checks that the next line answers a request with an error.
func (c *client) refused(id string, words ...string) {
	c.t.Helper()
	line := c.line()
	if m := wire.Split([]byte(line)); m.Kind != wire.Response || m.Error == nil || string(m.ID) != id {
		c.t.Fatalf("got %.200q, not an error for %s", line, id)
	}
	apptest.Contains(c.t, line, words...)
}

// nothingMore checks that the shim prints nothing more and ends so.
func (c *client) nothingMore(status int) {
	c.t.Helper()
	rest, err := io.ReadAll(c.out)
	if err != nil || len(rest) > 0 {
		c.t.Errorf("it printed %.200q, %v", rest, err)
	}
	if got := c.status(c.t); got != status {
		c.t.Errorf("exit status %d, not %d; it complained %q", got, status, c.errs.String())
	}
}

// request is a request with that id.
func request(id int) string {
	return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"tools/call"}`
}

// lost answers a request that was accepted by a background process which died.
func lost(id int) string {
	return string(wire.ErrorLine([]byte(strconv.Itoa(id)), wire.CodeInternal, whyLost))
}

// result is the answer to a request.
func result(id int) string { return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"result":{}}` }

// together runs both and waits for them.
func together(all ...func()) {
	var wait sync.WaitGroup
	for _, one := range all {
		wait.Go(one)
	}
	wait.Wait()
}

// flagged reports whether a list has that text.
func flagged(list []string, text string) bool { return slices.Contains(list, text) }

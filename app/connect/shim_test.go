package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
)

func TestConversation(t *testing.T) {
	f := newFake(t)
	t.Setenv("SERENA_TEST", "relevant")
	t.Setenv("EDITOR", "not")
	c := connectTo(t, f.path, []string{"--flag", "a=b", "--web-dashboard-global-port", "3000"}, "serena", "start-mcp-server")
	conn, g := f.welcome(wire.Shared, "")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if g.Dir != dir || strings.Join(g.Command, " ") != "serena start-mcp-server" || strings.Join(g.Flags, " ") != "a=b --web-dashboard-global-port=3000" ||
		len(g.Initialize) > 0 || g.Own != "" || !flagged(g.Env, "SERENA_TEST=relevant") || flagged(g.Env, "EDITOR=not") {
		t.Errorf("it said %+v", g)
	}
	c.write(request(1))
	c.write(`{"method":"notifications/initialized"}` + "\r")
	c.write("")
	c.write("garbage \xff")
	if got := conn.accept(1); got != request(1) {
		t.Errorf("got %q", got)
	}
	if got := conn.accept(2); got != `{"method":"notifications/initialized"}` {
		t.Errorf("got %q", got)
	}
	if got := conn.accept(3); got != "garbage \xff" {
		t.Errorf("got %q", got)
	}
	conn.send(wire.Deliver, 0, `{"method":"notifications/progress"}`)
	conn.send(wire.Deliver, 1, result(1))
	conn.send(wire.Say, 0, "mind the gap\x1b")
	conn.send(wire.Deliver, 3, `{"error":{}}`)
	c.wants(`{"method":"notifications/progress"}`)
	c.wants(result(1))
	c.wants(`{"error":{}}`)
	apptest.Eventually(t, "the user is told", func() bool { return c.errs.String() == "lamplighter-connect: mind the gap \n" })
	c.in.Close()
	c.nothingMore(0)
	conn.closed()
}

// TestOpenAtTheEnd: what is open when the client closes its end is still
// answered, and a last line without an end is one.
func TestOpenAtTheEnd(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	c.write(request(1))
	c.write(request(2))
	if _, err := c.in.Write([]byte(request(3))); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	for id := 1; id <= 3; id++ {
		conn.accept(uint64(id))
	}
	conn.send(wire.Settle, 2, "")
	conn.send(wire.Deliver, 3, result(3))
	c.wants(result(3))
	conn.send(wire.Deliver, 1, result(1))
	c.wants(result(1))
	c.nothingMore(0)
}

// TestLost: open requests get their errors in order, the others are sent again,
// and nothing is printed twice.
func TestLost(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	for id := 1; id <= 6; id++ {
		c.write(request(id))
	}
	for id := 1; id <= 4; id++ {
		conn.accept(uint64(id))
	}
	conn.send(wire.Deliver, 2, result(2))
	c.wants(result(2))
	conn.want(wire.Line, 5)
	conn.close()
	for _, id := range []int{1, 3, 4} {
		c.wants(lost(id))
	}
	conn, g := f.welcome(wire.Shared, "")
	if len(g.Initialize) > 0 || len(g.Initialized) > 0 {
		t.Errorf("it repeats %q, %q", g.Initialize, g.Initialized)
	}
	conn.accept(5)
	conn.accept(6)
	conn.send(wire.Deliver, 1, result(1)) // has an answer: an error
	conn.send(wire.Deliver, 6, result(6))
	c.wants(result(6))
	c.write(request(7))
	conn.accept(7)
	conn.send(wire.Bye, 0, "\x00it ends")
	c.refused("5", whyLost)
	c.refused("7", whyLost)
	c.nothingMore(0)
}

// TestRestart: a client does not notice a restart in which it says nothing, and
// what it says meanwhile is not lost.
func TestRestart(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	for round := range 3 {
		conn, _ := f.welcome(wire.Shared, "")
		id := 2 * round
		if round > 0 {
			conn.accept(uint64(id))
			conn.send(wire.Deliver, uint64(id), result(id))
			c.wants(result(id))
		}
		c.write(request(id + 1))
		conn.accept(uint64(id + 1))
		conn.send(wire.Deliver, uint64(id+1), result(id+1))
		c.wants(result(id + 1))
		f.close()
		conn.close()
		c.write(request(id + 2))
		f.listen()
	}
	f.welcome(wire.Shared, "")
}

// TestTheBeginningIsRepeated: what a client began with goes to each background
// process, when that has worked.
func TestTheBeginningIsRepeated(t *testing.T) {
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	begin := func(id int) string {
		return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"initialize","params":{}}`
	}
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	c.write(begin(1))
	conn.accept(1)
	conn.send(wire.Deliver, 1, string(wire.ErrorLine([]byte("1"), wire.CodeUnavailable, "not now")))
	c.refused("1", "not now")
	for id := 2; id <= 3; id++ {
		conn.close()
		var g wire.Greeting
		conn, g = f.welcome(wire.Shared, "")
		if want := map[int]string{2: "", 3: begin(2)}[id]; string(g.Initialize) != want || (len(g.Initialized) > 0) != (id == 3) {
			t.Errorf("it repeats %q, %q", g.Initialize, g.Initialized)
		}
		c.write(begin(id))
		seq := uint64(2*id - 2)
		conn.accept(seq)
		conn.send(wire.Deliver, seq, result(id))
		c.wants(result(id))
		c.write(initialized)
		conn.accept(seq + 1)
		if g.Moved {
			t.Errorf("nobody told it that it has the project %q", g.Project)
		}
	}
	conn.send(wire.Moved, 0, "")
	conn.send(wire.Moved, 0, "/project")
	conn.close()
	if _, g := f.welcome(wire.Shared, ""); string(g.Initialize) != begin(3) || string(g.Initialized) != initialized || !g.Moved || g.Project != "/project" {
		t.Errorf("it repeats %q, %q, %v %q", g.Initialize, g.Initialized, g.Moved, g.Project)
	}
}

// TestNotWelcomeAgain: a lease that cannot go on ends, with errors for what is
// open.
func TestNotWelcomeAgain(t *testing.T) {
	for name, refuse := range map[string]func(*fakeConn){
		"own": func(c *fakeConn) { c.send(wire.Welcome, 0, "Oit is another project") },
		"bye": func(c *fakeConn) { c.send(wire.Bye, 0, "\x01it is another project") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			c := connectTo(t, f.path, nil, "serena")
			conn, _ := f.welcome(wire.Shared, "")
			c.write(request(1))
			c.write(request(2))
			conn.accept(1)
			conn.want(wire.Line, 2)
			conn.close()
			c.wants(lost(1))
			conn = f.conn()
			conn.hello()
			refuse(conn)
			c.refused("2")
			c.nothingMore(exitUnavailable)
			apptest.Contains(t, c.errs.String(), "it is another project")
		})
	}
}

// TestGarbageFromTheBackgroundProcess: nothing of it reaches the client, and it
// counts as the loss of the connection.
func TestGarbageFromTheBackgroundProcess(t *testing.T) {
	frame := func(kind wire.Type, seq uint64, length int) string {
		return string(wire.AppendHeader(nil, wire.Header{Type: kind, Seq: seq, Length: length}))
	}
	for name, bytes := range map[string]string{
		"text":                     "HTTP/1.1 400 Bad Request\r\n\r\n",
		"half a header":            frame(wire.Deliver, 1, 5)[:7],
		"half an answer":           frame(wire.Deliver, 1, 50) + `{"jsonrpc":`,
		"half a large answer":      frame(wire.Deliver, 1, wire.MaxLine) + strings.Repeat("x", 1<<20),
		"too large":                frame(wire.Deliver, 1, wire.MaxLine+1),
		"a frame of ours":          frame(wire.Line, 1, 0),
		"a second welcome":         frame(wire.Welcome, 0, 1) + "S",
		"a line that was not sent": frame(wire.Accept, 99, 0),
		"accepted twice":           frame(wire.Accept, 1, 0),
		"an empty bye":             frame(wire.Bye, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			c := connectTo(t, f.path, nil, "serena")
			conn, _ := f.welcome(wire.Shared, "")
			c.write(request(1))
			conn.accept(1)
			if _, err := conn.conn.Write([]byte(bytes)); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "half") {
				conn.close()
			}
			c.wants(lost(1))
			f.welcome(wire.Shared, "")
			c.in.Close()
			c.nothingMore(0)
		})
	}
}

// TestLargeLines: as large as they may be, in both directions at once.
func TestLargeLines(t *testing.T) {
	for _, size := range []int{2 << 20, 64 << 20} {
		f := newFake(t)
		c := connectTo(t, f.path, nil, "serena")
		conn, _ := f.welcome(wire.Shared, "")
		there, back := strings.Repeat("é", size/2), strings.Repeat("ø", size/2)
		together(
			func() { c.write(there) },
			func() {
				for id := range 3 {
					conn.send(wire.Deliver, 0, back+strconv.Itoa(id))
				}
			},
			func() {
				if got := conn.accept(1); got != there {
					t.Errorf("%d bytes arrived", len(got))
				}
			},
			func() {
				for id := range 3 {
					if got := c.line(); got != back+strconv.Itoa(id) {
						t.Errorf("%d bytes came back", len(got))
					}
				}
			},
		)
		c.write(request(2))
		conn.accept(2)
		c.in.Close()
		conn.send(wire.Settle, 1, "")
		conn.send(wire.Settle, 2, "")
		c.nothingMore(0)
	}
}

// TestTooLongLine: only its head is passed on, and the conversation goes on.
func TestTooLongLine(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	chunk := strings.Repeat("x", 1<<20)
	together(func() {
		c.write(request(1))
		for range wire.MaxLine / len(chunk) {
			if _, err := c.in.Write([]byte(chunk)); err != nil {
				t.Error(err)
				return
			}
		}
		c.write("yz")
		c.write(request(3))
	}, func() {
		conn.accept(1)
		if head := conn.want(wire.Long, 2); head != chunk[:wire.HeadLength] {
			t.Errorf("the head is %d bytes", len(head))
		}
		conn.send(wire.Accept, 2, "")
		conn.accept(3)
	})
}

// TestManyLines: many lines while nothing is read, and an answer to each.
func TestManyLines(t *testing.T) {
	const n = manyLines
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	together(func() {
		var all strings.Builder
		for id := 1; id <= n; id++ {
			all.WriteString(request(id) + "\n")
		}
		c.write(strings.TrimSuffix(all.String(), "\n"))
		c.in.Close()
	}, func() {
		for id := 1; id <= n; id++ {
			conn.accept(uint64(id))
			conn.send(wire.Deliver, uint64(id), result(id))
		}
	}, func() {
		for id := 1; id <= n; id++ {
			c.wants(result(id))
		}
	})
	c.nothingMore(0)
}

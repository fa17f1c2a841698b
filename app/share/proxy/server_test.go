package proxy

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

func TestClientsShareAServer(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	first, second, other := s.begin(t, "/a"), s.begin(t, "/a"), s.begin(t, "/b")
	for i, c := range []*shim{first, second, other} {
		if f := c.call(7, "echo", fmt.Sprintf(`{"who":%d}`, i)); !strings.Contains(f.text, fmt.Sprintf(`{"who":%d}`, i)) {
			t.Errorf("client %d got %v", i, f)
		}
	}
	if n := s.world.started(); n != 2 {
		t.Errorf("%d servers for two projects", n)
	}
	if names := clientNames(s.broker, "/a"); len(names) != 2 {
		t.Errorf("clients %q", names)
	}
	first.conn.Close()
	apptest.Eventually(t, "the client has gone", func() bool { return len(clientNames(s.broker, "/a")) == 1 })
	apptest.Eventually(t, "its MCP session too", func() bool { return len(s.world.server("/a").Sessions()) == 1 })
	if f := second.call(8, "echo", `{}`); f.Type != wire.Deliver {
		t.Errorf("the other client got %v", f)
	}
}

// Who has a name that people know keeps that; others are what they say.
func TestNamesOfClients(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.begin(t, "/a")
	if names := clientNames(s.broker, "/a"); len(names) != 1 || names[0] != "tester" {
		t.Errorf("names %q of %+v", names, s.broker.Shared())
	}
	shared := s.broker.Shared()
	if len(shared) != 1 || shared[0].Clients[0].PID != os.Getpid() {
		t.Errorf("shared %+v; we are %d", shared, os.Getpid())
	}
	c.conn.Close()
	plan, err := planner{}.Plan(t.Context(), share.Request{PID: os.Getpid(), Dir: "/b", Command: []string{"serena"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{true, false} {
		session, member := attach(s.broker, plan, monitor.Client{Name: "Claude Code"}, known, SessionOptions{Out: &fakeWriter{}, Log: quiet()})
		session.o.Info(ClientInfo{Name: "other", Title: "Other"})
		want := map[bool]string{true: "Claude Code", false: "Other"}[known]
		if names := clientNames(s.broker, "/b"); len(names) != 1 || names[0] != want {
			t.Errorf("names %q, want %s", names, want)
		}
		member.Detach()
	}
	for name, want := range map[string]string{"codex": "Codex", "\x1b[2J\u202ex": "[2J x", "": ""} {
		if got := saidName(struct{ Name, Version, Title string }{Name: name}); strings.ContainsAny(got, "\x1b\u202e") || (want != "" && !strings.Contains(got, "x") && got != want) {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

// A shim that is not understood says so to its client, and has failed.
func TestGarbageIsNoEnd(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.begin(t, "/a")
	c.must(wire.Accept, 1, nil)
	if last := c.ended(); last.Type != wire.Bye || last.text[0] != exitFailed || !strings.Contains(last.text, "start the MCP server again") {
		t.Errorf("the last frame is %v", last)
	}
}

func TestAlone(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.connect(t)
	g := greeting("/a")
	g.Command[0] = "alone"
	if w := c.hello(g); w.text != "Oit is not a Serena" {
		t.Fatalf("welcome %v", w)
	}
	if shared := s.broker.Shared(); len(shared) != 1 || shared[0].Alone != "it is not a Serena" || shared[0].Server != (monitor.Identity{}) {
		t.Errorf("shared %+v", shared)
	}
	c.must(wire.Ran, 0, []byte("12-34"))
	apptest.Eventually(t, "its process is known", func() bool { return s.broker.Shared()[0].Server == monitor.Identity{PID: 12, Start: 34} })
	c.must(wire.Ran, 0, []byte("garbage"))
	c.must(wire.Ran, 0, nil)
	apptest.Eventually(t, "it could not be started", func() bool { return s.broker.Shared()[0].Server == monitor.Identity{} })
	c.conn.Close()
	apptest.Eventually(t, "it has gone", func() bool { return len(s.broker.Shared()) == 0 })
	// A shim that comes back has its server already, whatever could be shared now.
	again := s.connect(t)
	back := greeting("/a")
	back.Own = "12-34"
	if w := again.hello(back); w.text != "Oit could not be shared when it was started" {
		t.Errorf("welcome %v", w)
	}
	if shared := s.broker.Shared(); len(shared) != 1 || shared[0].Server != (monitor.Identity{PID: 12, Start: 34}) {
		t.Errorf("shared %+v", shared)
	}
	again.must(wire.Line, 1, []byte("{}"))
	again.ended()
}

// What cannot be served is told to its shim, which tells its client.
func TestRefusal(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.connect(t)
	c.must(wire.Hello, 0, wire.AppendHello(nil, wire.Greeting{Dir: "/a"}))
	c.expect(wire.Heard)
	if last := c.expect(wire.Bye); last.text != "\x01there is no command" {
		t.Errorf("the last frame is %v", last)
	}
	c.ended()
}

func TestFlagsWarn(t *testing.T) {
	s := serve(t, newWorld(t), func(o *Options) {
		o.Flags = func(flags []string) []string {
			if len(flags) == 0 {
				return nil
			}
			return []string{strings.Join(flags, " ") + " is not used\n\x1b", "second"}
		}
	})
	for _, command := range []string{"serena", "alone"} {
		c := s.connect(t)
		g := greeting("/a")
		g.Command[0], g.Flags = command, []string{"--x=1"}
		c.hello(g)
		if f := c.expect(wire.Say); !strings.HasPrefix(f.text, "--x=1 is not used") || strings.ContainsAny(f.text, "\n\x1b") {
			t.Errorf("said %q", f.text)
		}
		if f := c.expect(wire.Say); f.text != "second" {
			t.Errorf("said %q", f.text)
		}
	}
}

func TestOtherVersionsOfTheProtocol(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	for version, want := range map[string]string{"1": "start the MCP server again", "9": "restart lamplighter"} {
		c := s.connect(t)
		c.must(wire.Hello, 0, []byte("1:"+version+"\x00V9.9\x00?rest"))
		if f := c.expect(wire.Bye); f.text[0] != exitFailed || !strings.Contains(f.text, want) || !strings.Contains(f.text, "lamplighter-connect 9.9") {
			t.Errorf("version %s: %v", version, f)
		}
		c.ended()
	}
}

// Nothing that a stranger of our own user may send does any harm.
func TestWhatNoShimSends(t *testing.T) {
	s := serve(t, newWorld(t), func(o *Options) { o.Limits.Hello = time.Minute })
	hello := func(g wire.Greeting) string {
		payload := wire.AppendHello(nil, g)
		return string(append(wire.AppendHeader(nil, wire.Header{Type: wire.Hello, Length: len(payload)}), payload...))
	}
	head := func(typ wire.Type, seq uint64, length int) string {
		return string(wire.AppendHeader(nil, wire.Header{Type: typ, Seq: seq, Length: length}))
	}
	line := func(seq uint64, text string) string { return head(wire.Line, seq, len(text)) + text }
	good := hello(greeting("/x"))
	t.Run("each", func(t *testing.T) { // which ends after all of them
		for name, bytes := range map[string]string{
			"nothing":                 "",
			"HTTP":                    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			"garbage":                 strings.Repeat("\xff\x00garbage", 1000),
			"half a header":           "H\x00\x00",
			"half a hello":            good[:len(good)/2],
			"a hello that lies":       head(wire.Hello, 0, wire.MaxHello) + "1:5",
			"a hello too long":        head(wire.Hello, 0, 1<<31-1),
			"an empty hello":          head(wire.Hello, 0, 0),
			"no hello":                line(1, "{}"),
			"two hellos":              good + good,
			"half a line":             good + head(wire.Line, 1, 1000) + `{"jsonrpc"`,
			"a line that lies":        good + head(wire.Line, 1, wire.MaxLine) + "{}",
			"a line too long":         good + head(wire.Line, 1, 1<<31-1),
			"no number":               good + line(0, "{}"),
			"the same number":         good + line(5, "{}") + line(5, "{}"),
			"numbers going back":      good + line(5, "{}") + line(4, "{}"),
			"frames of the other end": good + head(wire.Accept, 1, 0),
			"no frame":                good + strings.Repeat("?", 100),
			"an own one that talks":   hello(wire.Greeting{Dir: "/", Command: []string{"alone"}}) + line(1, "{}"),
			"a server that is none":   hello(wire.Greeting{Dir: "/", Command: []string{"serena"}, Own: "x"}) + head(wire.Ran, 0, 0) + head(wire.Bye, 0, 0),
			"kept garbage":            hello(wire.Greeting{Dir: "/y", Command: []string{"serena"}, Initialize: []byte("{}garbage")}),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := s.connect(t)
				_, _ = io.WriteString(c.conn, bytes) // it may be closed already
				if u, ok := c.conn.(interface{ CloseWrite() error }); ok {
					_ = u.CloseWrite()
				} else {
					return // a pipe has no half end
				}
				c.ended()
			})
		}
	})
	t.Run("afterwards", func(t *testing.T) {
		c := s.begin(t, "/a")
		c.call(1, "echo", "{}")
	})
}

// A connection that says nothing is closed.
func TestSilence(t *testing.T) {
	s := serve(t, newWorld(t), func(o *Options) { o.Limits.Hello = 20 * time.Millisecond })
	s.connect(t).ended()
}

func TestClientGoesWhileItIsDecided(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.connect(t)
	g := greeting("/a")
	g.Command[0] = "slow"
	c.must(wire.Hello, 0, wire.AppendHello(nil, g))
	c.expect(wire.Heard) // at once, or it would think that we are suspended
	if !s.server.Attends() {
		t.Error("nobody seems to be there")
	}
	c.conn.Close()
	s.stop() // which waits for all that is at work
	if shared := s.broker.Shared(); len(shared) != 0 || s.server.Attends() {
		t.Errorf("shared %+v, somebody there: %v", shared, s.server.Attends())
	}
}

func TestTwoHundredClients(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			c := s.begin(t, "/a")
			want := fmt.Sprintf(`{"who":%d}`, i)
			if f := c.call(1, "echo", want); !strings.Contains(f.text, want) {
				t.Errorf("client %d got %v", i, f)
			}
			c.conn.Close()
		})
	}
	all.Wait()
	if n := s.world.started(); n != 1 {
		t.Errorf("%d servers", n)
	}
	apptest.Eventually(t, "all have gone", func() bool { return len(clientNames(s.broker, "/a")) == 0 })
}

// Who does not read holds up nobody else, and can still go.
func TestSlowReader(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	slow, other := s.begin(t, "/a"), s.begin(t, "/a")
	for i := range 20 {
		slow.line(callLine(100+i, "big", `{"bytes":1000000}`))
	}
	for i := range 5 {
		other.call(i, "echo", `{}`)
	}
	slow.conn.Close()
	apptest.Eventually(t, "it has gone", func() bool { return len(clientNames(s.broker, "/a")) == 1 })
	other.call(9, "echo", `{}`)
}

// Lines of many MiB pass whole, both ways.
func TestLongLines(t *testing.T) {
	s := serve(t, newWorld(t), nil)
	c := s.begin(t, "/a")
	s.world.server("/a").Set(func(b *mcptest.Behaviour) { b.Limit = 1 << 30 })
	text := strings.Repeat("x", 8<<20)
	if f := c.call(1, "echo", `{"t":"`+text+`"}`); !strings.Contains(f.text, text) {
		t.Errorf("got %d bytes", len(f.text))
	}
	c.seq++
	c.must(wire.Long, c.seq, []byte(`{"jsonrpc":"2.0","id":5,"method":"x","params":{"`))
	if f := c.answer(c.seq); !strings.Contains(f.text, `"id":5,"error"`) {
		t.Errorf("got %v", f)
	}
}

package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

func TestTheServerIsKilledWithRequestsInFlight(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	var seqs []uint64
	for i := range 20 {
		seqs = append(seqs, c.call(i, "wait", "{}"))
	}
	apptest.Eventually(t, "they wait", func() bool { return server.InFlight() == 20 })
	g.killed(server)
	for i, seq := range seqs {
		isError(t, c.get(seq), fmt.Sprint(i), wire.CodeInternal, "it was killed", "may have been carried out")
	}
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	lines := server.Lines("session-2")
	if len(lines) != 2 || lines[0] != `{"jsonrpc":"2.0","method":"notifications/initialized"}` {
		t.Errorf("the new session got %s", strings.Join(lines, "\n"))
	}
	if n := strings.Join(server.Lines(""), "\n"); n != initializeLine+"\n"+initializeLine {
		t.Errorf("initialize was %s", n)
	}
	apptest.Eventually(t, "its notifications arrive again", func() bool { return server.Listening("session-2") })
	if executed := len(server.Executed()); executed != 21 {
		t.Errorf("%d calls were carried out", executed)
	}
}

func TestTheServerForgetsTheSession(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	c.get(c.call(1, "count", "{}"))
	server.Forget()
	var seqs []uint64
	for i := range 5 {
		seqs = append(seqs, c.call(i, "count", "{}"))
	}
	for _, seq := range seqs {
		apptest.Contains(t, c.get(seq), `"isError":false`)
	}
	if n := len(server.Executed()); n != 6 {
		t.Errorf("%d calls were carried out", n)
	}
	if got := server.Sessions(); len(got) != 1 {
		t.Errorf("the sessions are %v", got)
	}
}

func TestWhatServersDoWrong(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	isError(t, c.get(c.call(1, "silent", "{}")), "1", wire.CodeInternal, "may have been carried out")
	apptest.Contains(t, c.get(c.call(2, "stray", "{}")), "strayed")
	if c.holds("nobody asked") {
		t.Error("the client got what it did not ask for")
	}
	isError(t, c.get(c.call(3, "fail", "{}")), "3", wire.CodeInternal, "it failed")
	for _, test := range []struct {
		name     string
		reaction mcptest.Reaction
		want     []string
	}{
		{"an error without an id", mcptest.Reaction{Body: mcptest.Event(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"odd","data":1.0}}`)}, []string{"-32603", "may have been carried out"}},
		{"another id", mcptest.Reaction{Body: mcptest.Event(`{"jsonrpc":"2.0","id":99,"result":{}}`)}, []string{"-32603", "may have been carried out"}},
		{"garbage", mcptest.Reaction{Body: mcptest.Event(`nonsense`)}, []string{"-32603", "may have been carried out"}},
		{"a batch", mcptest.Reaction{Body: mcptest.Event(`[{"jsonrpc":"2.0","id":4,"result":{}}]`)}, []string{"-32603", "may have been carried out"}},
		{"nothing", mcptest.Reaction{ContentType: "application/json"}, []string{"-32603", "may have been carried out"}},
		{"half an answer", mcptest.Reaction{Body: []byte(`data: {"jsonrpc":"2.0","id":4,"res`), Cut: true}, []string{"-32603", "lost", "may have been carried out"}},
		{"half a stream", mcptest.Reaction{Body: mcptest.Event(`{"jsonrpc":"2.0","id":4,"result":{"half":1}}`), Cut: true}, []string{`"half":1`}},
		{"the answer twice", mcptest.Reaction{Body: slices.Concat(mcptest.Event(`{"jsonrpc":"2.0","id":4,"result":1}`), mcptest.Event(`{"jsonrpc":"2.0","id":4,"result":2}`))}, []string{`"result":1`}},
		{"a page", mcptest.Reaction{ContentType: "text/html", Body: []byte("<p>hello")}, []string{"-32603", "may have been carried out"}},
		{"status 400", mcptest.Reaction{Status: 400, Body: []byte("bad")}, []string{"-32603", "400", "bad", "not carried out"}},
		{"status 500", mcptest.Reaction{Status: 500, Body: []byte("bad")}, []string{"-32603", "500", "may have been carried out"}},
		{"status 302", mcptest.Reaction{Status: 302}, []string{"-32603", "302"}},
		{"status 202", mcptest.Reaction{Status: 202}, []string{"-32603", "may have been carried out"}},
	} {
		server.Set(func(b *mcptest.Behaviour) {
			b.Instead = func(r mcptest.Received) *mcptest.Reaction {
				if r.Method != "tools/call" {
					return nil
				}
				return &test.reaction
			}
		})
		apptest.Contains(t, c.get(c.call(4, "echo", "{}")), append(test.want, `"id":4,`)...)
		if t.Failed() {
			t.Fatal(test.name)
		}
	}
	server.Set(func(b *mcptest.Behaviour) { b.Instead = nil })
	apptest.Contains(t, c.get(c.call(5, "echo", "{}")), "session-1")
}

func TestRequestsOfTheServer(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	asks := c.call(1, "ask", "{}")
	apptest.Eventually(t, "the client is asked", func() bool { return c.holds("sampling/createMessage", `"id":1`) })
	c.put(`{"jsonrpc":"2.0","id":5,"result":{}}`) // nobody asked; the server would complain
	c.put(`{"jsonrpc":"2.0","id":1,"result":{"model":"m","n":1.0}}`)
	apptest.Contains(t, c.get(asks), `\"model\":\"m\",\"n\":1.0`)
	c.put(`{"jsonrpc":"2.0","id":1,"result":{}}`) // is answered already
}

// carries is a function as an http.RoundTripper.
type carries func(*http.Request) (*http.Response, error)

func (f carries) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAnswerToAServerThatCouldNotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newUpstream()
		w.alive = true
		asked, goOn := false, make(chan struct{})
		g := &fakeGroup{wake: func() share.Endpoint {
			return share.Endpoint{URL: "http://server/mcp", Transport: carries(func(r *http.Request) (*http.Response, error) {
				if asked {
					return w.RoundTrip(r)
				}
				asked = true
				in, out := io.Pipe()
				go func() {
					fmt.Fprint(out, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\n")
					<-goOn
					out.CloseWithError(errors.New("connection reset"))
				}()
				return said(http.StatusOK, streamType, in), nil
			})}
		}}
		c := &testClient{t: t, ended: make(chan error, 1)}
		c.Session = sessionOf(SessionOptions{Servers: g, Out: &c.fakeWriter})
		c.begin()
		begins := c.put(initializeLine)
		synctest.Wait()
		c.put(`{"jsonrpc":"2.0","id":7,"result":{}}`)
		close(goOn)
		apptest.Contains(t, c.get(begins), "protocolVersion")
		c.get(c.put(`{"jsonrpc":"2.0","id":8,"method":"ping"}`))
	})
}

func TestAnswersDoNotReachTheNextServer(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	asks := c.call(1, "ask", "{}")
	apptest.Eventually(t, "the client is asked", func() bool { return c.holds("sampling/createMessage") })
	g.killed(server)
	isError(t, c.get(asks), "1", wire.CodeInternal, "it was killed")
	c.get(c.call(2, "echo", "{}"))
	c.put(`{"jsonrpc":"2.0","id":1,"result":{}}`) // a violation if it arrived
	c.get(c.call(3, "echo", "{}"))
}

func TestNotificationsOfTheServer(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c, other := join(t, g, nil), join(t, g, nil)
	c.greet()
	other.greet()
	apptest.Eventually(t, "it listens", func() bool { return server.Listening("session-1") })
	c.get(c.call(1, "notify", "{}"))
	apptest.Eventually(t, "it arrives", func() bool { return c.holds("notifications/tools/list_changed") })
	if g.forgotten != 1 || other.holds("list_changed") {
		t.Errorf("forgotten %d times", g.forgotten)
	}
}

func TestCachedAnswersNeedNoServer(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	list := `{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":{}}}`
	tools := c.ask("%s", list)
	c.park(g)
	if got := c.ask("%s", list); got != tools {
		t.Errorf("the cache says %s", got)
	}
	next := join(t, g, nil)
	next.greet()
	if got := next.ask("%s", list); got != tools {
		t.Errorf("the cache says %s", got)
	}
	if g.starts() != 1 {
		t.Fatal("the server was started")
	}
	other := join(t, g, nil) // its answer would be another one
	apptest.Contains(t, other.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`), "2024-11-05")
	if g.starts() != 2 {
		t.Error("the server was not started")
	}
	apptest.Contains(t, next.get(next.call(1, "echo", "{}")), "echo")
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "echo")
	apptest.Eventually(t, "all have a session", func() bool { return len(server.Sessions()) == 3 && server.Listening(server.Sessions()[2]) })
}

func TestPark(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.get(c.call(1, "echo", "{}"))
	g.hang()
	apptest.Eventually(t, "the session is closed", func() bool { return len(server.Sessions()) == 0 })
	server.Kill()
	g.answers(false)
	c.put(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`) // wakes nobody
	c.get(c.put(`{"jsonrpc":"2.0","id":"p","method":"ping"}`))
	apptest.Eventually(t, "nothing waits", c.isIdle)
	if g.starts() != 1 {
		t.Error("it was woken")
	}
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	if !slices.Contains(server.Lines("session-2"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`) || g.starts() != 2 {
		t.Error("it was not woken")
	}
	if c.holds("cancelled") {
		t.Error("the client noticed")
	}
}

// A server that was shut before a request has begun does not get it, also where its end
// has not come to the session yet.
func TestARequestWhenTheServerIsShut(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		synctest.Wait()
		g.before = g.hang
		seq := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		synctest.Wait()
		if call := w.take(0); call != nil || w.opened != 1 {
			t.Fatalf("it was sent on %d sessions", w.opened)
		}
		w.die()
		g.answers(false)
		synctest.Wait()
		if call := w.take(0); call != nil {
			call.answer(true)
		}
		synctest.Wait()
		if got := c.fate(seq); !strings.Contains(got, "done") || w.opened != 2 || g.starts() != 2 {
			t.Errorf("%s on %d sessions", got, w.opened)
		}
	})
}

func TestSessionsOfTheREPLAreSeen(t *testing.T) {
	g := behind(t, mcptest.New(t))
	c := join(t, g, nil)
	c.greet()
	c.get(c.call(1, "serena_repl", `{"session":"s1","code":"x = 1"}`))
	c.get(c.call(2, "echo", `{"session":"serena_repl"}`))
	c.get(c.put(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"serena_\u0072epl","arguments":{"session":"s2"}}}`))
	if !slices.Equal(g.seen, []string{"s1", "s2"}) {
		t.Errorf("seen were %q", g.seen)
	}

}

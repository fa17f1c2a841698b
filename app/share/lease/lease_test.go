package lease

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share/sharetest"
	"lamplighter/app/share/wire"
)

func TestMessagesPassAsTheyAre(t *testing.T) {
	server := sharetest.New(t)
	var who ClientInfo
	g := behind(t, server)
	c := join(t, g, func(o *Options) { o.Info = func(i ClientInfo) { who = i } })
	c.greet()
	if who != (ClientInfo{Name: "tester", Version: "1", Title: "A Tester"}) {
		t.Errorf("the client is %+v", who)
	}
	apptest.Contains(t, c.get(1), `"unknown":{"kept":1.50}`)
	for _, test := range []struct{ id, arguments string }{
		{"1.5", `{"n":12345678901234567890123}`},
		{`"a\u0062"`, `{"text":"\u2028 <&> \ud83d","unknown":null}`},
		{"9007199254740993", `{"n":1.0e+2,"n":0.10}`},
		{"-3", `{ "spaces" : [ ] }`},
	} {
		line := fmt.Sprintf(`{"extra":[1,{}], "method":"tools/call","params":{"name":"echo","arguments":%s},"jsonrpc":"2.0","id":%s}`, test.arguments, test.id)
		apptest.Contains(t, c.ask("%s", line), `"id":`+test.id+`,`, `"arguments":`+test.arguments)
		if id := server.Sessions()[0]; !slices.Contains(server.Lines(id), line) {
			t.Errorf("the server did not get %s", line)
		}
	}
	c.ask(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"progress","arguments":{"steps":2},"_meta":{"progressToken":0.5}}}`)
	if !c.holds("notifications/progress", `"progressToken":0.5,"progress":1`) {
		t.Error("no progress")
	}
	isError(t, c.ask(`{"jsonrpc":"2.0","id":6,"method":"nonsense"}`), "6", wire.CodeMethodNotFound)
	if g.starts() != 1 || g.began != 7 {
		t.Errorf("%d starts, %d requests", g.starts(), g.began)
	}
}

func TestWhatNoServerIsAskedFor(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	if got := c.ask(`{"jsonrpc":"2.0","id":"p","method":"ping"}`); got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
		t.Error(got)
	}
	isError(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`), "1", wire.CodeMethodNotFound)
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), "2", wire.CodeInvalid, "initialize comes first")
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	isError(t, c.ask(`{half a li`), "null", wire.CodeParse)
	isError(t, c.ask("\x00\xff\xfe"), "null", wire.CodeParse)
	isError(t, c.ask(`{"id":null,"method":"x"}`), "null", wire.CodeInvalid)
	isError(t, c.ask(`{"jsonrpc":"2.0"}`), "null", wire.CodeInvalid)
	isError(t, c.ask(` [{"jsonrpc":"2.0","id":3,"method":"ping"}]`), "null", wire.CodeInvalid, "line of its own")
	c.put(`{"jsonrpc":"2.0","id":4,"result":{}}`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	if g.acquired != 0 || len(server.Received()) != 0 {
		t.Error("a server was asked")
	}
	c.greet()
	isError(t, c.ask(`{"jsonrpc":"2.0","id":5,"method":"server/discover"}`), "5", wire.CodeMethodNotFound)
	c.ask(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	isError(t, c.ask(`not JSON`), "null", wire.CodeParse)
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`), `"tools"`)
	for _, line := range server.Lines(server.Sessions()[0]) {
		if m := wire.Split([]byte(line)); m.Method == "ping" || m.Method == "server/discover" || m.Kind == wire.Garbage {
			t.Errorf("the server got %s", line)
		}
	}
}

func TestLongLines(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	big := strings.Repeat("x", 2<<20)
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"t":"%s"}}}`, big), big)
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"t":"%s"}}}`, big+big), "2",
		wire.CodeInvalid, "4.0 MiB", "4194304", "not carried out")
	if got := c.get(c.call(3, "big", `{"bytes":16777216}`)); len(got) < 16<<20 {
		t.Errorf("the answer has %d bytes: %.200s", len(got), got)
	}
	for _, test := range []struct{ head, id string }{
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"t":"` + big[:1000], `"a"`},
		{`{"id":4,"params":[`, "4"},
		{`{"method":"tools/call","params":{"t":"`, "null"},
		{`{"id":true,"params":{"t":"`, "null"},
		{`xxxxx`, "null"}, {``, "null"}, {`{`, "null"}, {`[1,2`, "null"}, {`{"id"`, "null"}, {`{"id":`, "null"},
	} {
		c.seq++
		c.TakeLong(c.seq, []byte(test.head))
		isError(t, c.get(c.seq), test.id, wire.CodeInvalid, "256 MiB")
	}
}

func TestDuplicateIds(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	for _, test := range []struct{ first, second string }{{"7", "7"}, {"8", `"8"`}, {"9", "9.0"}, {`"x"`, `"\u0078"`}} {
		first := c.put(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"wait"}}`, test.first)
		second := c.put(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo"}}`, test.second)
		isError(t, c.get(second), test.second, wire.CodeInvalid, "in flight")
		apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
		apptest.Contains(t, c.letGo(server, first), "waited")
		apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo"}}`, test.second), "echo")
	}
}

func TestASecondInitialize(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	waits := c.call(1, "wait", "{}")
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`), "2", wire.CodeInvalid)
	apptest.Contains(t, c.letGo(server, waits), "waited")
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`), `"2024-11-05"`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	apptest.Eventually(t, "the first session is closed", func() bool { return slices.Equal(server.Sessions(), []string{"session-2"}) })
}

func TestInitializeThatTheServerRefuses(t *testing.T) {
	server := sharetest.New(t)
	server.Set(func(b *sharetest.Behaviour) {
		b.Instead = func(r sharetest.Received) *sharetest.Reaction {
			return &sharetest.Reaction{Body: sharetest.Event(`{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}`)}
		}
	})
	g := behind(t, server)
	c := join(t, g, nil)
	isError(t, c.ask(initializeLine), "0", -32602, "no")
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), "2", wire.CodeInvalid, "initialize comes first")
	server.Set(func(b *sharetest.Behaviour) {
		b.Instead = func(sharetest.Received) *sharetest.Reaction { return &sharetest.Reaction{Status: 500} }
	})
	isError(t, c.ask(initializeLine), "0", wire.CodeUnavailable, "500")
	server.Set(func(b *sharetest.Behaviour) { b.Instead = nil })
	g.change(func() { g.refuse = errors.New("no room for another server") })
	isError(t, c.ask(initializeLine), "0", wire.CodeUnavailable, "no room for another server")
	g.change(func() { g.refuse = nil })
	c.greet()
}

func TestLinesStayInOrder(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	waits := c.call("w", "wait", "{}") // holds up nothing
	var want []string
	for i := range 100 {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"n":%d}}`, i)
		if i%3 == 0 {
			line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count"}}`, i)
		}
		want = append(want, line)
		c.put("%s", line)
	}
	c.get(c.seq)
	apptest.Eventually(t, "all arrive", func() bool { return len(server.Lines("session-1")) == 102 })
	if got := server.Lines("session-1")[2:]; !slices.Equal(got, want) {
		t.Errorf("the order was %s", strings.Join(got, "\n"))
	}
	c.letGo(server, waits)
}

func TestAnswersOutOfOrder(t *testing.T) {
	server := sharetest.New(t)
	server.Set(func(b *sharetest.Behaviour) { b.Reverse = 20 })
	c := join(t, behind(t, server), nil)
	c.greet()
	var seqs []uint64
	for i := range 20 {
		seqs = append(seqs, c.call(i, "echo", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i, seq := range seqs {
		apptest.Contains(t, c.get(seq), fmt.Sprintf(`"id":%d,`, i), fmt.Sprintf(`"arguments":{"n":%d}`, i))
	}
}

func TestCancel(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	waits := c.call(1, "wait", "{}")
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	line := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`
	c.put("%s", line)
	if got := c.get(waits); got != "settled" {
		t.Error(got)
	}
	if !slices.Contains(server.Lines("session-1"), line) {
		t.Error("the server was not told")
	}
	apptest.Eventually(t, "the server lets go of it", func() bool { return server.InFlight() == 0 && g.open() == 0 })
	if len(g.lingering) != 1 || g.lingering[0] > unseen || g.lingering[0] < unseen/2 {
		t.Errorf("it may run on for %v", g.lingering)
	}
	apptest.Contains(t, c.get(c.call(1, "count", "{}")), `"1"`) // its id is free again
	if c.InFlight() != 0 {
		t.Error("something is in flight")
	}
}

func TestCancelBeforeTheServerRuns(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	apptest.Eventually(t, "it can be parked", c.Park)
	g.change(func() { g.hold = make(chan struct{}) })
	first, second := c.call(1, "echo", "{}"), c.call(2, "echo", "{}")
	c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if c.get(first) != "settled" || c.get(second) != "settled" {
		t.Error("they are not settled")
	}
	third := c.call(1, "echo", `{"third":true}`)
	close(g.hold)
	apptest.Contains(t, c.get(third), `"third":true`)
	if n := len(server.Executed()); n != 1 {
		t.Errorf("%d calls were carried out", n)
	}
}

// TestCancelWhileItIsAccepted: the cancellation comes before the request is sent,
// and gets its turn after.
func TestCancelWhileItIsAccepted(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	c.get(c.call(0, "count", "{}"))
	request, cancellation := c.seq+1, c.seq+2
	accepting, goOn := make(chan struct{}), make(chan struct{})
	c.outlet.mu.Lock()
	c.before = func(seq uint64) {
		switch seq {
		case request:
			close(accepting)
			<-goOn
		case cancellation:
			apptest.Eventually(t, "the request is sent", func() bool {
				c.Lease.mu.Lock()
				defer c.Lease.mu.Unlock()
				return c.pending["1"].stage == sent
			})
		}
	}
	c.outlet.mu.Unlock()
	c.call(1, "wait", "{}")
	<-accepting
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}()
	apptest.Eventually(t, "the cancellation waits for its turn", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return slices.ContainsFunc(strings.Split(string(stacks), "\n\n"), func(stack string) bool {
			return strings.Contains(stack, "[sync.Mutex.Lock") && strings.Contains(stack, ".takeCancellation(") && strings.Contains(stack, ".accept(")
		})
	})
	close(goOn)
	<-taken
	if got := c.get(request); got != "settled" {
		t.Error(got)
	}
	apptest.Contains(t, strings.Join(server.Lines("session-1"), "\n"), `{"requestId":1}`)
}

func TestTheClientGoes(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c, other := join(t, g, nil), join(t, g, nil)
	c.greet()
	other.greet()
	c.call(1, "wait", "{}")
	c.call("b", "wait", "{}")
	stays := other.call(1, "wait", "{}")
	apptest.Eventually(t, "they wait", func() bool { return server.InFlight() == 3 })
	c.Gone()
	c.wait()
	lines := strings.Join(server.Lines("session-1"), "\n")
	apptest.Contains(t, lines, `{"requestId":1,"reason":"the client has gone"}`, `{"requestId":"b","reason":"the client has gone"}`)
	if !slices.Equal(server.Sessions(), []string{"session-2"}) {
		t.Errorf("the sessions are %v", server.Sessions())
	}
	if len(g.lingering) == 0 {
		t.Error("nothing may run on")
	}
	apptest.Contains(t, other.letGo(server, stays), "waited")
}

func TestAConversationThatCannotBeResumedEndsWithUs(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, func(o *Options) { o.Ephemeral = true })
	c.greet()
	c.call(1, "wait", "{}")
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	c.leave()
	if err := c.wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	apptest.Contains(t, strings.Join(server.Lines("session-1"), "\n"), `{"requestId":1,"reason":"the client has gone"}`)
	if len(server.Sessions()) != 0 {
		t.Errorf("the sessions are %v", server.Sessions())
	}
	if len(g.lingering) == 0 {
		t.Error("nothing may run on")
	}
}

func TestTheClientGoesWhileTheServerStarts(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	g.hold = make(chan struct{})
	c := join(t, g, nil)
	c.put(initializeLine)
	apptest.Eventually(t, "it waits", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.acquired == 1 })
	c.Gone()
	c.wait()
	c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) // is for nobody
}

func TestWhatCannotBeAcceptedIsNotSent(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{`,
	} {
		server := sharetest.New(t)
		c := join(t, behind(t, server), nil)
		c.greet()
		c.get(c.call(0, "count", "{}"))
		before := len(server.Lines("session-1"))
		c.outlet.mu.Lock()
		c.refuses = errGone
		c.outlet.mu.Unlock()
		c.put("%s", line)
		c.wait()
		if lines := server.Lines("session-1"); len(lines) != before {
			t.Errorf("the server got %s, which the next process gets again", lines[before:])
		}
	}
}

func TestFinish(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	first := c.put(initializeLine)
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var seqs []uint64
	for i := range 20 {
		seqs = append(seqs, c.call(i+1, "sleep", `{"ms":20}`))
	}
	c.Finish()
	c.wait()
	apptest.Contains(t, c.fate(first), "protocolVersion")
	for _, seq := range seqs {
		apptest.Contains(t, c.fate(seq), "slept")
	}
	if len(server.Sessions()) != 0 {
		t.Error("the session is open")
	}
}

func TestTheServerIsKilledWithRequestsInFlight(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.ask(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}}`)
	for _, uri := range []string{"a", "b", "a"} {
		c.ask(`{"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":"file:///%s"}}`, uri)
	}
	c.ask(`{"jsonrpc":"2.0","id":"u","method":"resources/unsubscribe","params":{"uri":"file:///b"}}`)
	var seqs []uint64
	for i := range 20 {
		seqs = append(seqs, c.call(i, "wait", "{}"))
	}
	apptest.Eventually(t, "they wait", func() bool { return server.InFlight() == 20 })
	server.Kill()
	g.fell()
	for i, seq := range seqs {
		isError(t, c.get(seq), fmt.Sprint(i), wire.CodeInternal, "it was killed", "may have been carried out")
	}
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	lines := server.Lines("session-2")
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"lamplighter-1","method":"logging/setLevel","params":{"level":"error"}}`,
		`{"jsonrpc":"2.0","id":"lamplighter-2","method":"resources/subscribe","params":{"uri":"file:///a"}}`,
	}
	if len(lines) != 4 || !slices.Equal(lines[:3], want) {
		t.Errorf("the new session got %s", strings.Join(lines, "\n"))
	}
	if n := strings.Join(server.Lines(""), "\n"); n != initializeLine+"\n"+initializeLine {
		t.Errorf("initialize was %s", n)
	}
	if c.holds("lamplighter-") {
		t.Error("the client saw the answers to the replay")
	}
	apptest.Eventually(t, "its notifications arrive again", func() bool { return server.Listening("session-2") })
	if executed := len(server.Executed()); executed != 21 {
		t.Errorf("%d calls were carried out", executed)
	}
}

func TestTheServerForgetsTheSession(t *testing.T) {
	server := sharetest.New(t)
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
	server := sharetest.New(t)
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
		reaction sharetest.Reaction
		want     []string
	}{
		{"an error without an id", sharetest.Reaction{Body: sharetest.Event(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"odd","data":1.0}}`)}, []string{`"message":"odd","data":1.0`}},
		{"another id", sharetest.Reaction{Body: sharetest.Event(`{"jsonrpc":"2.0","id":99,"result":{}}`)}, []string{"-32603", "may have been carried out"}},
		{"garbage", sharetest.Reaction{Body: sharetest.Event(`nonsense`)}, []string{"-32603", "may have been carried out"}},
		{"a batch", sharetest.Reaction{Body: sharetest.Event(`[{"jsonrpc":"2.0","id":4,"result":{}}]`)}, []string{"-32603", "may have been carried out"}},
		{"nothing", sharetest.Reaction{ContentType: "application/json"}, []string{"-32603", "may have been carried out"}},
		{"half an answer", sharetest.Reaction{Body: []byte(`data: {"jsonrpc":"2.0","id":4,"res`), Cut: true}, []string{"-32603", "lost", "may have been carried out"}},
		{"half a stream", sharetest.Reaction{Body: sharetest.Event(`{"jsonrpc":"2.0","id":4,"result":{"half":1}}`), Cut: true}, []string{`"half":1`}},
		{"the answer twice", sharetest.Reaction{Body: slices.Concat(sharetest.Event(`{"jsonrpc":"2.0","id":4,"result":1}`), sharetest.Event(`{"jsonrpc":"2.0","id":4,"result":2}`))}, []string{`"result":1`}},
		{"a page", sharetest.Reaction{ContentType: "text/html", Body: []byte("<p>hello")}, []string{"-32603", "may have been carried out"}},
		{"status 400", sharetest.Reaction{Status: 400, Body: []byte("bad")}, []string{"-32603", "400", "bad", "not carried out"}},
		{"status 500", sharetest.Reaction{Status: 500, Body: []byte("bad")}, []string{"-32603", "500", "may have been carried out"}},
		{"status 302", sharetest.Reaction{Status: 302}, []string{"-32603", "302"}},
		{"status 202", sharetest.Reaction{Status: 202}, []string{"-32603", "may have been carried out"}},
	} {
		server.Set(func(b *sharetest.Behaviour) {
			b.Instead = func(r sharetest.Received) *sharetest.Reaction {
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
	server.Set(func(b *sharetest.Behaviour) { b.Instead = nil })
	apptest.Contains(t, c.get(c.call(5, "echo", "{}")), "session-1")
}

func TestRequestsOfTheServer(t *testing.T) {
	server := sharetest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	asks := c.call(1, "ask", "{}")
	apptest.Eventually(t, "the client is asked", func() bool { return c.holds("sampling/createMessage", `"id":1`) })
	c.put(`{"jsonrpc":"2.0","id":5,"result":{}}`) // nobody asked; the server would complain
	c.put(`{"jsonrpc":"2.0","id":1,"result":{"model":"m","n":1.0}}`)
	apptest.Contains(t, c.get(asks), `\"model\":\"m\",\"n\":1.0`)
	c.put(`{"jsonrpc":"2.0","id":1,"result":{}}`) // is answered already

	asks = c.call(2, "ask", "{}")
	apptest.Eventually(t, "the client is asked", func() bool { return c.holds("sampling/createMessage", `"id":2`) })
	c.seq++
	c.TakeLong(c.seq, []byte(`{"id":2,"result":{"text":"xxxx`))
	apptest.Contains(t, c.get(asks), "256 MiB")
}

func TestAnswersDoNotReachTheNextServer(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	asks := c.call(1, "ask", "{}")
	apptest.Eventually(t, "the client is asked", func() bool { return c.holds("sampling/createMessage") })
	server.Kill()
	g.fell()
	isError(t, c.get(asks), "1", wire.CodeInternal, "it was killed")
	apptest.Eventually(t, "the client hears that nobody waits", func() bool { return c.holds("notifications/cancelled", `"requestId":1,`) })
	c.get(c.call(2, "echo", "{}"))
	c.put(`{"jsonrpc":"2.0","id":1,"result":{}}`) // a violation if it arrived
	c.get(c.call(3, "echo", "{}"))
}

func TestNotificationsOfTheServer(t *testing.T) {
	server := sharetest.New(t)
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
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	list := `{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":{}}}`
	tools := c.ask("%s", list)
	apptest.Eventually(t, "it can be parked", c.Park)
	g.fell()
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
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	if !c.Park() {
		t.Error("nobody has begun")
	}
	c.greet()
	waits := c.call(1, "wait", "{}")
	if c.Park() || c.InFlight() != 1 {
		t.Error("a request is in flight")
	}
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	c.letGo(server, waits)
	apptest.Eventually(t, "it can be parked", c.Park)
	if len(server.Sessions()) != 0 {
		t.Error("the session is open")
	}
	server.Kill()
	g.fell()
	c.put(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`) // wakes nobody
	c.put(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	apptest.Eventually(t, "it can be parked again", c.Park)
	if g.starts() != 1 {
		t.Error("it was woken")
	}
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	if !slices.Contains(server.Lines("session-2"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`) || g.starts() != 2 {
		t.Error("it was not woken")
	}
	if c.holds("cancelled") || len(c.said) > 0 {
		t.Error("the client noticed")
	}
}

func TestSessionsOfTheREPLAreSeen(t *testing.T) {
	g := behind(t, sharetest.New(t))
	c := join(t, g, nil)
	c.greet()
	c.get(c.call(1, "serena_repl", `{"session":"s1","code":"x = 1"}`))
	c.get(c.call(2, "echo", `{"session":"serena_repl"}`))
	c.get(c.put(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"serena_\u0072epl","arguments":{"session":"s2"}}}`))
	if !slices.Equal(g.seen, []string{"s1", "s2"}) {
		t.Errorf("seen were %q", g.seen)
	}
	state, err := parseState(c.keptNow())
	if err != nil || !slices.Equal(state.REPL, g.seen) {
		t.Errorf("kept were %q, %v", state.REPL, err)
	}
}

func TestTheNextProcessGoesOn(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.get(c.call(1, "count", "{}"))
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`)
	c.get(c.call(3, "serena_repl", `{"session":"s1"}`))
	waits := c.call(4, "wait", "{}")
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	c.leave()
	c.wait()
	if c.fate(waits) != "" || !strings.Contains(c.accepted[waits], "may have been carried out") {
		t.Error("its fate is the shim's to tell")
	}
	if !slices.Equal(server.Sessions(), []string{"session-1"}) || strings.Contains(strings.Join(server.Lines("session-1"), ""), "cancelled") {
		t.Error("the session was ended, or its call")
	}
	g.change(func() { g.seen = nil })
	var who string
	next := join(t, g, func(o *Options) { o.Resume, o.Info = c.keptNow(), func(i ClientInfo) { who = i.Name } })
	next.seq = c.seq
	apptest.Contains(t, next.get(next.call(5, "count", "{}")), `"2"`)
	apptest.Eventually(t, "it listens", func() bool { return server.Listening("session-1") })
	if who != "tester" || !slices.Equal(g.seen, []string{"s1"}) {
		t.Errorf("it is %q, and has %q", who, g.seen)
	}

	next.leave()
	next.wait()
	server.Forget()
	last := join(t, g, func(o *Options) { o.Resume = next.keptNow() })
	last.seq = next.seq
	apptest.Contains(t, last.get(last.call(6, "count", "{}")), `"1"`)
	apptest.Contains(t, strings.Join(server.Lines("session-2"), ""), "notifications/initialized", `{"level":"error"}`)
}

func TestTheNextProcessFindsAnotherServer(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.get(c.call(0, "echo", "{}"))
	c.leave()
	c.wait()
	server.Restart()
	g.fell()
	next := join(t, g, func(o *Options) { o.Resume = c.keptNow() })
	apptest.Contains(t, next.get(next.call(1, "echo", "{}")), "session-2")
	for _, r := range server.Received() {
		if r.Session == "session-1" && r.ID == "1" {
			t.Error("it used the session of another server")
		}
	}
}

func TestAStateThatCannotBeRead(t *testing.T) {
	c := join(t, behind(t, sharetest.New(t)), func(o *Options) { o.Resume = []byte(`{"Version":77}`) })
	isError(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "1", wire.CodeInvalid, "initialize comes first")
	apptest.Eventually(t, "the user hears of it", func() bool {
		c.outlet.mu.Lock()
		defer c.outlet.mu.Unlock()
		return len(c.said) == 1
	})
	c.greet()
}

func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	slow, fast := join(t, g, nil), join(t, g, nil)
	slow.greet()
	fast.greet()
	open := make(chan struct{})
	slow.outlet.mu.Lock()
	slow.block = open
	slow.outlet.mu.Unlock()
	var seqs []uint64
	for i := range 50 {
		seqs = append(seqs, slow.call(i, "log", `{"steps":20}`))
	}
	apptest.Eventually(t, "it is stuck", func() bool { slow.outlet.mu.Lock(); defer slow.outlet.mu.Unlock(); return slow.blocked > 0 })
	for i := range 20 {
		fast.get(fast.call(i, "echo", "{}"))
	}
	slow.outlet.mu.Lock()
	slow.block = nil
	slow.outlet.mu.Unlock()
	close(open)
	for _, seq := range seqs {
		apptest.Contains(t, slow.get(seq), "logged")
	}
}

func TestTakeHoldsBackAFlood(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	apptest.Eventually(t, "it can be parked", c.Park)
	g.fell()
	g.change(func() { g.hold = make(chan struct{}) })
	const count, size, limit = 100, 20 << 10, 1 << 20
	c.Lease.mu.Lock()
	c.limit = limit
	c.Lease.mu.Unlock()
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		text := strings.Repeat("x", size)
		for i := range count {
			c.call(i, "count", `{"t":"`+text+`"}`)
		}
	}()
	held := func() int { c.Lease.mu.Lock(); defer c.Lease.mu.Unlock(); return c.held }
	apptest.Eventually(t, "much is held", func() bool { return held() > limit-2*size })
	select {
	case <-flooded:
		t.Error("all of it was taken")
	case <-time.After(10 * time.Millisecond):
	}
	if held() > limit {
		t.Errorf("%d bytes are held", held())
	}
	close(g.hold)
	<-flooded
	for seq := c.seq - count + 1; seq <= c.seq; seq++ {
		apptest.Contains(t, c.get(seq), `"isError":false`)
	}
	apptest.Eventually(t, "nothing is held", func() bool { return held() == 0 })
}

func TestTenClientsWithTheSameIds(t *testing.T) {
	server := sharetest.New(t)
	g := behind(t, server)
	done := make(chan struct{})
	var clients []*client
	for range 10 {
		clients = append(clients, join(t, g, nil))
	}
	for n, c := range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			c.greet()
			mine := func(line string) string {
				_, rest, _ := strings.Cut(line, `"session":"`)
				session, _, _ := strings.Cut(rest, `"`)
				return session
			}(c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
			var seqs []uint64
			for i := range 30 {
				tool := []string{"echo", "progress", "log"}[i%3]
				seqs = append(seqs, c.put(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"steps":3,"client":%d},"_meta":{"progressToken":1}}}`, i, tool, n))
			}
			for i, seq := range seqs {
				answer := c.get(seq)
				if i%3 == 0 && !strings.Contains(answer, fmt.Sprintf(`"client":%d}`, n)) {
					t.Errorf("client %d got %s", n, answer)
				}
			}
			c.outlet.mu.Lock()
			defer c.outlet.mu.Unlock()
			notes := 0
			for _, d := range c.lines {
				if strings.Contains(d.line, "session-") {
					notes++
					if !strings.Contains(d.line, `"`+mine+`"`) {
						t.Errorf("client %d of %s got %s", n, mine, d.line)
					}
				}
			}
			if notes != 1+10+30+30 {
				t.Errorf("client %d got %d messages of its session", n, notes)
			}
		}()
	}
	for range clients {
		<-done
	}
}

package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share/wire"
)

func TestMessagesPassAsTheyAre(t *testing.T) {
	server := mcptest.New(t)
	var who ClientInfo
	g := behind(t, server)
	c := join(t, g, func(o *SessionOptions) { o.Info = func(i ClientInfo) { who = i } })
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
	server := mcptest.New(t)
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

func TestTooLongLines(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	big := strings.Repeat("x", 2<<20)
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"t":"%s"}}}`, big), big)
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"t":"%s"}}}`, big+big), "2",
		wire.CodeInvalid, "4.2 MB", "4194304", "not carried out")
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
	waits := c.call("w", "wait", "{}")
	c.seq++
	c.TakeLong(c.seq, []byte(`{"id":"\u0077","method":"tools/call","params":["`))
	isError(t, c.get(c.seq), "null", wire.CodeInvalid, "256 MiB") // not the answer to the one that waits
	apptest.Contains(t, c.letGo(server, waits), "waited")
}

func TestDuplicateIds(t *testing.T) {
	server := mcptest.New(t)
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
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	waits := c.call(1, "wait", "{}")
	again := c.put(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`)
	apptest.Contains(t, c.letGo(server, waits), "waited") // on its MCP session
	apptest.Contains(t, c.get(again), `"2024-11-05"`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "session-2")
	apptest.Eventually(t, "the first session is closed", func() bool { return slices.Equal(server.Sessions(), []string{"session-2"}) })
}

// What was answered is in flight no more, also while the server leaves its stream open.
func TestASecondInitializeBeforeAStreamEnds(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	server.Set(func(b *mcptest.Behaviour) {
		b.Instead = func(r mcptest.Received) *mcptest.Reaction {
			if r.Method != "tools/call" {
				return nil
			}
			return &mcptest.Reaction{Body: mcptest.Event(`{"jsonrpc":"2.0","id":1,"result":{"said":"open"}}`), Hang: true}
		}
	})
	apptest.Contains(t, c.get(c.call(1, "echo", "{}")), "open")
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`), `"2024-11-05"`)
	server.Release()
	apptest.Eventually(t, "the first session is closed", func() bool { return slices.Equal(server.Sessions(), []string{"session-2"}) })
}

func TestInitializeThatTheServerRefuses(t *testing.T) {
	server := mcptest.New(t)
	server.Set(func(b *mcptest.Behaviour) {
		b.Instead = func(r mcptest.Received) *mcptest.Reaction {
			return &mcptest.Reaction{Body: mcptest.Event(`{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}`)}
		}
	})
	g := behind(t, server)
	c := join(t, g, nil)
	isError(t, c.ask(initializeLine), "0", -32602, "no")
	isError(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), "2", wire.CodeInvalid, "initialize comes first")
	server.Set(func(b *mcptest.Behaviour) {
		b.Instead = func(mcptest.Received) *mcptest.Reaction { return &mcptest.Reaction{Status: 500} }
	})
	isError(t, c.ask(initializeLine), "0", wire.CodeUnavailable, "500")
	server.Set(func(b *mcptest.Behaviour) { b.Instead = nil })
	g.change(func() { g.refuse = errors.New("no room for another server") })
	isError(t, c.ask(initializeLine), "0", wire.CodeUnavailable, "no room for another server")
	g.change(func() { g.refuse = nil })
	c.greet()
}

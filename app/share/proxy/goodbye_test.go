package proxy

import (
	"io"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
)

func TestTheClientGoes(t *testing.T) {
	server := mcptest.New(t)
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

func TestTheClientGoesWhileTheServerStarts(t *testing.T) {
	server := mcptest.New(t)
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
		server := mcptest.New(t)
		c := join(t, behind(t, server), nil)
		c.greet()
		c.get(c.call(0, "count", "{}"))
		before := len(server.Lines("session-1"))
		c.fakeWriter.mu.Lock()
		c.refuses = io.ErrClosedPipe
		c.fakeWriter.mu.Unlock()
		c.put("%s", line)
		c.wait()
		if lines := server.Lines("session-1"); len(lines) != before {
			t.Errorf("the server got %s, which the next process gets again", lines[before:])
		}
	}
}

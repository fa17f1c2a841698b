package proxy

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share/wire"
)

// TestTheNextProcessGoesOn with a session of its own, which the client has begun.
func TestTheNextProcessGoesOn(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	waits := c.call(4, "wait", "{}")
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	c.leave()
	c.wait()
	if c.fate(waits) != "" || !c.accepted[waits] {
		t.Error("its fate is the shim's to tell")
	}
	if !slices.Equal(server.Sessions(), []string{"session-1"}) || strings.Contains(strings.Join(server.Lines("session-1"), ""), "cancelled") {
		t.Error("the session was ended, or its call")
	}
	var who string
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	next := join(t, g, func(o *SessionOptions) {
		o.Initialize, o.Initialized, o.Info = []byte(initializeLine), []byte(initialized), func(i ClientInfo) { who = i.Name }
	})
	apptest.Contains(t, next.get(next.call(5, "count", "{}")), `"1"`)
	if lines := server.Lines("session-2"); len(lines) == 0 || lines[0] != initialized || who != "tester" {
		t.Errorf("the server got %q, and it is %q", lines, who)
	}
	apptest.Eventually(t, "it listens", func() bool { return server.Listening("session-2") })
}

func TestAnInitializeThatIsNone(t *testing.T) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"id":1,"method":"initialize","params":{x}}`, "x"} {
		c := join(t, behind(t, mcptest.New(t)), func(o *SessionOptions) { o.Initialize = []byte(line) })
		isError(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "1", wire.CodeInvalid, "initialize comes first")
		c.greet()
	}
}

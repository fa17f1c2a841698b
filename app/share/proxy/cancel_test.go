package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
)

func TestCancel(t *testing.T) {
	server := mcptest.New(t)
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
	apptest.Eventually(t, "the server is told", func() bool { return slices.Contains(server.Lines("session-1"), line) })
	apptest.Eventually(t, "the server lets go of it", func() bool { return server.InFlight() == 0 && g.open() == 0 })
	if len(g.lingering) != 1 || g.lingering[0] > unseen || g.lingering[0] < unseen/2 {
		t.Errorf("it may run on for %v", g.lingering)
	}
	apptest.Contains(t, c.get(c.call(1, "count", "{}")), `"1"`) // its id is free again
	apptest.Eventually(t, "nothing is in flight", func() bool { return c.inFlight() == 0 })
}

func TestCancelBeforeTheServerRuns(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.park(g)
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

// TestCancelWhileItIsAccepted: what is cancelled before it is sent is not sent.
func TestCancelWhileItIsAccepted(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	c.get(c.call(0, "count", "{}"))
	request := c.seq + 1
	accepting, goOn := make(chan struct{}), make(chan struct{})
	c.fakeWriter.mu.Lock()
	c.before = func(seq uint64) {
		if seq == request {
			close(accepting)
			<-goOn
		}
	}
	c.fakeWriter.mu.Unlock()
	c.call(1, "wait", "{}")
	<-accepting
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}()
	apptest.Eventually(t, "it is cancelled", func() bool {
		c.Session.mu.Lock()
		defer c.Session.mu.Unlock()
		return c.pending["1"] == nil
	})
	close(goOn)
	<-taken
	if got := c.get(request); got != "settled" {
		t.Error(got)
	}
	c.get(c.call(2, "count", "{}"))
	if lines := strings.Join(server.Lines("session-1"), "\n"); strings.Contains(lines, `"id":1,`) || strings.Contains(lines, "cancelled") {
		t.Errorf("the server was sent %s", lines)
	}
}

// TestCancelAnActivationThatWaits: the project of the client stays, also for the next process.
func TestCancelAnActivationThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newUpstream()
		c := &testClient{t: t, ended: make(chan error, 1)}
		c.Session = sessionOf(SessionOptions{
			Servers: w.group(), Out: &c.fakeWriter,
			Plan: func(context.Context, string) (share.Plan, error) {
				return share.Plan{}, errors.New("it is not to be activated")
			},
		})
		c.begin()
		c.put(initializeLine)
		c.call(1, "wait", "{}")
		activation := c.call(2, activateTool, `{"project":"/b"}`)
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		synctest.Wait()
		if c.fate(activation) != "settled" || len(c.moved) == 0 || c.moved[len(c.moved)-1] != c.o.Servers.Project() {
			t.Errorf("%q, moved to %q", c.fate(activation), c.moved)
		}
		w.take(0).answer(true)
	})
}

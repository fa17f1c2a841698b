package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/mcp"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// behindEach is a group of which each start is another server.
func behindEach(t *testing.T, servers ...*mcptest.Server) *fakeGroup {
	transport := mcp.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	return &fakeGroup{why: "it did not answer for 2 min", wake: func() share.Endpoint {
		next := servers[0]
		servers = servers[1:]
		return share.Endpoint{URL: next.URL(), Transport: transport}
	}}
}

// calls counts how often a server was asked for a tool.
func calls(server *mcptest.Server, tool string) (n int) {
	for _, r := range server.Received() {
		n += strings.Count(r.Line, `"name":"`+tool+`"`)
	}
	return n
}

const waitWithProgress = `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"t"}}}`

// What waits for a server that hangs goes on when it answers again: what it has is
// answered, and what came later was not sent before.
func TestAHangThatPasses(t *testing.T) {
	server := mcptest.New(t)
	g := behindEach(t, server, nil)
	c := join(t, g, nil)
	c.greet()
	waits := c.put(waitWithProgress)
	apptest.Eventually(t, "it waits", func() bool { return server.InFlight() == 1 })
	g.hang()
	apptest.Eventually(t, "nothing more is sent to it", c.hasLeft)
	later := c.call(2, "echo", "{}")
	if calls(server, "echo") != 0 || c.fate(waits)+c.fate(later) != "" {
		t.Error("it was asked for more, or something was told")
	}
	g.answers(true)
	apptest.Contains(t, c.get(later), "echo")
	apptest.Contains(t, c.letGo(server, waits), "waited")
	if g.starts() != 1 || calls(server, "wait") != 1 {
		t.Error("another server or the call twice")
	}
}

// What waits for a server that hangs is told so from time to time, where it has asked.
func TestAHangIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		c.put(waitWithProgress)
		c.call(1, "echo", "{}")
		synctest.Wait()
		g.hang()
		c.put("%s", strings.Replace(waitWithProgress, `"w"`, `"later"`, 1))
		told := func() int {
			c.fakeWriter.mu.Lock()
			defer c.fakeWriter.mu.Unlock()
			return len(c.lines) - 1 // the answer to initialize
		}
		for _, step := range []struct {
			after time.Duration
			want  int // the one that was at work is told at once, and what came later when it has waited for long
		}{{0, 1}, {progressEvery - time.Second, 1}, {time.Second, 2}, {overdueAfter - progressEvery, 3}, {2 * progressEvery, 7}} {
			time.Sleep(step.after)
			synctest.Wait()
			if told() != step.want {
				t.Errorf("%d messages, want %d", told(), step.want)
			}
		}
		for _, progress := range []string{"0.001", "0.002"} {
			if !c.holds(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":` + progress + `,"message":"it does not answer"}}`) {
				t.Errorf("no progress of %s", progress)
			}
		}
		g.answers(true)
		for range 2 {
			synctest.Wait()
			w.take(0).answer(true)
		}
		synctest.Wait()
		w.take(0).answer(true)
		synctest.Wait()
		before := told()
		time.Sleep(time.Minute)
		if told() != before {
			t.Error("it is told after the answer")
		}
	})
}

// A call that goes on over a hang is told of the next one, too.
func TestTheNextHangIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		c.put(waitWithProgress)
		for n := range 2 {
			synctest.Wait()
			g.hang()
			time.Sleep(progressEvery + time.Second)
			g.answers(true)
			time.Sleep(50 * time.Second)
			if !c.holds(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.00%d,"message":"it does not answer"}}`, 2*n+1)) {
				t.Errorf("hang %d is not told", n+1)
			}
		}
		w.take(0).answer(true)
		synctest.Wait()
	})
}

// What a server that is replaced has may have been carried out, and is not sent again;
// what came later goes to the next one alone.
func TestAHangThatDoesNotPass(t *testing.T) {
	hung, next := mcptest.New(t), mcptest.New(t)
	g := behindEach(t, hung, next)
	c := join(t, g, nil)
	c.greet()
	waits := c.put(waitWithProgress)
	apptest.Eventually(t, "it waits", func() bool { return hung.InFlight() == 1 })
	g.hang()
	apptest.Eventually(t, "nothing more is sent to it", c.hasLeft)
	later := c.call(2, "echo", "{}")
	g.answers(false)
	apptest.Contains(t, c.get(later), "echo")
	isError(t, c.get(waits), `"w"`, wire.CodeInternal, "the server was lost (it did not answer for 2 min) while it worked on this; it may have been carried out")
	if calls(hung, "echo") != 0 || calls(next, "echo") != 1 || calls(hung, "wait") != 1 || calls(next, "wait") != 0 {
		t.Errorf("the first got %+v, the next %+v", hung.Received(), next.Received())
	}
}

// Whoever comes is answered from memory, also when the server is found to hang only
// after it was asked.
func TestANewcomerWhileItHangs(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	w := newUpstream()
	g := w.group()
	t.Cleanup(func() { apptest.Eventually(t, "all brackets are closed", func() bool { return g.open() == 0 }) })
	first := enter(t, w, g)
	first.ask(initializeLine)
	seq := first.put(list)
	var call *fakeCall
	apptest.Eventually(t, "it is asked", func() bool { call = w.take(0); return call != nil })
	call.each([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`))
	call.end(nil)
	first.get(seq)

	asked := enter(t, w, g)
	asked.ask(initializeLine)
	seq = asked.put(list)
	w.mu.Lock()
	w.mute = true
	w.mu.Unlock()
	begins := enter(t, w, g)
	begun := begins.put(initializeLine)
	apptest.Eventually(t, "they wait", func() bool { return g.open() == 2 })
	g.hang()
	for _, got := range []string{asked.get(seq), begins.get(begun), begins.ask(list)} {
		if wire.Split([]byte(got)).Result == nil {
			t.Error(got)
		}
	}
	comes := enter(t, w, g)
	apptest.Contains(t, comes.ask(initializeLine), `"protocolVersion"`)
	apptest.Contains(t, comes.ask(list), `"tools":[]`)
	if w.opened != 2 {
		t.Errorf("%d sessions", w.opened)
	}
	g.answers(true)
}

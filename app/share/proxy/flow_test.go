package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
)

func TestLinesStayInOrder(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.o.Limits.Taken = time.Minute // a server may be slower than a client is held up for it
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
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	var seqs []uint64
	for i := range 20 {
		seqs = append(seqs, c.call(i, "echo", fmt.Sprintf(`{"n":%d,"ms":%d}`, i, 5*(20-i))))
	}
	for i, seq := range seqs {
		apptest.Contains(t, c.get(seq), fmt.Sprintf(`"id":%d,`, i), fmt.Sprintf(`"arguments":{"n":%d,`, i))
	}
}

func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	slow, fast := join(t, g, nil), join(t, g, nil)
	slow.greet()
	fast.greet()
	open := make(chan struct{})
	slow.fakeWriter.mu.Lock()
	slow.block = open
	slow.fakeWriter.mu.Unlock()
	var seqs []uint64
	for i := range 50 {
		seqs = append(seqs, slow.call(i, "log", `{"steps":20}`))
	}
	apptest.Eventually(t, "it is stuck", func() bool { slow.fakeWriter.mu.Lock(); defer slow.fakeWriter.mu.Unlock(); return slow.blocked > 0 })
	for i := range 20 {
		fast.get(fast.call(i, "echo", "{}"))
	}
	slow.fakeWriter.mu.Lock()
	slow.block = nil
	slow.fakeWriter.mu.Unlock()
	close(open)
	for _, seq := range seqs {
		apptest.Contains(t, slow.get(seq), "logged")
	}
}

func TestTakeHoldsBackAFlood(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, nil)
	c.greet()
	c.park(g)
	g.change(func() { g.hold = make(chan struct{}) })
	const count, size, limit = 100, 20 << 10, 1 << 20
	c.Session.mu.Lock()
	c.o.Limits.Held = limit
	c.Session.mu.Unlock()
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		text := strings.Repeat("x", size)
		for i := range count {
			c.call(i, "count", `{"t":"`+text+`"}`)
		}
	}()
	held := func() int { c.Session.mu.Lock(); defer c.Session.mu.Unlock(); return c.held }
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

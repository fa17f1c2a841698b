package proxy

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/share/wire"
)

// inBubble runs a session in a world with a fake clock.
func inBubble(t *testing.T, test func(t *testing.T, w *upstream, g *fakeGroup, c *testClient)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newUpstream()
		g := w.group()
		test(t, w, g, enter(t, w, g))
	})
}

// enter starts a session in a world, which ends with the test.
func enter(t *testing.T, w *upstream, g *fakeGroup) *testClient {
	t.Helper()
	c := &testClient{t: t, ended: make(chan error, 1)}
	c.Session = sessionOf(SessionOptions{Servers: g, Out: &c.fakeWriter})
	c.begin()
	return c
}

func TestWhatWaitsForLongIsAcceptedAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		g.hold = make(chan struct{})
		first := c.put(initializeLine)
		time.Sleep(10 * time.Second)
		second := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		third := c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, test := range []struct {
			after time.Duration
			want  int
		}{{9 * time.Second, 0}, {2 * time.Second, 1}, {8 * time.Second, 1}, {2 * time.Second, 2}, {10 * time.Minute, 2}} {
			time.Sleep(test.after)
			synctest.Wait()
			if n := c.accepts(first, second, third); n != test.want {
				t.Errorf("%d lines are accepted, not %d", n, test.want)
			}
		}
		if c.accepts(first, second) != 2 {
			t.Error("a notification was accepted, which may be sent to the next process")
		}
		close(g.hold)
		synctest.Wait()
		if c.fate(first) == "" {
			t.Error("no answer")
		}
	})
}

func TestAClientThatGoesWhileItsRequestIsWorkedOn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		seq := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.fate(seq) != "" || len(c.ended) != 0 {
			t.Error("it gave up, as the shim does")
		}
		c.Gone()
		c.wait()
		if last := w.lines()[len(w.lines())-1]; last != string(cancellation([]byte("1"), "the client has gone")) {
			t.Errorf("the server was told %s", last)
		}
		if !slices.Equal(g.lingering, []time.Duration{unseen}) {
			t.Errorf("it may run on for %v", g.lingering)
		}
	})
}

func TestAServerThatIsSlowToHearOfCancellationsHearsOfTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		time.Sleep(time.Second)
		w.mu.Lock()
		w.slow = true
		w.mu.Unlock()
		c.Gone()
		c.wait()
		if len(w.sessions) != 0 {
			t.Errorf("it has %d sessions", len(w.sessions))
		}
	})
}

func TestACancelledCallThatTheServerNeverEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		seq := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		time.Sleep(time.Second)
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		time.Sleep(time.Second)
		if c.fate(seq) != "settled" || c.inFlight() != 0 || g.open() != 1 {
			t.Errorf("%s, %d in flight, %d open", c.fate(seq), c.inFlight(), g.open())
		}
		isError(t, func() string {
			again := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
			time.Sleep(time.Second)
			return c.fate(again)
		}(), "1", wire.CodeInvalid, "in flight") // the server would mix them up
		time.Sleep(9 * time.Minute)
		if g.open() != 1 || c.isIdle() {
			t.Error("it may still run")
		}
		time.Sleep(2 * time.Minute)
		time.Sleep(time.Second)
		if g.open() != 0 || !c.isIdle() {
			t.Error("it counts for ever")
		}
	})
}

func TestCancelledCallsLeaveRoomForOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		synctest.Wait()
		for i := range maxSent {
			c.put(`{"jsonrpc":"2.0","id":%d,"method":"tools/call"}`, i)
		}
		last := c.put(`{"jsonrpc":"2.0","id":"last","method":"tools/call"}`)
		time.Sleep(time.Minute)
		if n := len(w.lines()); n != maxSent {
			t.Errorf("%d lines were sent", n)
		}
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
		time.Sleep(time.Second)
		calls := w.take(maxSent)
		if calls == nil || len(w.lines()) != maxSent+2 {
			t.Fatalf("%d lines were sent", len(w.lines()))
		}
		calls.answer(true)
		synctest.Wait()
		if c.fate(last) == "" {
			t.Error("the last one was not sent")
		}
	})
}

func TestALateAnswerToACancelledCallEndsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		seq := c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		time.Sleep(time.Second)
		c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		time.Sleep(time.Second)
		w.take(0).answer(true)
		time.Sleep(time.Second)
		if g.open() != 0 || c.fate(seq) != "settled" {
			t.Errorf("%d open, %s", g.open(), c.fate(seq))
		}
	})
}

func TestAServerThatTakesNoNotificationsHoldsUpForAWhile(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		c.put(initializeLine)
		w.slow = true
		c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		time.Sleep(9 * time.Second)
		if n := len(w.lines()); n != 1 {
			t.Errorf("%d lines were sent", n)
		}
		time.Sleep(2 * time.Second)
		if n := len(w.lines()); n != 2 {
			t.Errorf("%d lines were sent", n)
		}
	})
}

func TestAClientThatGoesWhileTheServerDoesNotAnswerItsInitialize(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		w.mute = true
		c.put(initializeLine)
		time.Sleep(time.Second)
	})
}

func TestAServerThatEndsDuringInitializeIsStartedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *upstream, g *fakeGroup, c *testClient) {
		w.mute = true
		seq := c.put(initializeLine)
		time.Sleep(time.Second)
		w.mu.Lock()
		w.mute = false
		w.mu.Unlock()
		g.fell()
		time.Sleep(time.Second)
		time.Sleep(time.Second)
		if c.fate(seq) == "" || g.starts() != 2 {
			t.Errorf("%q, %d starts", c.fate(seq), g.starts())
		}
	})
}

package lease

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/share/sharetest"
	"lamplighter/app/share/wire"
)

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
	if c.fate(waits) != "" || !c.accepted[waits] {
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

// restarted ends the lease of c as the end of the process does, and starts that of
// the next one.
func (c *client) restarted(w *world, g *group) *client {
	c.leave()
	c.wait()
	next := enter(c.t, w, g, c.keptNow())
	next.seq = c.seq
	return next
}

func TestTheNextProcessPassesOnAnswersToTheServer(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, g *group, c *client) {
		c.put(initializeLine)
		synctest.Wait()
		for _, id := range []string{`"a"`, "2"} {
			w.sessions["session-1"].receive(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage"}`, id))
		}
		next := c.restarted(w, g)
		synctest.Wait()
		answer := `{"jsonrpc":"2.0","id":"\u0061","result":{}}`
		next.put("%s", answer)
		next.put(`{"jsonrpc":"2.0","id":3,"result":{}}`) // nobody asked
		synctest.Wait()
		if got := w.lines(); !slices.Equal(got, []string{answer}) {
			t.Errorf("the server got %s", got)
		}

		last := next.restarted(w, g)
		synctest.Wait()
		answer = `{"jsonrpc":"2.0","id":2,"result":{}}`
		last.put("%s", answer)
		synctest.Wait()
		if got := w.lines(); len(got) != 2 || got[1] != answer {
			t.Errorf("the server got %s", got)
		}
	})
}

func TestTheNextProcessDropsAnswersToAServerThatHasGone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, g *group, c *client) {
		c.put(initializeLine)
		synctest.Wait()
		w.sessions["session-1"].receive([]byte(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`))
		w.forget()
		next := c.restarted(w, g)
		next.put(`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`)
		synctest.Wait()
		if !next.holds("notifications/cancelled", `"requestId":1,`) {
			t.Error("the client does not hear that nobody waits")
		}
		next.put(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		synctest.Wait()
		if got := w.lines(); len(got) != 1 {
			t.Errorf("the server got %s", got)
		}
	})
}

func TestAServerThatDoesNotSayWhetherItKnowsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		ends  bool
		after time.Duration
	}{"it ends": {true, time.Second}, "it hangs": {false, sideLimit + time.Second}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world, g *group, c *client) {
				c.put(initializeLine)
				synctest.Wait()
				w.mute = true
				next := c.restarted(w, g)
				synctest.Wait()
				w.mu.Lock()
				w.mute = false
				w.mu.Unlock()
				if test.ends {
					g.fell()
				}
				next.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
				time.Sleep(test.after)
				synctest.Wait()
				if got := w.lines(); len(got) != 1 {
					t.Errorf("the server got %s", got)
				}
			})
		})
	}
}

func TestTheVersionOfARepeatedInitializeIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, g *group, c *client) {
		c.put(initializeLine)
		synctest.Wait()
		w.forget()
		w.version = "2025-11-25"
		c.put(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		synctest.Wait()
		state, err := parseState(c.keptNow())
		if err != nil || state.Protocol != "2025-11-25" || state.Session != "session-2" {
			t.Errorf("%+v, %v", state, err)
		}
		c.outlet.mu.Lock()
		defer c.outlet.mu.Unlock()
		if len(c.said) != 1 {
			t.Errorf("the user heard %q", c.said)
		}
	})
}

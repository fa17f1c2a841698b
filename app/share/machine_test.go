package share

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// machine drives a broker and knows what must be so.
type machine struct {
	w       *world
	b       *Broker
	members []*client
}

// client is one with a lease.
type client struct {
	m       *Client
	key     string
	waiting []asking // requests that wait for the server
	flying  []func() // that end the requests that have it
}

type asking struct {
	got chan answer
	end func()
}

type answer struct {
	s   Endpoint
	err error
}

func (x *machine) key(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
}

func (x *machine) join(rt *rapid.T) {
	if len(x.members) > 6 {
		rt.Skip("enough")
	}
	c := &client{key: x.key(rt)}
	c.m = x.b.Attach(plan(c.key), claude)
	x.members = append(x.members, c)
}

func (x *machine) pick(rt *rapid.T) *client {
	if len(x.members) == 0 {
		rt.Skip("nobody is there")
	}
	return rapid.SampledFrom(x.members).Draw(rt, "client")
}

// leave is the end of a client, also with requests in flight.
func (x *machine) leave(rt *rapid.T) {
	c := x.pick(rt)
	c.m.Detach()
	for _, a := range c.waiting {
		a.end()
	}
	for _, end := range c.flying {
		end()
	}
	x.members = slices.DeleteFunc(x.members, func(other *client) bool { return other == c })
}

// begin is a request, until it is ended.
func (x *machine) begin(c *client) (end func()) {
	key, ended := c.key, c.m.Began()
	x.w.change(func() { x.w.flying[key]++ })
	return func() {
		x.w.change(func() { x.w.flying[key]-- })
		ended()
	}
}

// move gives a client another server, also with requests in flight.
func (x *machine) move(rt *rapid.T) {
	c := x.pick(rt)
	if len(c.waiting) > 0 {
		rt.Skip("it waits for a server")
	}
	before, key := c.key, x.key(rt)
	back := c.m.Move(plan(key))
	c.key = key
	if rapid.Bool().Draw(rt, "back") {
		c.m.Move(back)
		c.key = before
	}
}

// ask is a request that waits until it has a server.
func (x *machine) ask(rt *rapid.T) {
	c := x.pick(rt)
	a := asking{make(chan answer, 1), x.begin(c)}
	if rapid.Bool().Draw(rt, "repl") {
		c.m.Seen("session")
	}
	x.w.change(func() { c.waiting = append(c.waiting, a) })
	go func() {
		s, err := c.m.Acquire(context.Background())
		a.got <- answer{s, err}
	}()
	synctest.Wait()
	x.collect(rt)
}

// collect takes in which requests have a server by now.
func (x *machine) collect(rt *rapid.T) {
	for _, c := range x.members {
		for _, asked := range slices.Clone(c.waiting) {
			select {
			case a := <-asked.got:
				x.w.change(func() {
					c.waiting = slices.DeleteFunc(c.waiting, func(other asking) bool { return other.got == asked.got })
				})
				switch {
				case a.err == nil:
					x.w.change(func() { c.flying = append(c.flying, asked.end) })
				case errors.Is(a.err, errCrashes):
					asked.end()
				default:
					rt.Fatalf("a request: %v", a.err)
				}
			default:
			}
		}
	}
}

// finish is an answer.
func (x *machine) finish(rt *rapid.T) {
	c := x.pick(rt)
	if len(c.flying) == 0 {
		rt.Skip("nothing is in flight")
	}
	end := c.flying[0]
	x.w.change(func() { c.flying = c.flying[1:] })
	end()
}

// server is one that runs.
func (x *machine) server(rt *rapid.T) *fakeServer {
	x.w.mu.Lock()
	live := slices.Clone(x.w.live)
	x.w.mu.Unlock()
	if len(live) == 0 {
		rt.Skip("nothing runs")
	}
	return rapid.SampledFrom(live).Draw(rt, "server")
}

// die is the end of a server by itself, or by the user.
func (x *machine) die(rt *rapid.T) {
	s := x.server(rt)
	if rapid.Bool().Draw(rt, "by the user") {
		x.b.Note(monitor.Event{Kind: monitor.EventStopOrdered, ID: s.id.String(), Detail: "by the tray"})
	}
	s.dies("exited with status 1")
	synctest.Wait()
}

// restart is an order to restart a server, which a request at work or the server
// itself may prevent.
func (x *machine) restart(rt *rapid.T) {
	s := x.server(rt)
	fails := rapid.Bool().Draw(rt, "it is not ended")
	go func() {
		_, _ = x.b.Restart(context.Background(), s.id, false, func(ctx context.Context) error {
			if fails {
				return errors.New("it is pinned")
			}
			return s.End(ctx, "the order")
		})
	}()
	synctest.Wait()
	x.collect(rt)
}

// hang makes some servers hang, and lets the others answer again.
func (x *machine) hang(rt *rapid.T) {
	var hung []monitor.Identity
	x.w.mu.Lock()
	for _, s := range x.w.live {
		if s.hung = rapid.Bool().Draw(rt, "hangs"); s.hung {
			hung = append(hung, s.id)
		}
	}
	x.w.mu.Unlock()
	x.b.Hung(hung)
	synctest.Wait()
}

// pass lets time pass.
func (x *machine) pass(rt *rapid.T) {
	after(time.Duration(rapid.IntRange(1, 1000).Draw(rt, "seconds")) * time.Second)
}

// speak changes what speaks against the end of servers.
func (x *machine) speak(rt *rapid.T) {
	what := rapid.SampledFrom([]string{"spare", "busy", "holds", "other", "odd", "idle"}).Draw(rt, "what")
	x.w.change(func() {
		switch what {
		case "spare":
			x.w.spare = map[string]string{"": "it is pinned"}[x.w.spare]
		case "busy":
			x.w.busy = !x.w.busy
		case "other":
			x.w.other = map[string]string{"": "curl (8) is connected to it"}[x.w.other]
		case "holds":
			x.w.holds = map[string]string{"": "it holds x"}[x.w.holds]
		case "odd":
			x.w.odd = map[bool]error{true: errors.New("no answer")}[x.w.odd == nil]
		case "idle":
			x.w.idle = map[time.Duration]time.Duration{0: time.Second, time.Second: defaultIdle}[x.w.idle]
		}
	})
}

// delay holds starts on, or lets them go on.
func (x *machine) delay(*rapid.T) {
	x.w.change(func() {
		if x.w.hold == nil {
			x.w.hold = make(chan struct{})
			return
		}
		close(x.w.hold)
		x.w.hold = nil
	})
	synctest.Wait()
}

// check compares what is with what must be.
func (x *machine) check(rt *rapid.T) {
	synctest.Wait()
	x.collect(rt)
	want, got := map[string]int{}, map[string]int{}
	waiting := map[string]int{}
	for _, c := range x.members {
		want[c.key]++
	}
	parked := map[string]bool{}
	for _, s := range x.b.Shared() {
		if len(s.Clients) > 0 {
			got[s.Key] = len(s.Clients)
		}
		parked[s.Key] = s.Parked || s.Starting
		waiting[s.Key] = s.Waiting
	}
	if !maps.Equal(got, want) {
		rt.Fatalf("clients: %v, want %v", got, want)
	}
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	if len(x.w.twice) > 0 || len(x.w.cut) > 0 {
		rt.Fatalf("two servers of %q, ended in flight %q", x.w.twice, x.w.cut)
	}
	for _, s := range x.w.live {
		if parked[s.key] {
			rt.Fatalf("%s runs and is shown as parked or starting", s.key)
		}
		delete(parked, s.key)
	}
	for key, is := range parked {
		if !is {
			rt.Fatalf("%s does not run and is not shown as parked or starting", key)
		}
	}
	for key, n := range x.w.flying {
		if _, shown := waiting[key]; waiting[key] != n && shown {
			rt.Fatalf("%s: %d in flight, want %d", key, waiting[key], n)
		}
	}
	if shared := x.b.Shared(); (len(shared) == 0) != (len(x.members) == 0 && len(x.w.live) == 0 && x.w.starting == 0) {
		rt.Fatalf("shared: %+v", shared)
	}
}

// settle lets everything come to rest: each request has a server or knows why not,
// and what nobody needs is ended.
func (x *machine) settle(rt *rapid.T) {
	x.w.change(func() {
		if x.w.hold != nil {
			close(x.w.hold)
		}
		x.w.hold, x.w.spare, x.w.busy, x.w.holds, x.w.other, x.w.odd, x.w.idle = nil, "", false, "", "", nil, defaultIdle
	})
	x.b.Hung(nil)
	after(time.Minute)
	x.check(rt)
	for _, c := range slices.Clone(x.members) {
		if len(c.waiting) > 0 {
			rt.Fatalf("%d requests are forgotten", len(c.waiting))
		}
		for _, end := range c.flying {
			end()
		}
		x.w.change(func() { c.flying = nil })
		if rapid.Bool().Draw(rt, "leaves") {
			c.m.Detach()
			x.members = slices.DeleteFunc(x.members, func(other *client) bool { return other == c })
		} else { // so that variables are asked for again
			c.m.Began()()
		}
	}
	after(time.Hour)
	x.check(rt)
	if n := x.w.count(); n > 0 {
		rt.Fatalf("%d servers are left that nobody needs", n)
	}
}

// inBubble runs a check in a bubble of time of its own. Rapid itself stays outside,
// because its own limits are in earnest.
func inBubble(t *testing.T, check func()) {
	var failed any
	synctest.Test(t, func(*testing.T) {
		defer func() { failed = recover() }()
		check()
	})
	if failed != nil {
		panic(failed)
	}
}

// Whatever comes in whichever order: never two servers of a key, never one ended
// with a request in flight, unless it hangs, and nobody forgotten.
func TestBrokerAsAStateMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { inBubble(t, func() { aBroker(t, rt) }) })
}

func aBroker(t *testing.T, rt *rapid.T) {
	x := &machine{w: newWorld()}
	x.w.flying = map[string]int{}
	for _, key := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(rt, "an earlier run has left "+key) {
			x.w.run(key)
		}
	}
	x.b = New(x.w.options())
	defer served(t, x.b)() // also when a check has failed, nothing waits any more
	after(time.Second)
	rt.Repeat(map[string]func(*rapid.T){
		"join": x.join, "leave": x.leave, "move": x.move, "ask": x.ask, "finish": x.finish, "die": x.die, "pass": x.pass,
		"speak": x.speak, "delay": x.delay, "hang": x.hang, "restart": x.restart, "": x.check,
	})
	x.settle(rt)
}

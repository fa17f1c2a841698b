package dashboard

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// TestOnlyTheInstanceIsAsked has a stranger listen on the port: it gets no byte.
func TestOnlyTheInstanceIsAsked(t *testing.T) {
	stranger := serveRaw(t, says(ok(`{"stranger":true}`)))
	id, end := child(t)
	in := ours(t, stranger.port)
	p := NewProxy(ProxyOptions{Limits: Limits{Quick: time.Minute}})
	both := func(what string, status int, text string) {
		t.Helper()
		for _, route := range []string{"GET last_execution", "PUT shutdown"} {
			if w := forward(t, p, in, route, ""); w.Code != status || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s, %s: %d %s", what, route, w.Code, w.Body)
			}
		}
	}
	in.Identity = id
	both("another has its port", 409, "does not listen on its port any more")
	in.Identity.Start++
	both("another has its pid", 404, "has ended")
	in.Identity = id
	in.Port = apptest.FreePort(t)
	both("nobody has its port", 502, "does not accept connections")
	in.Port = stranger.port
	end()
	both("it is gone", 404, "has ended")

	p = NewProxy(ProxyOptions{Owner: func(int, int) (monitor.Identity, error) { return monitor.Identity{}, fmt.Errorf("no netlink") }})
	in = ours(t, stranger.port)
	both("who listens is not known", 502, "cannot be found out; nothing was sent")
	p = NewProxy(ProxyOptions{Owner: func(int, int) (monitor.Identity, error) { return id, nil }})
	both("it ended while it was looked for", 404, "has ended")
	if asked := stranger.requests(); len(asked) > 0 {
		t.Errorf("the stranger got %q", asked)
	}
}

// TestOwnerIsAskedBeforeEachChange, and otherwise now and then.
func TestOwnerIsAskedBeforeEachChange(t *testing.T) {
	d := serveRaw(t, says(ok(`{}`)))
	in := ours(t, d.port)
	var looked atomic.Int32
	p := NewProxy(ProxyOptions{Owner: func(pid, port int) (monitor.Identity, error) {
		looked.Add(1)
		return trusting().owner(pid, port)
	}})
	for range 3 {
		forward(t, p, in, "POST clear_tool_stats", "")
	}
	if n := looked.Load(); n != 3 {
		t.Errorf("looked %d times before 3 changes", n)
	}

	now := time.Now()
	p.peers.enter(in.Identity, false, now)
	defer p.peers.leave(in.Identity, false)
	p.peers.listens(in.Identity, in.Port, now)
	for moment, want := range map[time.Time]bool{now: true, now.Add(ownerTime - 1): true, now.Add(ownerTime): false} {
		if p.peers.listened(in.Identity, in.Port, moment) != want {
			t.Errorf("%v later: %v", moment.Sub(now), !want)
		}
	}
	if p.peers.listened(in.Identity, in.Port+1, now) {
		t.Error("it was seen on another port")
	}
}

// TestPeersAreForgotten when nobody asks them.
func TestPeersAreForgotten(t *testing.T) {
	var p peers
	now := time.Now()
	for pid := range 1000 {
		id := monitor.Identity{PID: pid, Start: 1}
		if !p.enter(id, pid%2 == 0, now) {
			t.Fatal("there is no place")
		}
		p.listens(id, 24282, now)
		if pid != 500 {
			p.leave(id, pid%2 == 0)
		}
		now = now.Add(ownerTime / 10)
	}
	if len(p.known) > 12 || p.known[monitor.Identity{PID: 500, Start: 1}] == nil {
		t.Errorf("%d are known", len(p.known))
	}
}

package tray

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestOpenMenuKeepsItsSubmenus(t *testing.T) {
	o, c, now := drawer(t)
	alpha, beta, gamma := serena(2, "alpha", 0, 0), serena(3, "beta", 0, 0), serena(4, "gamma", 0, 0)
	with := func(e monitor.Event, list ...monitor.Instance) *monitor.Snapshot {
		s := snapshot(list...)
		s.Recent = []monitor.Event{e}
		return s
	}
	check := func(when, stop, recent string) {
		t.Helper()
		if got := c.under("stop"); got != stop {
			t.Errorf("%s:\n got %s\nwant %s", when, got, stop)
		}
		if got := c.under("recent"); got != recent {
			t.Errorf("%s:\n got %s\nwant %s", when, got, recent)
		}
		if (c.shown.line("stop").Title != "") != (stop != "") || (c.shown.line("recent").Title != "") != (recent != "") {
			t.Errorf("%s: a submenu and its lines are not shown together", when)
		}
	}
	tell := func(e menuEvent) {
		t.Helper()
		if err := o.menuEvent(e); err != nil {
			t.Fatal(err)
		}
	}
	started := func(in monitor.Instance) monitor.Event { return event(monitor.EventStarted, in, 0, "") }
	check("empty", "", "")
	o.see(t, with(started(beta), alpha, beta))
	const both, of = "2 - alpha · client Claude Code | 3 - beta · client Claude Code", "12:00 started: 3 - beta"
	check("closed", both, of)
	tell(menuOpened)
	*now = now.Add(openLimit - time.Second)
	tell(menuUsed)
	*now = now.Add(openLimit - time.Second)
	o.see(t, with(started(gamma), alpha, gamma))
	check("open", "2 - alpha · client Claude Code | 3 - beta · ended", of)
	tell(menuUsed)
	check("used", "2 - alpha · client Claude Code | 3 - beta · ended", of)
	tell(menuClicked)
	check("closed", "2 - alpha · client Claude Code | 4 - gamma · client Claude Code", "12:00 started: 4 - gamma")
	tell(menuUsed) // of no menu
	o.see(t, snapshot())
	check("empty", "", "")
	tell(menuOpened)
	o.see(t, with(started(beta), alpha, beta))
	check("open, empty", "", "")
	tell(menuClicked)
	check("closed", both, of)
}

func TestClicksInTheSubmenus(t *testing.T) {
	o, c, now := drawer(t)
	orders := o.opts.Orders.(clicked)
	alpha, beta, gone := serena(2, "alpha", 0, 0), serena(3, "beta", 0, 0), serena(4, "gone", 0, 0)
	snap := snapshot(alpha, beta)
	snap.Recent = []monitor.Event{event(monitor.EventStopped, gone, 0, ""), event(monitor.EventStarted, beta, 0, "")}
	o.see(t, snap)
	click := func(when, key, want string) {
		t.Helper()
		if id := o.id(key); id >= 0 {
			o.click(id)
		}
		all := []string{"quit"}
		if want != "" {
			all = append(all, want)
		}
		o.click(o.id("quit")) // so that there is something to wait for
		var got []string
		for range all {
			got = append(got, <-orders)
		}
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Errorf("%s: ordered %q, want %q", when, got, all)
		}
	}
	click("at once", "stop 2-7", "")
	*now = now.Add(settleTime)
	click("settled", "stop 2-7", "stop 2-7")
	click("settled", "stop 3-7", "stop 3-7")
	click("a hidden line", "", "")
	click("what opens a submenu", "stop", "")
	click("what opens a submenu", "recent", "")
	click("an event of one that has gone", o.shown.under("recent")[0].Key, "")
	click("an event", o.shown.under("recent")[1].Key, "open 3-7")

	// A title that changes moves nothing, a server that comes may.
	alpha.Busy = ptr(true)
	o.see(t, snapshot(alpha, beta))
	click("renamed", "stop 2-7", "stop 2-7")
	o.see(t, snapshot(alpha, beta, serena(5, "new", 0, 0)))
	click("one has come", "stop 2-7", "")
	*now = now.Add(settleTime)
	click("settled", "stop 2-7", "stop 2-7")
	*now = now.Add(time.Minute)
	o.see(t, snapshot(alpha, beta)) // which waits for nothing
	if err := o.menuEvent(menuOpened); err != nil {
		t.Fatal(err)
	}
	click("not moved since it opened", "stop 2-7", "stop 2-7")
	o.see(t, snapshot(beta))
	click("ended", "stop 2-7", "")
	if len(orders) != 0 {
		t.Errorf("ordered more: %q", <-orders)
	}
	if !strings.Contains(c.under("stop"), "alpha · ended") {
		t.Errorf("shows %s", c.under("stop"))
	}
}

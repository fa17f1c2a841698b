package tray

import (
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
	started := func(in monitor.Instance) monitor.Event { return event(monitor.EventStarted, in, 0, "") }
	check("empty", "", "")
	o.see(t, with(started(beta), alpha, beta))
	const both, of = "2 - alpha · client Claude Code | 3 - beta · client Claude Code", "12:00 started: 3 - beta"
	check("closed", both, of)
	o.tell(t, menuOpened)
	*now = now.Add(openLimit - time.Second)
	o.tell(t, menuUsed)
	*now = now.Add(openLimit - time.Second)
	o.see(t, with(started(gamma), alpha, gamma))
	check("open", "2 - alpha · client Claude Code | 3 - beta · ended", of)
	o.tell(t, menuUsed)
	check("used", "2 - alpha · client Claude Code | 3 - beta · ended", of)
	o.tell(t, menuClicked)
	check("closed", "2 - alpha · client Claude Code | 4 - gamma · client Claude Code", "12:00 started: 4 - gamma")
	o.tell(t, menuUsed) // of no menu
	o.see(t, snapshot())
	check("empty", "", "")
	o.tell(t, menuOpened)
	o.see(t, with(started(beta), alpha, beta))
	check("open, empty", "", "")
	o.tell(t, menuClicked)
	check("closed", both, of)
}

func TestClicksInTheSubmenus(t *testing.T) {
	o, c, now := drawer(t)
	alpha, beta, gone := serena(2, "alpha", 0, 0), serena(3, "beta", 0, 0), serena(4, "gone", 0, 0)
	snap := snapshot(alpha, beta)
	snap.Recent = []monitor.Event{event(monitor.EventStopped, gone, 0, ""), event(monitor.EventStarted, beta, 0, "")}
	o.see(t, snap)
	o.press(t, "at once", "stop 2-7", "")
	*now = now.Add(settleTime)
	o.press(t, "settled", "stop 2-7", "stop 2-7")
	o.press(t, "settled", "stop 3-7", "stop 3-7")
	o.press(t, "a hidden line", "", "")
	o.press(t, "what opens a submenu", "stop", "")
	o.press(t, "what opens a submenu", "recent", "")
	o.press(t, "an event of one that has gone", o.shown.under("recent")[0].Key, "")
	o.press(t, "an event", o.shown.under("recent")[1].Key, "open 3-7")

	// A title that changes moves nothing, a server that comes may.
	alpha.Busy = ptr(true)
	o.see(t, snapshot(alpha, beta))
	o.press(t, "renamed", "stop 2-7", "stop 2-7")
	o.see(t, snapshot(alpha, beta, serena(5, "new", 0, 0)))
	o.press(t, "one has come", "stop 2-7", "")
	*now = now.Add(settleTime)
	o.press(t, "settled", "stop 2-7", "stop 2-7")
	*now = now.Add(time.Minute)
	o.see(t, snapshot(alpha, beta)) // which waits for nothing
	o.tell(t, menuOpened)
	o.press(t, "not moved since it opened", "stop 2-7", "stop 2-7")
	o.see(t, snapshot(beta))
	o.press(t, "ended", "stop 2-7", "")
	if !strings.Contains(c.under("stop"), "alpha · ended") {
		t.Errorf("shows %s", c.under("stop"))
	}
}

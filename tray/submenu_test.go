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
	alpha, beta, gamma := serena(1, "alpha", 0, 0), serena(2, "beta", 0, 0), serena(3, "gamma", 0, 0)
	with := func(e monitor.Event, list ...monitor.Instance) *monitor.Snapshot {
		s := snapshot(list...)
		s.Recent = []monitor.Event{e}
		return s
	}
	check := func(when, stop, recent string) {
		t.Helper()
		if got := c.under(slotStop); got != stop {
			t.Errorf("%s:\n got %s\nwant %s", when, got, stop)
		}
		if got := c.under(slotRecent); got != recent {
			t.Errorf("%s:\n got %s\nwant %s", when, got, recent)
		}
		if c.shown[slotStop].Visible != (stop != "") || c.shown[slotRecent].Visible != (recent != "") {
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
	const both, of = "1 - alpha · client Claude Code | 2 - beta · client Claude Code", "12:00 started: 2 - beta"
	check("closed", both, of)
	tell(menuOpened)
	*now = now.Add(openLimit - time.Second)
	tell(menuUsed)
	*now = now.Add(openLimit - time.Second)
	o.see(t, with(started(gamma), alpha, gamma))
	check("open", "1 - alpha · client Claude Code | 2 - beta · ended", of)
	tell(menuUsed)
	check("used", "1 - alpha · client Claude Code | 2 - beta · ended", of)
	tell(menuClicked)
	check("closed", "1 - alpha · client Claude Code | 3 - gamma · client Claude Code", "12:00 started: 3 - gamma")
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
	orders := o.actions.(clicked)
	alpha, beta, gone := serena(1, "alpha", 0, 0), serena(2, "beta", 0, 0), serena(3, "gone", 0, 0)
	snap := snapshot(alpha, beta)
	snap.Recent = []monitor.Event{event(monitor.EventStopped, gone, 0, ""), event(monitor.EventStarted, beta, 0, "")}
	o.see(t, snap)
	line := func(id string) int { return slotStopFirst + slices.Index(o.shown.placed.stops, id) }
	click := func(when string, slot int, want string) {
		t.Helper()
		o.click(slot)
		all := []string{"quit"}
		if want != "" {
			all = append(all, want)
		}
		o.click(slotQuit) // so that there is something to wait for
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
	click("at once", line("2-7"), "")
	*now = now.Add(settleTime)
	click("settled", line("2-7"), "stop 2-7")
	click("settled", line("3-7"), "stop 3-7")
	click("a hidden line", line("2-7")+1, "")
	click("what opens a submenu", slotStop, "")
	click("what opens a submenu", slotRecent, "")
	click("the rest", slotStopMore, "")
	click("an event of one that has gone", slotRecentFirst, "")
	click("an event", slotRecentFirst+1, "open 3-7")
	click("no event", slotRecentFirst+2, "")

	// A title that changes moves nothing, a server that comes may.
	at := line("2-7")
	alpha.Busy = ptr(true)
	o.see(t, snapshot(alpha, beta))
	click("renamed", at, "stop 2-7")
	o.see(t, snapshot(alpha, beta, serena(4, "new", 0, 0)))
	click("one has come", at, "")
	*now = now.Add(settleTime)
	click("settled", at, "stop 2-7")
	*now = now.Add(time.Minute)
	o.see(t, snapshot(alpha, beta)) // which waits for nothing
	if err := o.menuEvent(menuOpened); err != nil {
		t.Fatal(err)
	}
	click("not moved since it opened", line("2-7"), "stop 2-7")
	o.see(t, snapshot(beta))
	click("ended", line("2-7"), "")
	if len(orders) != 0 {
		t.Errorf("ordered more: %q", <-orders)
	}
	if !strings.Contains(c.under(slotStop), "alpha · ended") {
		t.Errorf("shows %s", c.under(slotStop))
	}
}

func TestNothingIsOfferedThatNobodyDoes(t *testing.T) {
	o, c, now := drawer(t)
	o.stopper = nil
	o.see(t, snapshot(serena(1, "alpha", 0, 0)))
	*now = now.Add(settleTime)
	o.click(slotStopFirst + stopSize/2)
	if c.shown[slotStop].Visible || c.under(slotStop) != "" {
		t.Errorf("shows %q", c.under(slotStop))
	}
}

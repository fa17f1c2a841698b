//go:build !windows && !darwin

package tray

import (
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/tray/traytest"
)

// policed are two servers, of which the first will be ended and the second is
// pinned, and policies that are active.
func policed() *monitor.Snapshot {
	snap := snapshot(liveNow(24284, "alpha"), liveNow(24285, "beta"))
	snap.Instances[0].Plan = monitor.Plan{ShutdownAt: time.Now().Add(14 * time.Minute), Reason: "no call for 30 min"}
	snap.Instances[1].Pinned = true
	snap.Policy = monitor.Policy{Active: true, Rules: rules(), Idle: 2, Orphans: 1}
	return snap
}

func TestPanelReadsThePolicies(t *testing.T) {
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Appear(t)
	snap := policed()
	stops := "stops at " + monitor.Clock(snap.Instances[0].Plan.ShutdownAt, time.Now())
	c := startChild(t, address, snap, childPolicies)
	sender := h.AwaitItem(t)
	want := strings.Join([]string{
		"2 servers, 200 MB", "24284 - alpha · Claude Code · " + stops, "24285 - beta · Claude Code · 100 MB",
		"-", "Open global dashboard", "Keep", "Policies", "3.2 GB given back this week",
		"-", "Stop", "About Lamplighter 1.2.3", "Quit Lamplighter (servers go on)",
	}, "\n")
	waitFor(t, "the menu", func() bool { return h.Labels(t, sender) == want })
	for label, want := range map[string][]string{
		"Keep": {"For 1 h:", "24284 - alpha · Claude Code · " + stops + ": no call for 30 min", "24285 - beta · Claude Code · pinned", "Until unpinned:", "24284 - alpha · Claude Code", "24285 - beta · Claude Code"},
		"Policies": {"Pause for 1 h", "Pause for today", "Pause until resumed", "-",
			"End orphaned servers after 10 min", "End idle servers", "Tell of servers over 2 GB",
			"Idle servers: never end", "Idle servers: end after 10 min", "Idle servers: end after 30 min", "Idle servers: end after 1 h", "Idle servers: also with a client connected"},
		"Stop": {"Stop 1 orphaned", "Stop 2 idle", "24284 - alpha · " + stops + " · client Claude Code · 100 MB", "24285 - beta · pinned · client Claude Code · 100 MB"},
	} {
		waitFor(t, label, func() bool { return h.Under(t, sender, label) == strings.Join(want, "\n") })
	}
	line := func(menu string, i int) traytest.Line {
		t.Helper()
		return h.Find(t, sender, menu).Lines[i]
	}
	for _, c := range []struct {
		menu                        string
		line                        int
		enabled, checkable, checked bool
	}{
		{"Keep", 0, false, false, false}, {"Keep", 1, true, false, false}, {"Keep", 4, true, true, false}, {"Keep", 5, true, true, true},
		{"Policies", 0, true, false, false}, {"Policies", 4, true, true, true}, {"Policies", 5, false, true, false}, {"Policies", 6, true, true, false},
		{"Stop", 0, true, false, false},
	} {
		if l := line(c.menu, c.line); l.Enabled != c.enabled || l.Checkable != c.checkable || l.Checked != c.checked {
			t.Errorf("%+v, want %+v", l, c)
		}
	}
	for _, order := range []struct {
		menu string
		line int
		want string
	}{
		{"Stop", 0, "stop all orphans"}, {"Stop", 1, "stop all idle"}, {"Keep", 1, "keep 24284-7"}, {"Keep", 4, "pin 24284-7 true"}, {"Keep", 5, "pin 24285-7 false"},
		{"Policies", 2, "pause 0001-01-01T00:00:00Z"}, {"Policies", 4, "switch orphans false"}, {"Policies", 6, "switch memory true"},
	} {
		waitFor(t, order.want, func() bool { // once the lines have settled
			h.Event(t, sender, line(order.menu, order.line).ID, "clicked")
			return strings.Contains(c.said(), order.want+"\n")
		})
	}
	snap.Instances[0].Pinned, snap.Policy.Paused, snap.Policy.Rules[0].On = true, true, false
	c.send(t, snap)
	waitFor(t, "the pause", func() bool { return h.Under(t, sender, "Policies (paused until resumed)") != "" })
	if got := h.Under(t, sender, "Policies (paused until resumed)"); !strings.HasPrefix(got, "Resume\n-\n") {
		t.Errorf("shows\n%s", got)
	}
	if line("Policies", 2).Checked || !line("Keep", 4).Checked {
		t.Error("the check marks have not changed")
	}
	h.Event(t, sender, line("Policies", 0).ID, "clicked")
	waitFor(t, "the order to resume", func() bool { return strings.Contains(c.said(), "resume\n") })
}

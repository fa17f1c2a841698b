//go:build !windows && !darwin

package tray

import (
	"strings"
	"testing"
)

func TestPanelSwitchesStartAtLogin(t *testing.T) {
	h, c, sender := served(t, snapshot(liveNow(24284, "alpha")))
	want := strings.Join([]string{
		"1 server, 100 MB", "24284 - alpha · Claude Code · 100 MB", "-", "Open global dashboard", "Keep",
		"-", "Stop", "Start at login", "About Lamplighter 1.2.3", "Quit Lamplighter (servers go on)",
	}, "\n")
	waitFor(t, "the menu", func() bool { return h.Labels(t, sender) == want })
	for _, on := range []bool{true, false} {
		line := h.Find(t, sender, "Start at login")
		if !line.Checkable || line.Checked == on || !line.Enabled {
			t.Errorf("%+v, is to be switched %v", line, on)
		}
		h.Event(t, sender, line.ID, "clicked")
		waitFor(t, "the check mark", func() bool { return h.Find(t, sender, "Start at login").Checked == on })
	}
	// What it says comes another way than what the panel shows, and later.
	waitFor(t, "both orders", func() bool { return strings.Contains(c.said(), "at login true\nat login false\n") })
	if got := strings.Count(c.said(), "at login "); got != 2 {
		t.Errorf("ordered\n%s", c.said())
	}
}

//go:build contract && linux

package contract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lamplighter/tray/traytest"
)

// The menu as a panel reads it over D-Bus: its lines, what a click does, and
// that it follows what happens.
func TestMenu(t *testing.T) {
	w := another(t, "")
	address, _ := traytest.StartBus(t)
	w.env = append(w.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	daemon := w.start(nil, lamplighter("run"))
	item := panel.AwaitItem(t)
	beta := startFound(t, "beta")
	entry := func(s *server, project string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf(`(?m)^%d - %s\b`, s.pid, project))
	}
	labels := func() string { return panel.Labels(t, item) }
	alphas, betas := entry(alpha, "alpha"), entry(beta, "beta")
	eventually(t, "both are in the menu", func() bool { return alphas.MatchString(labels()) && betas.MatchString(labels()) })
	first := panel.Lines(t, item)[0]
	if !regexp.MustCompile(`^\d+ servers\b`).MatchString(first.Label) {
		t.Errorf("the first line is %q", first.Label)
	}
	click := func(label string) { panel.Event(t, item, panel.Find(t, item, label).ID, "clicked") }
	line := panel.Find(t, item, alphas.FindString(labels()))
	if line.Icon == "" || !line.Enabled {
		t.Errorf("alpha's entry is %q, enabled %v, with an icon of %d bytes", line.Label, line.Enabled, len(line.Icon))
	}
	for label, opens := range map[string]string{
		alphas.FindString(labels()): "http://127.0.0.1:" + strconv.Itoa(alpha.port) + "/dashboard/",
		"Open global dashboard":     "http://127.0.0.1:" + strconv.Itoa(w.page) + "/global-dashboard/",
	} {
		click(label)
		w.opens(t, opens)
	}
	eventually(t, "beta ends by the menu", func() bool {
		for _, line := range panel.Find(t, item, "Stop").Lines {
			if betas.MatchString(line.Label) {
				panel.Event(t, item, line.ID, "clicked")
			}
		}
		return !beta.running()
	})
	eventually(t, "it leaves the menu at once", func() bool { return !strings.Contains(labels(), "beta") })

	click("Start at login")
	eventually(t, "it is switched on", func() bool { return panel.Find(t, item, "Start at login").Checked && len(w.startsAtLogin()) > 0 })
	click("Start at login")
	eventually(t, "it is switched off", func() bool { return !panel.Find(t, item, "Start at login").Checked && len(w.startsAtLogin()) == 0 })

	click("Quit")
	daemon.ends(t, fine)
	if !alpha.running() {
		t.Error("what others started has ended with us")
	}
}

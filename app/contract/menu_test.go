//go:build contract && linux

package contract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
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
	daemon := w.start(t, nil, lamplighter("run")...)
	item := panel.AwaitItem(t)
	beta := startFound(t, "beta")
	labels := func() string { return panel.Labels(t, item) }
	click := func(label string) { panel.Event(t, item, panel.Find(t, item, label).ID, "clicked") }
	entry := func(s *server, name string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf(`(?m)^%d - %s\b`, s.pid(), name))
	}
	alphas, betas := entry(alpha, "alpha"), entry(beta, "beta")
	apptest.Eventually(t, "both are in the menu", func() bool { return alphas.MatchString(labels()) && betas.MatchString(labels()) })
	first := panel.Lines(t, item)[0].Label
	check(t, regexp.MustCompile(`^\d+ servers\b`).MatchString(first), "the first line is %q", first)
	line := panel.Find(t, item, alphas.FindString(labels()))
	check(t, line.Icon != "" && line.Enabled, "alpha's entry is %q, enabled %v, with an icon of %d bytes", line.Label, line.Enabled, len(line.Icon))

	click(alphas.FindString(labels()))
	w.opens(t, "http://127.0.0.1:"+strconv.Itoa(alpha.port)+"/dashboard/")
	click("Open global dashboard")
	w.opens(t, "http://127.0.0.1:"+strconv.Itoa(w.page)+p)
	apptest.Eventually(t, "beta ends by the menu", func() bool {
		for _, line := range panel.Find(t, item, "Stop").Lines {
			if betas.MatchString(line.Label) {
				panel.Event(t, item, line.ID, "clicked")
			}
		}
		return !beta.running()
	})
	apptest.Eventually(t, "it leaves the menu at once", func() bool { return !strings.Contains(labels(), "beta") })
	for _, on := range []bool{true, false} {
		click("Start at login")
		apptest.Eventually(t, fmt.Sprintf("it is switched on: %v", on), func() bool {
			return panel.Find(t, item, "Start at login").Checked == on && len(w.startsAtLogin()) > 0 == on
		})
	}
	click("Quit")
	daemon.ends(t, fine)
	check(t, alpha.running(), "what others started has ended with us")
}

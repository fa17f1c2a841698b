//go:build unix && !darwin

package main

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
)

// What the menu opens: the page, and on it a server that has no dashboard of its
// own.
func TestTheMenuOpensThePage(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	port := freePort(t)
	h.settings(t, acmeRule+portSetting(port))
	h.background(t)
	serves(t, pageAt(port))
	sender := panel.AwaitItem(t)
	var want []string
	click := func(line, opens string) {
		t.Helper()
		apptest.Eventually(t, line, func() bool { return strings.Contains(panel.Labels(t, sender), line) })
		panel.Event(t, sender, panel.Find(t, sender, line).ID, "clicked")
		want = append(want, opens)
		apptest.Eventually(t, "it opens "+opens, func() bool { return slices.Equal(h.opened(t), want) })
	}
	click("Open global dashboard", pageAt(port))
	label := h.acme(t)
	var id string
	apptest.Eventually(t, "it is known", func() bool {
		_, _, body := fetch(t, pageAt(port)+"instances")
		_, id, _ = strings.Cut(body, `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		return id != ""
	})
	click(label, pageAt(port)+"#/"+id)
}

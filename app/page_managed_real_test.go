//go:build real && linux

package main

import (
	"fmt"
	"strconv"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
)

// TestManagedOnThePage: a session is shown with who asked for it, by its template's
// name, and an order to stop it ends all of it.
func TestManagedOnThePage(t *testing.T) {
	m := newManager(t, acmeSettings(t))
	page := browsertest.Start(t).Open(t, m.home.page(t), browsertest.Options{})
	s := m.request(t, projectDir(t, "alpha"))
	who := ""
	apptest.Eventually(t, "it is known who asked", func() bool {
		in := m.instance(t, s.ID)
		if in != nil && in.Managed && in.Client != nil {
			who = in.Client.Name
		}
		return who != ""
	})
	page.AwaitText(t, mainPart, fmt.Sprintf("%d - acme", s.Port), "for "+who)
	page.Audit(t, "the overview with a managed server")
	page.Picture(t, "managed")
	page.Look(t, browsertest.Options{Width: 390, Height: 700})
	page.Audit(t, "the overview with a managed server, narrow")
	page.Picture(t, "managed-narrow")
	page.Look(t, browsertest.Options{})
	page.Click(t, browsertest.Tab(strconv.Itoa(s.Port)+" - "))
	page.AwaitText(t, mainPart, "for "+who, "yes, lamplighter started it", "Asked for by", "/alpha")

	if code, out, errs := m.does(t, "stop", strconv.Itoa(s.ID)); code != 0 {
		t.Errorf("stop: %d, %q, %q", code, out, errs)
	}
	s.isGone(t)
	m.nothingLeft(t)
	page.AwaitText(t, mainPart, "ended")
	_, events, _ := m.does(t, "events")
	apptest.Contains(t, events, "asked for by "+who)
}

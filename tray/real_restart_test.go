//go:build real && linux

package tray

import (
	"fmt"
	"image"
	"testing"
	"time"

	"lamplighter/monitor"
)

// A panel that restarts, and one that comes after the tray, as at a login,
// show the lines of the submenus.
func TestXfcePanelThatRestarts(t *testing.T) {
	d, address := startDesktop(t, false)
	d.endPanel()
	snap := states()
	for i := range snap.Instances {
		snap.Recent = append(snap.Recent, monitor.Event{
			At: time.Now(), Kind: monitor.EventStarted, ID: snap.Instances[i].ID(), Label: snap.Instances[i].Label(),
		})
	}
	startChild(t, address, snap, "DISPLAY=")
	for range 10 {
		d.startPanel()
		d.hasIcon()
		empty := d.atRest("")
		for _, keys := range map[string][]string{"Stop": {"Up", "Up", "Right"}, "Recent": {"Up", "Up", "Up", "Right"}} {
			d.submenu(empty, "", 100, keys...) // one without lines is a box of some 50 px
			d.closeMenu(empty)
		}
		d.endPanel()
	}
}

// A menu that was long is shown whole, and whole again when it is short.
func TestXfceMenuFitsTheScreen(t *testing.T) {
	d, address := startDesktop(t, false)
	list := func(n int) *monitor.Snapshot {
		var list []monitor.Instance
		for i := range n {
			list = append(list, liveNow(24282+i, fmt.Sprintf("project-%03d", i)))
		}
		snap := snapshot(list...)
		snap.Warnings = []string{"one", "another"}
		snap.Policy = monitor.Policy{Active: true, Rules: rules(), Idle: 2, Orphans: 1}
		snap.Recent = []monitor.Event{{At: time.Now(), Kind: monitor.EventStarted, ID: list[0].ID(), Label: list[0].Label()}}
		return snap
	}
	c := startChild(t, address, list(6), "DISPLAY=", childPolicies)
	d.hasIcon()
	empty := d.atRest("")
	show := func(name string) image.Image {
		t.Helper()
		d.pointer("mousemove", "16", "16", "click", "1")
		waitFor(t, "the open menu", func() bool { return drawn(empty, d.screen("")).Dy() > 100 })
		d.pointer("mousemove", "900", "600")
		opened := d.atRest(name)
		d.pointer("key", "Escape")
		waitFor(t, "the closed menu", func() bool { return drawn(empty, d.screen("")).Empty() })
		return opened
	}
	few := show("")
	for range 2 {
		c.send(t, list(115))
		end := 0
		waitFor(t, "the long menu", func() bool {
			end = drawn(empty, show("menu-long")).Max.Y
			return end > drawn(empty, few).Max.Y+200
		})
		if end >= empty.Bounds().Max.Y {
			t.Errorf("the menu ends at %d px", end)
		}
		c.send(t, list(6))
		waitFor(t, "the short menu", func() bool { return same(show(""), few) })
	}
}

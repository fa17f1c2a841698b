//go:build real && linux

package tray

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

// What a person sees of the policies on a panel, and what their clicks order.
func TestXfcePolicies(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) { testXfcePolicies(t, theme) })
	}
}

func testXfcePolicies(t *testing.T, theme string) {
	d, address := startDesktop(t, theme == "dark")
	c := startChild(t, address, snapshot(), "DISPLAY=", childPolicies)
	d.hasIcon()
	empty := d.atRest("")
	closed := func() { t.Helper(); d.closeMenu(empty) }
	// open opens the submenu that is so many lines from the end.
	open := func(name string, up int) image.Image {
		t.Helper()
		_, opened := d.submenu(empty, name, 50, append(strings.Fields(strings.Repeat("Up ", up)), "Right")...)
		return opened
	}
	// Above Quit stand About, which is passed over, Stop, and what was given back.
	const stop, policies, keep = 2, 4, 5
	c.send(t, policed())
	order := func(want string, submenu int, keys ...string) {
		t.Helper()
		waitFor(t, want, func() bool { // once the lines have settled
			open("", submenu)
			d.pointer(append(append([]string{"key"}, keys...), "Return")...)
			waitFor(t, "the closed menu", func() bool { return drawn(empty, d.screen("")).Empty() })
			return strings.Contains(c.said(), want+"\n")
		})
	}
	open("policies-"+theme, policies)
	closed()
	open("keep-"+theme, keep)
	closed()
	open("stop-all-"+theme, stop)
	closed()
	// The first line of a submenu is chosen when it opens, of those that can be.
	order("switch orphans false", policies, "Down", "Down", "Down")
	order("pin 24286-7 false", keep, "Down", "Down", "Down")
	order("stop all idle", stop, "Down")

	// A check mark that changes while the submenu is open changes nothing else.
	snap := policed()
	shown := open("", policies)
	snap.Policy.Rules[0].On = false
	c.send(t, snap)
	waitFor(t, "the change in the open submenu", func() bool { return !same(shown, d.screen("")) })
	if before, after := drawn(empty, shown), drawn(empty, d.atRest("policies-"+theme+"-switched")); before != after {
		t.Errorf("the open submenu takes %v, was %v", after, before)
	}
	closed()
}

// However many servers there are, what stands under Keep fits on the screen.
func TestXfceKeepFitsTheScreen(t *testing.T) {
	d, address := startDesktop(t, false)
	snap := policed()
	for i := range 60 {
		in := liveNow(24300+i, fmt.Sprintf("project-%03d", i))
		in.Plan = monitor.Plan{ShutdownAt: time.Now().Add(14 * time.Minute), Reason: "no call for 30 min"}
		snap.Instances = append(snap.Instances, in)
	}
	startChild(t, address, snap, "DISPLAY=", childPolicies)
	d.hasIcon()
	empty := d.atRest("")
	menu, opened := d.submenu(empty, "keep-long", 50, "Up", "Up", "Up", "Up", "Up", "Right")
	// A menu that does not fit begins at the edge of the screen, with an arrow.
	right := image.Rect(menu.Max.X, 0, opened.Bounds().Max.X, opened.Bounds().Max.Y)
	var box image.Rectangle
	for y := range right.Max.Y {
		for x := right.Min.X; x < right.Max.X; x++ {
			if opened.At(x, y) != empty.At(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if box.Min.Y == 0 || box.Dy() < 500 {
		t.Errorf("the submenu takes %v", box)
	}
}

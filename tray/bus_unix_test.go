//go:build !windows && !darwin

package tray

import (
	"bytes"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/tray/traytest"

	"github.com/godbus/dbus/v5"
)

// liveNow is an instance that is idle for less than a step from now on.
func liveNow(port int, project string) monitor.Instance {
	return with(serena(port, project, 0, 100), func(in *monitor.Instance) { in.LastActivity = time.Now() })
}

// served is a host and a tray that shows snap.
func served(t *testing.T, snap *monitor.Snapshot) (*traytest.Host, *child, string) {
	t.Helper()
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Appear(t)
	c := startChild(t, address, snap)
	return h, c, h.AwaitItem(t)
}

// states has one instance in each state.
func states() *monitor.Snapshot {
	as := func(in monitor.Instance, s monitor.State, c monitor.Cause) monitor.Instance {
		in.State, in.Cause = s, c
		return in
	}
	bare := liveNow(24286, "")
	return snapshot(
		liveNow(24284, "alpha"),
		as(liveNow(24283, "beta"), monitor.StateZombie, monitor.CauseSuspended),
		as(bare, monitor.StateNoProject, ""),
		as(liveNow(24287, "delta"), monitor.StateStarting, ""),
		as(liveNow(24288, "epsilon"), monitor.StateParked, ""),
	)
}

func TestPanelReadsTheMenu(t *testing.T) {
	h, c, sender := served(t, states())
	want := strings.Join([]string{
		"5 servers, 1 needs attention, 1 parked, 500 MB",
		"24283 - beta · Claude Code · suspended · 100 MB",
		"24284 - alpha · Claude Code · 100 MB",
		"24287 - delta · Claude Code · starting · 100 MB",
		"parked - epsilon · Claude Code · 100 MB",
		"24286 - NO PROJECT · Claude Code · 100 MB",
		"-", "Open global dashboard", "Keep",
		"-", "Stop", "Start at login", "About Lamplighter 1.2.3", "Quit Lamplighter (servers go on)",
	}, "\n")
	waitFor(t, "the menu", func() bool { return h.Labels(t, sender) == want })
	for prefix, mark := range map[string]icons.Mark{
		"24283": icons.Zombie, "24284": icons.Project, "24287": icons.Starting, "parked": icons.Parked, "24286": icons.NoProject,
	} {
		if got := h.Find(t, sender, prefix); got.Icon != string(icons.Item(mark)) || !got.Enabled {
			t.Errorf("%s: not the icon of %s, or disabled", prefix, mark)
		}
	}
	if h.Find(t, sender, "About").Enabled {
		t.Error("About can be clicked")
	}
	for name, want := range map[string]string{"Title": `"Lamplighter"`, "Id": `"Lamplighter"`, "Status": `"Active"`, "ItemIsMenu": "true"} {
		if got := h.Property(t, sender, name).String(); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if got := h.Property(t, sender, "ToolTip").String(); !strings.Contains(got, "Lamplighter: 5 servers, 1 needs attention, 1 parked, 500 MB") {
		t.Errorf("tooltip %s", got)
	}
	if !showsIcon(h, t, sender, "auto", "zombie") {
		t.Error("the icon is not the one with the worst state")
	}
	for prefix, order := range map[string]string{"24284": "open 24284-7", "24283": "open 24283-7", "5 servers": "global", "Open global": "global"} {
		h.Event(t, sender, h.Find(t, sender, prefix).ID, "clicked")
		waitFor(t, order, func() bool { return strings.Contains(c.said(), order+"\n") })
	}
	// The tray may be gone before it has answered.
	h.Conn.Object(sender, menuPath).Call(menuIface+".Event", dbus.FlagNoReplyExpected,
		h.Find(t, sender, "Quit").ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	if code := c.ends(t); code != 0 || !strings.Contains(c.said(), "quit\n") {
		t.Errorf("exit status %d", code)
	}
}

// showsIcon compares the pixels in the panel with the artwork.
func showsIcon(h *traytest.Host, t *testing.T, sender, style string, worst icons.Mark) bool {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(icons.Tray(style, worst)))
	if err != nil {
		t.Fatal(err)
	}
	pix := h.Property(t, sender, "IconPixmap").Value().([][]any)
	if len(pix) != 1 || pix[0][0] != int32(32) {
		return false
	}
	argb := pix[0][2].([]byte)
	for i := range len(argb) / 4 {
		c := color.NRGBA64Model.Convert(img.At(i%32, i/32)).(color.NRGBA64)
		if a := byte(c.A >> 8); argb[4*i] != a {
			return false
		}
		if c.A == 0 {
			continue
		}
		for j, want := range []uint16{c.R, c.G, c.B} {
			// The files are exact in what blending makes of them, which is
			// less than a step of the straight value only where alpha is high.
			if d := int(argb[4*i+1+j]) - int(want>>8); c.A > 0x8000 && (d > 2 || d < -2) {
				return false
			}
		}
	}
	return true
}

func TestQuietMachineIsSilentOnTheBus(t *testing.T) {
	alpha := liveNow(24284, "alpha")
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Appear(t)
	// Before there is a tray, so that all it says is heard.
	signals := make(chan *dbus.Signal, 1000)
	h.Conn.Signal(signals)
	if err := h.Conn.AddMatchSignal(dbus.WithMatchPathNamespace(itemPath)); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, address, snapshot(alpha))
	sender := h.AwaitItem(t)
	next := func() *dbus.Signal {
		t.Helper()
		select {
		case s := <-signals:
			return s
		case <-time.After(patience):
			t.Fatal("no signal")
			return nil
		}
	}
	// The last thing of the start is the layout with the submenus, which is announced
	// before they can be read.
	waitFor(t, "the submenus", func() bool { return h.Under(t, sender, "Stop") != "" })
	alpha.Busy = ptr(true) // one title, here and under Stop
	c.send(t, snapshot(alpha))
	for next().Name != menuIface+".ItemsPropertiesUpdated" {
	}
	if s := next(); s.Name != menuIface+".LayoutUpdated" {
		t.Errorf("after the properties came %s", s.Name)
	}
	for i := range 50 {
		c.send(t, snapshot(with(alpha, func(in *monitor.Instance) {
			in.RSSBytes += uint64(i%10) * megabyte
			in.LastHeartbeat = time.Now()
		})))
	}
	alpha.Busy = nil
	c.send(t, snapshot(alpha))
	// However much a snapshot changes, it makes these two.
	var got []string
	for len(got) < 2 {
		s := next()
		got = append(got, s.Name)
		if s.Name != menuIface+".ItemsPropertiesUpdated" {
			continue
		}
		if changed, ok := s.Body[0].([][]any); !ok || len(changed) != 2 {
			t.Errorf("changed %v", s.Body)
		}
	}
	if want := []string{menuIface + ".ItemsPropertiesUpdated", menuIface + ".LayoutUpdated"}; !slices.Equal(got, want) {
		t.Errorf("signals\n%s, want\n%s", got, want)
	}
}

func TestHostileNames(t *testing.T) {
	name := "\x1b]0;x\x07a_b&c\u202e\u2066\x00\xff" + strings.Repeat("x", 4096)
	snap := snapshot(liveNow(24284, name))
	snap.Warnings = []string{name}
	h, _, sender := served(t, snap)
	waitFor(t, "the entry", func() bool { return strings.Contains(h.Labels(t, sender), "24284 - ") })
	l := h.Find(t, sender, "24284 - ")
	if !strings.HasPrefix(l.Label, "24284 - ]0;xa__b&c") || len(l.Label) > 100 {
		t.Errorf("%q", l.Label)
	}
	for _, l := range h.Lines(t, sender) {
		for _, r := range l.Label {
			if monitor.Unprintable(r) {
				t.Errorf("%q has %U", l.Label, r)
			}
		}
	}
}

func TestOpenMenuOnTheBus(t *testing.T) {
	for _, opens := range []string{"AboutToShow", "opened"} {
		t.Run(opens, func(t *testing.T) {
			alpha, beta := liveNow(24284, "alpha"), liveNow(24285, "beta")
			h, c, sender := served(t, snapshot(alpha, beta))
			menu := h.Conn.Object(sender, menuPath)
			// What is told races with the snapshot, so the menu is opened
			// anew until the tray takes it for open in time.
			open := func() bool {
				if opens == "opened" {
					h.Event(t, sender, 0, opens)
				} else {
					menu.Call(menuIface+"."+opens, 0, int32(0))
				}
				c.send(t, snapshot(beta))
				ended := false
				waitFor(t, "alpha gone", func() bool {
					now := h.Labels(t, sender)
					ended = strings.Contains(now, "24284 - alpha · ended")
					return ended || !strings.Contains(now, "alpha")
				})
				if !ended { // the opening was seen too late, or not at all
					h.Event(t, sender, 0, "closed")
					c.send(t, snapshot(alpha, beta))
					waitFor(t, "alpha back", func() bool { return strings.Contains(h.Labels(t, sender), "24284 - alpha") })
				}
				return ended
			}
			waitFor(t, "an open menu that is held", open)
			if h.Find(t, sender, "24284 - alpha").Enabled {
				t.Error("an ended server can be clicked")
			}
			if opens == "opened" {
				h.Event(t, sender, 0, "closed")
			} else {
				h.Event(t, sender, h.Find(t, sender, "24285").ID, "clicked")
			}
			waitFor(t, "the closed menu renewed", func() bool { return !strings.Contains(h.Labels(t, sender), "alpha") })
		})
	}
}

func TestWhatPanelsTell(t *testing.T) {
	told := make(chan menuEvent, 8)
	m := &dbusMenu{events: told}
	one := func(id int32, what string) func() { return func() { m.event(id, what, dbus.Variant{}, 0) } }
	for _, c := range []struct {
		name string
		call func()
		want []menuEvent
	}{
		{"the menu", func() { m.aboutToShow(0) }, []menuEvent{menuOpened}},
		{"a submenu", func() { m.aboutToShow(5) }, []menuEvent{menuUsed}},
		{"opened", one(0, "opened"), []menuEvent{menuOpened}},
		{"closed", one(0, "closed"), []menuEvent{menuClosed}},
		{"a submenu closed", one(4, "closed"), nil},
		{"a submenu opened", one(4, "opened"), []menuEvent{menuUsed}},
		{"hovered", one(4, "hovered"), nil},
	} {
		c.call()
		var got []menuEvent
		for len(told) > 0 {
			got = append(got, <-told)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: told %v, want %v", c.name, got, c.want)
		}
	}
}

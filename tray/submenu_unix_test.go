//go:build !windows && !darwin

package tray

import (
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/tray/traytest"

	"github.com/godbus/dbus/v5"
)

func TestPanelReadsTheSubmenus(t *testing.T) {
	snap := states()
	snap.Recent = []monitor.Event{
		{At: time.Now(), Kind: monitor.EventStarted, ID: snap.Instances[1].ID(), Label: "24284 - al_pha", Detail: "by Claude Code"},
		{At: time.Date(2020, 11, 20, 10, 42, 0, 0, time.Local), Kind: monitor.EventStopped, ID: "1-1", Label: "24282 - old"},
	}
	h, c, sender := served(t, snap)
	clock := snap.Recent[0].At.Format("15:04")
	for label, want := range map[string]string{
		"Stop": strings.Join([]string{
			"24283 - beta · suspended · client Claude Code · 100 MB",
			"24284 - alpha · client Claude Code · 100 MB",
			"24287 - delta · starting · client Claude Code · 100 MB",
			"24286 - NO PROJECT · client Claude Code · 100 MB",
		}, "\n"),
		"Recent": clock + " started: 24284 - al__pha by Claude Code\n20 Nov 2020 10:42 stopped: 24282 - old",
	} {
		waitFor(t, label, func() bool { return h.Under(t, sender, label) == want })
		l := h.Find(t, sender, label)
		if !l.Submenu || !l.Enabled || l.Icon != "" {
			t.Errorf("%s: %+v", label, l)
		}
		for _, l := range l.Lines {
			if !l.Enabled || l.Icon != "" || l.Submenu {
				t.Errorf("%s: %+v", label, l)
			}
		}
	}
	click := func(menu string, i int) {
		h.Event(t, sender, h.Find(t, sender, menu).Lines[i].ID, "clicked")
	}
	click("Recent", 1) // gone
	click("Recent", 0)
	waitFor(t, "a dashboard", func() bool { return strings.Contains(c.said(), "open 24284-7\n") })
	waitFor(t, "an order to stop", func() bool { // once the lines have settled
		click("Stop", 1)
		return strings.Contains(c.said(), "stop 24284-7\n")
	})
	if n := strings.Count(c.said(), "open "); n != 1 {
		t.Errorf("%d dashboards opened", n)
	}
	c.send(t, snapshot())
	waitFor(t, "no submenus", func() bool {
		all := h.Labels(t, sender)
		return !strings.Contains(all, "Stop") && !strings.Contains(all, "Recent")
	})
}

func TestStyleChangesWhileShown(t *testing.T) {
	h, c, sender := served(t, snapshot())
	waitFor(t, "the first icon", func() bool { return showsIcon(h, t, sender, "auto", "") })
	for _, style := range []string{"dark", "light"} {
		c.style(t, style)
		waitFor(t, style, func() bool { return showsIcon(h, t, sender, style, "") })
	}
}

// Each panel that comes sees the submenus later than the rest, because panels
// of GTK lose the lines of those that they see at once.
func TestEveryPanelSeesTheSubmenusLast(t *testing.T) {
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Appear(t)
	startChild(t, address, states())
	sender := h.AwaitItem(t)
	waitFor(t, "the menu", func() bool { return h.Labels(t, sender) != "" })
	for range 3 {
		next := traytest.NewHost(t, address)
		signals := make(chan *dbus.Signal, 16)
		next.Conn.Signal(signals)
		if err := next.Conn.AddMatchSignal(dbus.WithMatchSender(sender), dbus.WithMatchMember("LayoutUpdated")); err != nil {
			t.Fatal(err)
		}
		for _, l := range next.Lines(t, sender) {
			if len(l.Lines) > 0 {
				t.Errorf("a new panel sees at once what is under %s", l.Label)
			}
		}
		waitFor(t, "a word that there is more", func() bool {
			select {
			case <-signals: // which may be about others
			default:
				return false
			}
			return next.Under(t, sender, "Stop") != ""
		})
	}
}

func TestWhatPanelsAskOfOneLine(t *testing.T) {
	h, _, sender := served(t, states())
	waitFor(t, "the menu", func() bool { return h.Labels(t, sender) != "" })
	menu := h.Conn.Object(sender, menuPath)
	if menu.Call(menuIface+".GetLayout", 0, int32(1<<30), int32(-1), []string{}).Err == nil {
		t.Error("the layout of no line: no error")
	}
	var some []lineProperties
	stop := h.Find(t, sender, "Stop").ID
	err := menu.Call(menuIface+".GetGroupProperties", 0, []int32{stop, 1 << 30, -1}, []string{"children-display", "label"}).Store(&some)
	if err != nil || len(some) != 1 || len(some[0].Props) != 2 || some[0].Props["children-display"].Value() != "submenu" {
		t.Errorf("properties %v, %v", some, err)
	}
	h.Event(t, sender, 1<<30, "clicked") // harms nothing
	h.Event(t, sender, -1, "clicked")
}

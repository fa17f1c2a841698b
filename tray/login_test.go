package tray

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lamplighter/monitor"
)

// loginBook is a Login that says what the test wants, and notes what it is told.
type loginBook struct {
	on, can bool
	asked   int
	orders  clicked
}

func (l *loginBook) AtLogin() (on, can bool) { l.asked++; return l.on, l.can }
func (l *loginBook) SetAtLogin(on bool)      { l.orders <- fmt.Sprint("at login ", on) }

func TestStartAtLogin(t *testing.T) {
	for _, c := range []struct {
		name    string
		on, can bool
		want    menuSlot
		order   string
	}{
		{"off", false, true, menuSlot{Visible: true, Enabled: true, Title: "Start at login"}, "at login true"},
		{"on", true, true, menuSlot{Visible: true, Enabled: true, Title: "Start at login", Checked: true}, "at login false"},
		{"an administrator's", true, false, menuSlot{Visible: true, Title: "Start at login", Checked: true}, ""},
		{"not possible", false, false, menuSlot{Visible: true, Title: "Start at login"}, ""},
	} {
		o, canvas, _ := drawer(t)
		orders := o.actions.(clicked)
		o.login = &loginBook{on: c.on, can: c.can, orders: orders}
		for _, snap := range []*monitor.Snapshot{nil, snapshot(), snapshot(serena(1, "alpha", 0, 0))} {
			o.see(t, snap)
			if got := canvas.shown[slotLogin]; got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
		o.click(slotLogin)
		if c.order == "" {
			o.click(slotQuit) // so that there is something to wait for
			c.order = "quit"
		}
		if got := <-orders; got != c.order || len(orders) > 0 {
			t.Errorf("%s: ordered %q, want %q", c.name, got, c.order)
		}
	}
}

func TestStartAtLoginOfNobody(t *testing.T) {
	o, canvas, _ := drawer(t)
	o.see(t, snapshot(serena(1, "alpha", 0, 0)))
	if canvas.shown[slotLogin].Visible {
		t.Errorf("shows %+v", canvas.shown[slotLogin])
	}
	o.click(slotLogin)
	o.click(slotQuit)
	if got := <-o.actions.(clicked); got != "quit" {
		t.Errorf("ordered %q", got)
	}
}

// A switch that changes while the menu is open moves nothing, and an opening menu
// asks whether it still holds.
func TestStartAtLoginInAnOpenMenu(t *testing.T) {
	o, canvas, _ := drawer(t)
	l := &loginBook{can: true}
	o.login = l
	o.see(t, snapshot())
	asked := l.asked
	if err := o.menuEvent(menuOpened); err != nil {
		t.Fatal(err)
	}
	if l.asked == asked {
		t.Error("not asked as the menu opened")
	}
	l.on = true
	canvas.ops = nil
	o.see(t, snapshot())
	if len(canvas.ops) != 1 || canvas.ops[0] != (slotOp{Slot: slotLogin, Kind: opCheck}) {
		t.Errorf("%+v", canvas.ops)
	}
}

func TestRedraw(t *testing.T) {
	tray := New(Options{})
	tray.Redraw()
	tray.Redraw() // does not wait
	c, orders, clicks := &canvas{}, make(clicked, 1), make(chan int)
	l := &loginBook{can: true}
	o := &owner{paint: c, actions: orders, login: l, now: time.Now, redraws: tray.redraws, clicks: clicks}
	if err := o.first(); err != nil {
		t.Fatal(err)
	}
	l.on = true
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.loop(ctx) }()
	for { // until it is drawn
		c.mu.Lock()
		drawn := c.shown[slotLogin].Checked
		c.mu.Unlock()
		if drawn {
			break
		}
		clicks <- slotAbout // which does nothing, and waits for the loop
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

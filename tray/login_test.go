package tray

import (
	"context"
	"testing"
	"time"

	"lamplighter/monitor"
)

// loginBook says what the test wants.
type loginBook struct {
	on, can bool
	asked   int
}

func (l *loginBook) Extras() Extras {
	l.asked++
	return Extras{AtLogin: l.on, CanSwitch: l.can}
}

func TestStartAtLogin(t *testing.T) {
	for _, c := range []struct {
		name    string
		on, can bool
		order   string
	}{
		{"off", false, true, "at login true"},
		{"on", true, true, "at login false"},
		{"an administrator's", true, false, ""},
		{"not possible", false, false, ""},
	} {
		o, canvas, _ := drawer(t)
		o.opts.Extras = (&loginBook{on: c.on, can: c.can}).Extras
		for _, snap := range []*monitor.Snapshot{nil, snapshot(), snapshot(serena(2, "alpha", 0, 0))} {
			o.see(t, snap)
			if got := canvas.shown.line("login"); got.Title != "Start at login" || !got.Checkable || got.Checked != c.on || got.Disabled == c.can {
				t.Errorf("%s: %+v", c.name, got)
			}
		}
		o.press(t, c.name, "login", c.order)
	}
}

// A switch that changes while the menu is open moves nothing, and an opening menu
// asks whether it still holds.
func TestStartAtLoginInAnOpenMenu(t *testing.T) {
	o, canvas, _ := drawer(t)
	l := &loginBook{can: true}
	o.opts.Extras = l.Extras
	o.see(t, snapshot())
	asked := l.asked
	o.tell(t, menuOpened)
	if l.asked == asked {
		t.Error("not asked as the menu opened")
	}
	l.on = true
	canvas.drawn = nil
	o.see(t, snapshot())
	if len(canvas.drawn) != 1 || canvas.drawn[0].ID != o.id("login") || !canvas.drawn[0].Now.Checked {
		t.Errorf("%+v", canvas.drawn)
	}
}

func TestRedraw(t *testing.T) {
	tray := New(Options{})
	tray.Redraw()
	tray.Redraw() // does not wait
	c, orders, clicks := &canvas{}, make(clicked, 1), make(chan int)
	l := &loginBook{can: true}
	o := &owner{paint: c, opts: Options{Orders: orders, Extras: l.Extras}, now: time.Now, redraws: tray.redraws, clicks: clicks}
	o.first()
	l.on = true
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.loop(ctx) }()
	for { // until it is drawn
		c.mu.Lock()
		drawn := c.shown.line("login").Checked
		c.mu.Unlock()
		if drawn {
			break
		}
		clicks <- 0 // which does nothing, and waits for the loop
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

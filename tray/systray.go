package tray

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"fyne.io/systray"

	"lamplighter/icons"
)

// isDBus tells the desktops whose tray is an object on the session bus.
const isDBus = runtime.GOOS != "windows" && runtime.GOOS != "darwin"

// desktop is the painter that draws with fyne.io/systray. Its setters never
// compare and each repaints, so it must only be given what changed; they are
// not safe beside each other, so only the owner calls it.
type desktop struct {
	ended      <-chan struct{} // closed when nobody receives clicks any more
	bus        *bus
	own        ownMenu             // nil where the menu is the library's
	items      []*systray.MenuItem // of the library's menu; nil for separators
	listening  []bool
	clicks     chan int
	menuEvents chan menuEvent
}

// ownMenu is a menu that is not the library's.
type ownMenu interface {
	build(m menu) error
	// show makes changes, which are seen together.
	show(changes []change) error
}

// newDesktop returns a painter that hands on clicks until ended is closed.
func newDesktop(ended <-chan struct{}, b *bus) *desktop {
	d := &desktop{ended: ended, bus: b, clicks: make(chan int, 8), menuEvents: make(chan menuEvent, 8)}
	d.own = b.newMenu(ended, d.clicks, d.menuEvents)
	return d
}

// run shows the tray until show ends, whose error it returns. prepare makes the
// menu, and show may change it.
//
// On D-Bus the menu is made before the item is on the bus: that costs no
// signal, and the library cannot lose the first icon and title, which it does
// now and then when they are set while it exports its properties.
func (d *desktop) run(ctx context.Context, prepare func() error, show func(context.Context) error) (err error) {
	if !isDBus {
		return d.runLoop(ctx, prepare, show)
	}
	// The library has no errors to return. When the bus dies while it
	// connects, it panics at its end.
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("run the tray: %v: %w", p, ErrBusLost))
		}
	}()
	if err := prepare(); err != nil {
		return err
	}
	start, end := systray.RunWithExternalLoop(nil, nil)
	defer end()
	start() // which on D-Bus has exported all when it returns
	d.bus.replaceMenu(ctx)
	return show(ctx)
}

// runLoop runs the message loop of the desktop meanwhile.
func (d *desktop) runLoop(ctx context.Context, prepare func() error, show func(context.Context) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	go d.awaitOpening()
	started, done := make(chan struct{}), make(chan error, 1)
	systray.Run(func() {
		close(started)
		go func() {
			err := prepare()
			if err == nil {
				err = show(running)
			}
			done <- err
			systray.Quit()
		}()
	}, nil)
	stop()
	select {
	case <-started:
	default:
		return errors.New("the desktop has not taken the icon")
	}
	err := <-done
	if err == nil && ctx.Err() == nil {
		return ErrClosed
	}
	return err
}

func (d *desktop) build(m menu) error {
	if isDBus {
		// Elsewhere this is text beside the icon. Here it is its name, by
		// which a panel remembers what its user decided about it.
		systray.SetTitle("Lamplighter")
	}
	if d.own == nil {
		d.addLines(m)
	} else if err := d.own.build(m); err != nil {
		return err
	}
	return d.show(diff(make(menu, len(m)), m))
}

// addLines adds the lines of a menu to the library's, hidden.
func (d *desktop) addLines(m menu) {
	d.items = make([]*systray.MenuItem, len(m))
	d.listening = make([]bool, len(m))
	for i := 1; i < len(m); i++ {
		d.listening[i] = m[i].Opens // a click on what opens a submenu is no order
		switch above := d.items[m[i].Above]; {
		case m[i].Separator && above != nil:
			above.AddSeparator()
		case m[i].Separator:
			systray.AddSeparator()
		case above != nil:
			d.items[i] = above.AddSubMenuItem("", "")
		default:
			d.items[i] = systray.AddMenuItem("", "")
		}
	}
	// Only now, because Windows cannot add a submenu to a hidden line.
	for _, item := range d.items {
		if item != nil {
			item.Hide()
		}
	}
}

func (d *desktop) show(changes []change) error {
	var err error
	lost := d.call(func() {
		for _, c := range changes {
			switch {
			case c.ID == 0:
				drawIcon(c.Was, c.Now)
			case d.own == nil:
				d.change(c)
			}
		}
		if d.own != nil {
			err = d.own.show(changes)
		}
	})
	if err != nil {
		return fmt.Errorf("change the menu: %w: %w", ErrBusLost, err)
	}
	return lost
}

// change changes a line of the library's menu. One that was hidden gets all that
// it shows, as it may have shown something else before.
func (d *desktop) change(c change) {
	item, was, now := d.items[c.ID], c.Was, c.Now
	if now.hidden() {
		item.Hide()
		return
	}
	fresh := was.hidden()
	if fresh || was.Title != now.Title {
		item.SetTitle(escape(runtime.GOOS, now.Title))
	}
	if now.Mark != icons.None && (fresh || was.Mark != now.Mark) {
		item.SetIcon(icons.Item(string(now.Mark)))
	}
	if fresh || was.Disabled != now.Disabled {
		set(now.Disabled, item.Disable, item.Enable)
	}
	if fresh || was.Checked != now.Checked {
		set(now.Checked, item.Check, item.Uncheck)
	}
	if fresh {
		d.listen(c.ID)
		item.Show()
	}
}

// set calls yes or no.
func set(on bool, yes, no func()) {
	if on {
		yes()
	} else {
		no()
	}
}

// drawIcon draws what has changed of the icon in the panel.
func drawIcon(was, now line) {
	if was.Tooltip != now.Tooltip {
		systray.SetTooltip(now.Tooltip)
	}
	if was.Title != "" && was.Mark == now.Mark && was.Style == now.Style {
		return
	}
	worst := string(now.Mark)
	picture := icons.Tray(now.Style, worst)
	if runtime.GOOS == "darwin" && now.Style != icons.StyleLight && now.Style != icons.StyleDark {
		systray.SetTemplateIcon(icons.TrayTemplate(worst), picture)
		return
	}
	systray.SetIcon(picture)
}

// call runs f, which calls the library. On a dead bus the library logs an
// error for every single change and panics in SetIcon.
func (d *desktop) call(f func()) (err error) {
	lost := func() error { return fmt.Errorf("change the tray: %w", ErrBusLost) }
	select {
	case <-d.bus.lost():
		return lost()
	default:
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", lost(), p)
		}
	}()
	f()
	return nil
}

// listen hands on the clicks on a line, from the first time it is shown. The
// library drops a click that nobody waits for.
func (d *desktop) listen(id int) {
	if d.listening[id] {
		return
	}
	d.listening[id] = true
	clicked := d.items[id].ClickedCh
	go func() {
		for {
			select {
			case <-d.ended:
				return
			case _, ok := <-clicked:
				if !ok {
					return
				}
			}
			select {
			case <-d.ended:
				return
			case d.clicks <- id:
			}
		}
	}()
}

func (d *desktop) awaitOpening() {
	for {
		select {
		case <-d.ended:
			return
		case <-systray.TrayOpenedCh:
		}
		select {
		case <-d.ended:
			return
		case d.menuEvents <- menuOpened:
		}
	}
}

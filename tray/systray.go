package tray

import (
	"fmt"
	"runtime"

	"fyne.io/systray"

	"lamplighter/icons"
	"lamplighter/monitor"
)

// isDBus tells the desktops whose tray is an object on the session bus.
const isDBus = runtime.GOOS != "windows" && runtime.GOOS != "darwin"

// desktop is the painter that draws with fyne.io/systray. Its setters never
// compare and each repaints, so it must only be given what changed; they are
// not safe beside each other, so only the owner calls it.
type desktop struct {
	ended      <-chan struct{}     // closed when nobody receives clicks any more
	lost       <-chan struct{}     // closed when the bus is gone
	lines      lines               // nil where the menu is the library's
	items      []*systray.MenuItem // of the library's menu
	listening  []bool
	clicks     chan int
	menuEvents chan menuEvent
}

// lines are the lines of a menu that is not the library's.
type lines interface {
	// do makes changes, which are seen together.
	do(ops []slotOp) error
}

// newDesktop returns a painter that hands on clicks until ended is closed.
func newDesktop(ended <-chan struct{}, b *bus) *desktop {
	d := &desktop{ended: ended, lost: b.lost(), clicks: make(chan int, 8), menuEvents: make(chan menuEvent, 8)}
	d.lines = b.lines(ended, d.clicks, d.menuEvents)
	return d
}

// run shows the tray until quit. prepare makes the menu, start is called when
// it may change; it must return.
//
// On D-Bus the menu is made before the item is on the bus: that costs no
// signal, and the library cannot lose the first icon and title, which it does
// now and then when they are set while it exports its properties. settled is
// closed when the item is there with our menu; the library answers nobody who
// asks for the menu before the function returns that waits for that.
func (d *desktop) run(settled <-chan struct{}, prepare, start func()) (err error) {
	// The library has no errors to return. When the bus dies while it
	// connects, it panics at its end.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run the tray: %v: %w", p, ErrBusLost)
		}
	}()
	go d.awaitOpening()
	if isDBus {
		prepare()
		systray.Run(func() {
			select {
			case <-settled:
			case <-d.ended:
			case <-d.lost:
			}
			start()
		}, nil)
		return nil
	}
	systray.Run(func() { prepare(); start() }, nil)
	return nil
}

func (d *desktop) quit() { systray.Quit() }

func (d *desktop) slots() []menuSlot {
	if isDBus {
		// Elsewhere this is text beside the icon. Here it is its name, by
		// which a panel remembers what its user decided about it.
		systray.SetTitle("Lamplighter")
	}
	if d.lines != nil {
		return hiddenSlots()
	}
	d.items = make([]*systray.MenuItem, slotCount)
	d.listening = make([]bool, slotCount)
	for i := range d.items {
		above := slotAbove(i)
		switch {
		case !separated(i):
		case above >= 0:
			d.items[above].AddSeparator()
		default:
			systray.AddSeparator()
		}
		if above >= 0 {
			d.items[i] = d.items[above].AddSubMenuItem("", "")
		} else {
			d.items[i] = systray.AddMenuItem("", "")
		}
	}
	// Only now, because Windows cannot add a submenu to a hidden line.
	for _, item := range d.items {
		item.Hide()
	}
	return hiddenSlots()
}

func (d *desktop) do(ops []slotOp) error {
	if d.lines == nil {
		for _, op := range ops {
			if err := d.call(func() { d.change(op) }); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if lost := d.call(func() { err = d.lines.do(ops) }); lost != nil {
		return lost
	}
	if err != nil {
		return fmt.Errorf("change the menu: %w: %w", ErrBusLost, err)
	}
	return nil
}

// change changes a line of the library's menu.
func (d *desktop) change(op slotOp) {
	item := d.items[op.Slot]
	switch op.Kind {
	case opTitle:
		item.SetTitle(escape(runtime.GOOS, op.Text))
	case opTooltip:
		// Elsewhere no line of a menu has one, and setting it would
		// only repaint.
		if runtime.GOOS == "darwin" {
			item.SetTooltip(op.Text)
		}
	case opIcon:
		item.SetIcon(icons.Item(string(op.Mark)))
	case opEnable:
		item.Enable()
	case opDisable:
		item.Disable()
	case opCheck:
		item.Check()
	case opUncheck:
		item.Uncheck()
	case opShow:
		d.listen(op.Slot)
		item.Show()
	case opHide:
		item.Hide()
	}
}

func (d *desktop) icon(style string, worst monitor.State) error {
	return d.call(func() {
		picture := icons.Tray(style, string(worst))
		if runtime.GOOS == "darwin" && style != icons.StyleLight && style != icons.StyleDark {
			systray.SetTemplateIcon(icons.TrayTemplate(string(worst)), picture)
			return
		}
		systray.SetIcon(picture)
	})
}

func (d *desktop) tooltip(text string) error {
	return d.call(func() { systray.SetTooltip(text) })
}

// call runs f, which calls the library. On a dead bus the library logs an
// error for every single change and panics in SetIcon.
func (d *desktop) call(f func()) (err error) {
	lost := func() error { return fmt.Errorf("change the tray: %w", ErrBusLost) }
	select {
	case <-d.lost:
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

// listen hands on the clicks on a slot, from the first time it is shown. The
// library drops a click that nobody waits for.
func (d *desktop) listen(slot int) {
	if d.listening[slot] || opensSubmenu(slot) {
		return // a click on what opens a submenu is no order
	}
	d.listening[slot] = true
	clicked := d.items[slot].ClickedCh
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
			case d.clicks <- slot:
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

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
	bus   *bus
	lines lines
}

// lines are those below the icon, of the library or of our own.
type lines interface {
	// build shows a menu for the first time.
	build(m menu)
	// show makes changes, which are seen together.
	show(changes []change) error
}

// newDesktop returns a painter that hands on clicks on lines, and what it is told of the
// menu, until ended is closed.
func newDesktop(b *bus, ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent) *desktop {
	d := &desktop{b, b.newMenu(ended, clicks, events)}
	if d.lines == nil {
		d.lines = &libraryMenu{ended: ended, clicks: clicks}
		go forward(ended, systray.TrayOpenedCh, events, menuOpened)
	}
	return d
}

// forward sends what for each signal, until ended is closed. The library drops a
// signal that nobody waits for.
func forward[T any](ended, signals <-chan struct{}, to chan<- T, what T) {
	for {
		select {
		case <-ended:
			return
		case <-signals:
			offer(ended, to, what)
		}
	}
}

// offer sends what, unless ended is closed before it is received.
func offer[T any](ended <-chan struct{}, to chan<- T, what T) {
	select {
	case <-ended:
	case to <- what:
	}
}

// run shows the tray until show ends, whose error it returns. prepare makes the
// menu, and show may change it.
//
// On D-Bus the menu is made before the item is on the bus: that costs no
// signal, and the library cannot lose the first icon and title, which it does
// now and then when they are set while it exports its properties.
func (d *desktop) run(ctx context.Context, prepare func(), show func(context.Context) error) (err error) {
	if !isDBus {
		return d.runLoop(ctx, prepare, show)
	}
	prepare()
	start, end := systray.RunWithExternalLoop(nil, nil)
	defer func() {
		// The library has no errors to return. When the bus dies while it connects, it
		// panics at its end. Whatever else panics is for the caller.
		defer func() {
			if p := recover(); p != nil {
				err = errors.Join(err, fmt.Errorf("run the tray: %v: %w", p, ErrBusLost))
			}
		}()
		end()
	}()
	start() // which on D-Bus has exported all when it returns
	d.bus.replaceMenu(ctx)
	return show(ctx)
}

// runLoop runs the message loop of the desktop meanwhile.
func (d *desktop) runLoop(ctx context.Context, prepare func(), show func(context.Context) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	started, done := make(chan struct{}), make(chan error, 1)
	systray.Run(func() {
		close(started)
		go func() {
			prepare()
			done <- show(running)
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

func (d *desktop) build(m menu) {
	if isDBus {
		// Elsewhere this is text beside the icon. Here it is its name, by
		// which a panel remembers what its user decided about it.
		systray.SetTitle("Lamplighter")
	}
	d.lines.build(m)
	drawIcon(line{}, m[0])
}

// show draws changes. On a dead bus the library panics in SetIcon.
func (d *desktop) show(changes []change) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("change the tray: %w (%v)", ErrBusLost, p)
		}
	}()
	if icon := changes[0]; icon.ID == 0 {
		drawIcon(icon.Was, icon.Now)
	}
	if err := d.lines.show(changes); err != nil {
		return fmt.Errorf("change the menu: %w: %w", ErrBusLost, err)
	}
	return nil
}

// drawIcon draws what has changed of the icon in the panel.
func drawIcon(was, now line) {
	if was.Tooltip != now.Tooltip {
		systray.SetTooltip(now.Tooltip)
	}
	if was.Title != "" && was.Mark == now.Mark && was.Style == now.Style {
		return
	}
	picture := icons.Tray(now.Style, now.Mark)
	if runtime.GOOS == "darwin" && now.Style != icons.StyleLight && now.Style != icons.StyleDark {
		systray.SetTemplateIcon(icons.TrayTemplate(now.Mark), picture)
		return
	}
	systray.SetIcon(picture)
}

// libraryMenu is the menu of the library.
type libraryMenu struct {
	ended  <-chan struct{} // closed when nobody receives clicks any more
	clicks chan<- int
	items  []*systray.MenuItem // nil for the icon and for separators
}

// build adds the lines of a menu, hidden, and shows those that are not.
func (l *libraryMenu) build(m menu) {
	l.items = make([]*systray.MenuItem, len(m))
	for i := 1; i < len(m); i++ {
		switch above := l.items[m[i].Above]; {
		case m[i].Separator && above != nil:
			above.AddSeparator()
		case m[i].Separator:
			systray.AddSeparator()
		case above != nil:
			l.items[i] = above.AddSubMenuItem("", "")
		default:
			l.items[i] = systray.AddMenuItem("", "")
		}
	}
	for i, item := range l.items {
		if item == nil {
			continue
		}
		item.Hide()      // only now, because Windows cannot add a submenu to a hidden line
		if !m[i].Opens { // a click on what opens a submenu is no order
			go forward(l.ended, item.ClickedCh, l.clicks, i)
		}
	}
	_ = l.show(diff(make(menu, len(m)), m)) // which cannot fail
}

func (l *libraryMenu) show(changes []change) error {
	for _, c := range changes {
		if c.ID > 0 {
			draw(l.items[c.ID], c.Was, c.Now)
		}
	}
	return nil
}

// draw changes a line. One that was hidden gets all that it shows, as it may have
// shown something else before.
func draw(item *systray.MenuItem, was, now line) {
	if now.hidden() {
		item.Hide()
		return
	}
	fresh := was.hidden()
	if fresh || was.Title != now.Title {
		item.SetTitle(escape(runtime.GOOS, now.Title))
	}
	if now.Mark != icons.None && (fresh || was.Mark != now.Mark) {
		item.SetIcon(icons.Item(now.Mark))
	}
	if fresh || was.Disabled != now.Disabled {
		set(now.Disabled, item.Disable, item.Enable)
	}
	if fresh || was.Checked != now.Checked {
		set(now.Checked, item.Check, item.Uncheck)
	}
	if fresh {
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

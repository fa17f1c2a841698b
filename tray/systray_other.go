//go:build windows || darwin

package tray

import (
	"context"
	"errors"
	"runtime"

	"fyne.io/systray"

	"lamplighter/icons"
)

// desktop is the painter that draws with fyne.io/systray. Its setters never compare and each
// repaints, so it must only be given what changed; they are not safe beside each other, so
// only the owner calls it. The desktop itself keeps the icon, and the library puts it back
// when the shell restarts.
type desktop struct {
	menu libraryMenu
	lost <-chan struct{} // never closed
}

// openDesktop returns a desktop that hands on clicks on lines, and what it is told of the
// menu, until ended is closed.
func openDesktop(ended <-chan struct{}, clicks chan<- int, events chan<- menuEvent, _ func(string)) (*desktop, error) {
	go forward(ended, systray.TrayOpenedCh, events, menuOpened)
	return &desktop{menu: libraryMenu{ended: ended, clicks: clicks}}, nil
}

// run shows the tray until show ends, whose error it returns, and runs the message loop
// of the desktop meanwhile. prepare makes the menu, and show may change it.
func (d *desktop) run(ctx context.Context, prepare func(), show func(context.Context) error) error {
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

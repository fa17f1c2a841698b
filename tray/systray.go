package tray

import (
	"fmt"
	"runtime"

	"fyne.io/systray"

	"lamplighter/icons"
)

// offer sends what, unless ended is closed before it is received.
func offer[T any](ended <-chan struct{}, to chan<- T, what T) {
	select {
	case <-ended:
	case to <- what:
	}
}

func (d *desktop) build(m menu) {
	d.menu.build(m)
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
	if err := d.menu.show(changes); err != nil {
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

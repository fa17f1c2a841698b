package tray

// Login is start at login, as the menu shows and switches it.
type Login interface {
	// AtLogin tells whether the program is started at login, and whether that can
	// be switched. It is asked each time the menu is drawn or opened, on one
	// goroutine, and must not wait. Who learns later that it is otherwise calls
	// Tray.Redraw.
	AtLogin() (on, can bool)
	// SetAtLogin switches it. Its calls come as those of Actions do, and what came
	// of them is read from AtLogin.
	SetAtLogin(on bool)
}

// loginEntry is the line of start at login. The zero value is not shown.
type loginEntry struct {
	Shown bool
	On    bool
	Can   bool // it can be switched
}

// loginLine asks how start at login stands; nil gives no line.
func loginLine(l Login) loginEntry {
	if l == nil {
		return loginEntry{}
	}
	on, can := l.AtLogin()
	return loginEntry{Shown: true, On: on, Can: can}
}

// slot is the line on the desktop.
func (l loginEntry) slot() menuSlot {
	if !l.Shown {
		return menuSlot{}
	}
	return menuSlot{Visible: true, Enabled: l.Can, Title: "Start at login", Checked: l.On}
}

// Redraw has the menu drawn again, as what it says besides the snapshots may have
// changed. It may be called on any goroutine and never waits.
func (t *Tray) Redraw() {
	select {
	case t.redraws <- struct{}{}:
	default: // it is to be drawn anyway
	}
}

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

// LoginLine is the line of start at login. The zero value is not shown.
type LoginLine struct {
	Shown bool
	On    bool
	Can   bool // it can be switched
}

// loginLine asks how start at login stands; nil gives no line.
func loginLine(l Login) LoginLine {
	if l == nil {
		return LoginLine{}
	}
	on, can := l.AtLogin()
	return LoginLine{Shown: true, On: on, Can: can}
}

// slot is the line on the desktop.
func (l LoginLine) slot() Slot {
	if !l.Shown {
		return Slot{}
	}
	return Slot{Visible: true, Enabled: l.Can, Title: "Start at login", Checked: l.On}
}

// Redraw has the menu drawn again, as what it says besides the snapshots may have
// changed. It may be called on any goroutine and never waits.
func (t *Tray) Redraw() {
	select {
	case t.redraws <- struct{}{}:
	default: // it is to be drawn anyway
	}
}

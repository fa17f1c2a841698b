package tray

import "time"

// Whether the menu is open on the screen, as far as that can be known.
//
// Changing a menu under the pointer is bad: measured with the xfce panel, a
// line that is hidden or shown while the menu is open moves all lines below
// it, so that a click lands on another server, and the menu keeps its old
// size, so that the last lines fall off behind a scroll arrow. A new title or
// icon of a line that stays is harmless. So while the menu is open only such
// changes are made (see hold), and the rest waits.
//
// That the menu opens is told by the desktop: KDE and GNOME send the event
// "opened", the xfce panel and other users of libdbusmenu only call AboutToShow
// (see dbusMenu). macOS tells, Windows does not. A submenu that opens tells that
// the menu is still open (measured: the xfce panel asks for it then, and at no
// other time). That the menu closes is told by KDE and GNOME ("closed"), and on
// every desktop a click closes it; xfce says nothing when it is closed without
// a click. For that case what waits is drawn after openLimit, or when the menu
// opens the next time, whichever comes first.
const (
	openLimit = 15 * time.Second
	// sameOpening joins the messages that one opening makes: AboutToShow and the
	// event come within milliseconds.
	sameOpening = 300 * time.Millisecond
	// clickComes is how long the lines still stay when the menu has closed:
	// KDE hides a menu before it tells which line was clicked.
	clickComes = 300 * time.Millisecond
)

// menuEvent is what a desktop tells about the open menu.
type menuEvent int

const (
	menuOpened menuEvent = iota
	menuUsed             // a submenu was opened, so the menu is still open
	menuClosed
	menuClicked
)

// opening follows the open menu. The zero value is closed.
type opening struct {
	since time.Time // the menu or the last submenu was opened; zero after a click
	until time.Time // when it is no longer taken to be open
}

// open reports whether the menu must be taken to be open.
func (o opening) open(now time.Time) bool { return now.Before(o.until) }

// after gives the state after an event. renew says that what waited is to be
// drawn now.
func (o opening) after(e menuEvent, now time.Time) (next opening, renew bool) {
	switch e {
	case menuOpened:
		if !o.since.IsZero() && now.Sub(o.since) < sameOpening {
			return opening{since: o.since, until: now.Add(openLimit)}, false
		}
		return opening{since: now, until: now.Add(openLimit)}, true
	case menuUsed:
		if !o.since.IsZero() {
			return opening{since: now, until: now.Add(openLimit)}, false
		}
	case menuClosed:
		o.until = now.Add(clickComes)
	case menuClicked:
		return opening{}, true
	}
	return o, false
}

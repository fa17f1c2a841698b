package tray

import (
	"slices"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor/view"
)

// menu is everything the tray shows at one moment: a tree of lines from top to
// bottom, each directly before those of its submenu. The first stands for the
// icon, with what the panel says about it.
//
// Every menu has the same number of lines in the same submenus, and those that
// are not needed are hidden: a desktop cannot insert a line, and a menu that is
// rebuilt closes under the pointer. The index of a line is its name on the
// desktop.
type menu []line

// line is one line of a menu. It is hidden without a title.
type line struct {
	Key   string // of what it is about, the same in every menu; once in each
	Above int    // the line that opens the submenu in which it is
	Opens bool   // it opens a submenu

	Title     string
	Tooltip   string // of the icon, as its Style
	Style     string
	Mark      icons.Mark
	Checkable bool
	Checked   bool
	Disabled  bool
	Separator bool // it has no title, and is never hidden

	Action action // of a click
	// Ended is the title of an open menu once its Action is about nothing that is
	// left; empty for a line that stays as it is.
	Ended string
}

// iconKey is of the line that stands for the icon.
const iconKey = "icon"

// separator is a line between others.
var separator = line{Separator: true}

// action is what a click on a line orders. The zero value is nothing.
type action struct {
	view.Order
	For   pause // of a pause that begins with the click
	Count int   // of those to stop
}

// pause is how long a pause lasts that a click begins.
type pause string

const (
	forAnHour pause = "for 1 h"
	forToday  pause = "for today"
)

// about is an action about a server.
func about(ref view.Ref, v view.Verb) action { return action{Order: view.Order{Ref: ref, Verb: v}} }

// openPage is the action of most lines that are to be read.
var openPage = action{Order: view.Order{Verb: view.OpenPage}}

// settles reports whether a line with this action has to be in its place for a
// while before a click on it counts.
func (a action) settles() bool {
	return a.Verb == view.Stop || a.Verb == view.Restart || a.Verb == view.StopAll || a.Verb == view.Keep || a.Verb == view.Pin
}

// add adds lines to the menu itself.
func (m *menu) add(lines ...line) { *m = append(*m, lines...) }

// submenu adds a line and those of the submenu that it opens. It is hidden with
// all of them.
func (m *menu) submenu(top line, lines []line) {
	above := len(*m)
	top.Opens = true
	if !slices.ContainsFunc(lines, func(l line) bool { return l.Title != "" }) {
		top.Title = ""
	}
	m.add(top)
	for _, l := range lines {
		l.Above = above
		m.add(l)
	}
}

// padded adds hidden lines to a list that has room for n.
func padded(list []line, n int, hidden line) []line {
	return append(list, slices.Repeat([]line{hidden}, n-len(list))...)
}

func (l line) hidden() bool { return l.Title == "" && !l.Separator }

// looks is what a person sees of a line.
func (l line) looks() line {
	l.Key, l.Action, l.Ended = "", action{}, ""
	return l
}

// change is a line that looks different from before.
type change struct {
	ID       int // its index in the menu
	Was, Now line
}

// diff lists the lines in which the menu want looks different from the one that
// is shown.
func diff(shown, want menu) []change {
	var changes []change
	for i, now := range want {
		was := shown[i]
		if was.looks() != now.looks() && was.Title+now.Title != "" {
			changes = append(changes, change{i, was, now})
		}
	}
	return changes
}

// sameLines reports whether two menus have the same lines in the same places.
func sameLines(a, b menu) bool {
	return slices.EqualFunc(a, b, func(a, b line) bool {
		return a.hidden() == b.hidden() && (a.hidden() || a.Key == b.Key)
	})
}

// hold is the menu to show while the one that is shown is open on the screen:
// every line stays where it is and says what is new, one whose server has ended
// says so and does nothing, and new lines wait. Nothing then moves under the
// pointer. A server that has only lost its room to others still runs.
func hold(shown, next menu, runs map[view.ID]bool) menu {
	fresh := make(map[string]line, len(next))
	for _, l := range next {
		if l.Title != "" {
			fresh[l.Key] = l
		}
	}
	held := slices.Clone(shown)
	for i, l := range shown {
		now, found := fresh[l.Key]
		switch {
		case l.Title == "": // hidden, or a separator
		case found:
			held[i] = now
		case l.Ended != "" && !runs[l.Action.ID]:
			held[i] = l.ended()
		}
	}
	return held
}

// ended is the line of something that has gone while the menu was open.
func (l line) ended() line {
	l.Title, l.Disabled, l.Action = l.Ended, true, action{}
	if l.Mark != icons.None {
		l.Mark = icons.Ended
	}
	return l
}

// place is where a line is in its submenu, and since when it has been there with
// this action.
type place struct {
	index, of int // among those that are seen
	action    action
	since     time.Time
}

// placesOf gives the places of the lines that must settle, by key. Those of the
// menu before count on.
func placesOf(m menu, before map[string]place, now time.Time) map[string]place {
	seen := map[int][]line{}
	for _, l := range m {
		if !l.hidden() {
			seen[l.Above] = append(seen[l.Above], l)
		}
	}
	places := map[string]place{}
	for _, lines := range seen {
		for i, l := range lines {
			if !l.Action.settles() {
				continue
			}
			p := place{i, len(lines), l.Action, before[l.Key].since}
			if p != before[l.Key] {
				p.since = now
			}
			places[l.Key] = p
		}
	}
	return places
}

package tray

import (
	"fmt"
	"strings"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
)

// keepLines is the number of lines for each of the two lists under Keep, which
// stand below each other on one screen.
const keepLines = 11

// pinnable tells whether a pin is of use, or can be taken away.
func pinnable(in *monitor.Instance) bool { return stoppable(in) || in.Pinned }

// keep fills the two lists under Keep: those that can be kept for an hour, and
// those that can be pinned. Where there is no room for all, those that will be
// ended or are kept come first, and those that are pinned.
func (m *menu) keep(snap *monitor.Snapshot, orders orders, now time.Time) {
	concerned := func(in *monitor.Instance) bool { return planned(in, now) || kept(in, now) }
	pinned := func(in *monitor.Instance) bool { return in.Pinned }
	keeps, keepsOver := chosen(snap, stoppable, concerned)
	for _, in := range keeps {
		m.Keep = append(m.Keep, keepEntry(in, orders, now))
	}
	pins, pinsOver := chosen(snap, pinnable, pinned)
	for _, in := range pins {
		m.Pins = append(m.Pins, pinEntry(in, orders))
	}
	if over := max(keepsOver, pinsOver); over > 0 {
		m.KeepMore = fmt.Sprintf("and %d more: global dashboard", over)
	}
}

// chosen gives at most keepLines of the instances that fit, in the order of the
// snapshot, and how many found no room. Those that are first lose theirs last.
func chosen(snap *monitor.Snapshot, fit, first func(*monitor.Instance) bool) (list []*monitor.Instance, over int) {
	firsts, others := 0, 0
	for i := range snap.Instances {
		switch in := &snap.Instances[i]; {
		case !fit(in):
		case first(in):
			firsts++
		default:
			others++
		}
	}
	firstRoom := min(firsts, keepLines)
	otherRoom := min(others, keepLines-firstRoom)
	over = firsts + others - firstRoom - otherRoom
	for i := range snap.Instances {
		in := &snap.Instances[i]
		if !fit(in) {
			continue
		}
		room := &otherRoom
		if first(in) {
			room = &firstRoom
		}
		if *room > 0 {
			*room--
			list = append(list, in)
		}
	}
	return list, over
}

// keepEntry says what will become of an instance that is not kept, and why:
// "24284 - alpha · ends in 4 min: no call for 30 min".
func keepEntry(in *monitor.Instance, orders orders, now time.Time) menuEntry {
	e := menuEntry{ID: in.ID(), Label: in.Label(), Name: in.Name(), Mark: icons.None}
	var words string
	switch {
	case orders.ending(e.ID):
		words = endingWords
	case planned(in, now):
		words = planWords(in.Plan.ShutdownAt, now)
		if reason := reasonOf(in); reason != "" {
			words += ": "
			room := keepColumns - monitor.Columns(strings.TrimSuffix(e.Label, e.Name)+" · "+words)
			words += cutEnd(reason, room-min(monitor.Columns(e.Name), nameColumns))
		}
	case kept(in, now):
		words = keptWords(in, now)
	case in.Pinned:
		words = "pinned"
	}
	e.Title = title(keepColumns, e.Label, e.Name, words)
	return e
}

// pinEntry says little, because its check mark says the rest.
func pinEntry(in *monitor.Instance, orders orders) menuEntry {
	e := menuEntry{ID: in.ID(), Label: in.Label(), Name: in.Name(), Mark: icons.None, Checked: in.Pinned}
	words := ""
	if orders.ending(e.ID) {
		words = endingWords
	}
	e.Title = title(labelColumns, e.Label, e.Name, words)
	return e
}

// keptInPlaces renews entries under Keep that are shown. Unlike elsewhere one
// that is not in next may still run: others may have taken its room.
func keptInPlaces(shown, next []menuEntry, running map[string]bool) []menuEntry {
	held := inPlaces(shown, next)
	for i, e := range held {
		if e.Ended && running[e.ID] {
			held[i] = shown[i]
		}
	}
	return held
}

package tray

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
)

// keepLines is the number of lines for each of the two lists under Keep, which
// stand below each other on one screen.
const keepLines = 11

// pinnable reports whether a pin is of use, or can be taken away.
func pinnable(in *monitor.Instance) bool { return stoppable(in) || in.Pinned }

// keepSubmenu has two lists: those that can be kept for an hour, and those that
// can be pinned. Where there is no room for all, those that will be ended or are
// kept come first, and those that are pinned.
func keepSubmenu(snap *monitor.Snapshot, orders orders, now time.Time) (top line, lines []line) {
	concerned := func(in *monitor.Instance) bool { return planned(in, now) || kept(in, now) }
	pinned := func(in *monitor.Instance) bool { return in.Pinned }
	keeps, keepsOver := chosen(snap, stoppable, concerned)
	pins, pinsOver := chosen(snap, pinnable, pinned)
	var toKeep, toPin []line
	for _, in := range keeps {
		toKeep = append(toKeep, keepEntry(in, orders, now))
	}
	for _, in := range pins {
		toPin = append(toPin, pinEntry(in, orders))
	}
	more := line{}
	if over := max(keepsOver, pinsOver); over > 0 {
		more = line{Key: "more to keep", Title: fmt.Sprintf("and %d more: global dashboard", over), Action: action{Verb: openGlobal}}
	}
	lines = slices.Concat(headed("For 1 h:", toKeep, line{}), headed("Until unpinned:", toPin, line{Checkable: true}), []line{more})
	return line{Key: "keep", Title: "Keep"}, lines
}

// headed is a list with room for keepLines and a heading, which is hidden with it.
func headed(heading string, list []line, hidden line) []line {
	top := line{}
	if len(list) > 0 {
		top = line{Key: heading, Title: heading, Disabled: true}
	}
	return append([]line{top}, padded(list, keepLines, hidden)...)
}

// chosen gives at most keepLines of the instances that fit, in the order of the
// snapshot, and how many found no room. Those that are first lose theirs last.
func chosen(snap *monitor.Snapshot, fit, first func(*monitor.Instance) bool) (list []*monitor.Instance, over int) {
	for i := range snap.Instances {
		if in := &snap.Instances[i]; fit(in) {
			list = append(list, in)
		}
	}
	for ; len(list) > keepLines; over++ {
		last := len(list) - 1
		for i := last; i >= 0; i-- {
			if !first(list[i]) {
				last = i
				break
			}
		}
		list = slices.Delete(list, last, last+1)
	}
	return list, over
}

// keepEntry says what will become of an instance that is not kept, and why:
// "4711 - alpha · ends in 4 min: no call for 30 min".
func keepEntry(in *monitor.Instance, orders orders, now time.Time) line {
	var words string
	switch {
	case orders.ending(in.ID()):
		words = endingWords
	case planned(in, now):
		words = planWords(in.Plan.ShutdownAt, now)
		if reason := reasonOf(in); reason != "" {
			words += ": "
			room := keepColumns - monitor.Columns(strings.TrimSuffix(in.Label(), in.Name())+" · "+words)
			words += cutEnd(reason, room-min(monitor.Columns(in.Name()), nameColumns))
		}
	case kept(in, now):
		words = keptWords(in, now)
	case in.Pinned:
		words = "pinned"
	}
	l := serverLine(in, keepOne)
	l.Title = title(keepColumns, in.Label(), in.Name(), words)
	return l
}

// pinEntry says little, because its check mark says the rest.
func pinEntry(in *monitor.Instance, orders orders) line {
	words := ""
	if orders.ending(in.ID()) {
		words = endingWords
	}
	l := serverLine(in, pinOne)
	l.Title, l.Checkable, l.Checked, l.Action.On = title(labelColumns, in.Label(), in.Name(), words), true, in.Pinned, !in.Pinned
	return l
}

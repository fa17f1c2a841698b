package tray

import (
	"fmt"
	"slices"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
)

// serverLines are the lines about instances in the menu and, where that is
// offered, under Stop, each with one about those that found no room.
func serverLines(snap *monitor.Snapshot, orders orders, now time.Time, stop bool, figure func(id string, bytes uint64) int) (list, stops []line) {
	stopOver := 0
	for i := range snap.Instances {
		in := &snap.Instances[i]
		listed, stoppable := i < listLines, stop && stoppable(in)
		if stoppable && len(stops) == listLines {
			stoppable = false
			stopOver++
		}
		if !listed && !stoppable {
			continue
		}
		mb := figure(in.ID(), in.RSSBytes)
		words, ends := presentWords(in, orders, now)
		if listed {
			list = append(list, entry(in, words, ends, mb, now))
		}
		if stoppable {
			stops = append(stops, stopEntry(in, words, mb))
		}
	}
	if over := len(snap.Instances) - listLines; over > 0 {
		list = append(list, line{Key: "more", Title: fmt.Sprintf("and %d more: lamplighter status", over), Action: action{Verb: openGlobal}})
	}
	if stopOver > 0 {
		stops = append(stops, line{Key: "more to stop", Title: fmt.Sprintf("and %d more: lamplighter stop", stopOver), Disabled: true})
	}
	return list, stops
}

// serverLine is a line about an instance with what a click on it does; its title
// is for the caller.
func serverLine(in *monitor.Instance, verb verb) line {
	return line{
		Key: string(verb) + " " + in.ID(), Action: action{Verb: verb, ID: in.ID()},
		Ended: title(labelColumns, in.Label(), in.Name(), "ended"),
	}
}

// endingWords are said instead of all others.
const endingWords = "ending…"

// presentWords is how an instance is: its state and what it does, or what is
// about to become of it, which matters more. ends says that a policy will end it.
func presentWords(in *monitor.Instance, orders orders, now time.Time) (words []string, ends bool) {
	switch {
	case orders.ending(in.ID()):
		return []string{endingWords}, false
	case planned(in, now):
		return []string{stateWords(in), planWords(in.Plan.ShutdownAt, now)}, true
	}
	return []string{stateWords(in), activityWords(in, now)}, false
}

// entry puts one instance in words, for example "4711 - alpha · idle 10 min ·
// 150 MB". words are those between label and memory. One that ends has only
// those, so that its name keeps its room.
func entry(in *monitor.Instance, words []string, ends bool, mb int, now time.Time) line {
	l := serverLine(in, openDashboard)
	l.Mark = icons.Mark(in.State)
	lines := []string{in.Reason}
	if ends {
		lines = append(lines, planSentence(in, now))
	} else {
		words = append(slices.Clip(words), sharedWords(in), reachWords(in), memoryWords(mb))
	}
	l.Title = title(labelColumns, in.Label(), in.Name(), words...)
	lines = append(lines, in.SharingWords()...)
	lines = append(lines, keptWords(in, now))
	if !in.Recognised {
		lines = append(lines, in.StrangerWords())
	}
	switch {
	case in.IsShared(): // its clients are named above
	case in.Managed:
		lines = append(lines, in.ClientWords(tooltipColumns))
	case in.Client != nil && in.Client.Name != "":
		lines = append(lines, "started by "+in.Client.Name)
	}
	if in.Pinned {
		lines = append(lines, "pinned")
	}
	lines = append(lines, in.ProjectRoot)
	for _, text := range lines {
		if text = monitor.Shorten(monitor.Clean(text), tooltipColumns); text != "" {
			if l.Tooltip != "" {
				l.Tooltip += "\n"
			}
			l.Tooltip += text
		}
	}
	return l
}

// stoppable reports whether an order to stop the instance could be followed.
func stoppable(in *monitor.Instance) bool {
	return in.Recognised && in.State != monitor.StateParked && in.Cause != monitor.CauseDefunct
}

// stopEntry is the line of an instance under Stop, where it also says who would
// lose the server. It has no icon: panels read the whole menu again after each
// change, and twice the icons would double what that costs.
func stopEntry(in *monitor.Instance, words []string, mb int) line {
	pinned := ""
	if in.Pinned {
		pinned = "pinned"
	}
	l := serverLine(in, stopOne)
	l.Title = title(stopColumns, in.Label(), in.Name(), append(slices.Clip(words), pinned, clientWords(in), memoryWords(mb))...)
	return l
}

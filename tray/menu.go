package tray

import (
	"fmt"
	"strings"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// The numbers of lines that a menu has room for. A menu higher than the screen
// is scrolled, and GTK forgets to scroll back when it has become shorter
// (measured: it opens empty), so with everything around them these fit on a
// screen 768 px high, with lines of 25 px as on xfce.
const (
	listLines    = 15            // instances with the clients above them, and as many instances under Stop
	ungrouped    = 12            // servers; beyond, they stand below their clients
	stopLines    = listLines + 3 // with those for all of a kind, and how many found no room
	restartLines = 6
	recentLines  = monitor.RecentEvents
	warningLines = 2 // the page has them all
)

// figures are the memory that a menu tells, in MB, by instance and for "total"
// and "saved", so that the next one keeps to it while it is still about right.
type figures map[string]int

// menuOf puts a snapshot in words, given what was told of memory in the menu shown until
// now. A nil snapshot is one that nobody has taken yet. The result shares nothing with its
// arguments.
func menuOf(snap *monitor.Snapshot, now time.Time, extras Extras, rows *view.Rows, before figures) (menu, figures) {
	hint, head, said := "", "", figures{}
	figure := func(of string, bytes uint64) int {
		said[of] = quantise(bytes, before[of])
		return said[of]
	}
	switch {
	case snap == nil:
		snap = &monitor.Snapshot{}
		head = "Looking for servers"
	case len(snap.Instances) == 0:
		head = "No servers yet"
		hint = "Start your assistant, and its servers appear here"
	default:
		totals := snap.Totals()
		head = headWords(totals, figure("total", totals.RSSBytes), figure("saved", totals.SavedBytes))
	}
	tooltip := "Lamplighter: " + strings.ToLower(head[:1]) + head[1:]
	orders := ordersIn(snap, now)
	list := rows.Of(snap)
	servers, stops := serverLines(list, orders, now, figure)

	// Lines that are to be read are enabled where they matter, because panels grey
	// the text of one that is not.
	m := menu{{Key: iconKey, Title: "Lamplighter", Tooltip: tooltip, Style: extras.Style, Mark: icons.Mark(snap.Worst()), Opens: true}}
	m.add(line{Key: "head", Title: head, Action: openPage}, line{Key: "hint", Title: hint, Disabled: true})
	m.add(padded(servers, listLines+1, line{})...)
	m.add(givenUp(snap), separator, line{Key: "global", Title: "Open global dashboard", Action: openPage})
	m.submenu(recentSubmenu(snap, now))
	m.submenu(workspaceSubmenu(extras.Workspaces, now))
	m.submenu(keepSubmenu(list, orders, now))
	m.submenu(policySubmenu(snap.Policy, now))
	m.add(line{Key: "given back", Title: givenWords(extras.GivenBack, extras.GivenSince, now), Action: openPage})
	m.add(warnings(snap.Warnings, orders.refused)...)
	m.add(separator) // what ends something is apart from what opens something
	m.submenu(line{Key: "restart", Title: "Restart"}, padded(restartEntries(list, orders), restartLines, line{}))
	m.submenu(line{Key: "stop", Title: "Stop"}, padded(append(groups(snap.Policy), stops...), stopLines, line{}))
	m.add(login(extras.AtLogin, extras.CanSwitch), line{Key: "about", Title: "About Lamplighter " + monitor.Clean(extras.Version), Disabled: true})
	m.add(line{Key: "quit", Title: quit(snap.Totals()), Action: action{Order: view.Order{Verb: view.Quit}}})
	return m, said
}

// running has every instance, also those that found no room in the menu.
func running(snap *monitor.Snapshot) map[view.ID]bool {
	ids := map[view.ID]bool{}
	if snap != nil {
		for _, in := range snap.Instances {
			ids[view.ID(in.ID())] = true
		}
	}
	return ids
}

// givenUp is the line of those that are listed no more.
func givenUp(snap *monitor.Snapshot) line {
	g := view.GivenUpIn(snap)
	if g == nil {
		return line{}
	}
	return line{Key: "given up", Title: g.Words, Action: openPage}
}

// login is the line of start at login.
func login(on, canSwitch bool) line {
	return line{Key: "login", Title: "Start at login", Checkable: true, Checked: on, Disabled: !canSwitch, Action: action{Order: view.Order{Verb: view.Login, On: !on}}}
}

// warnings are those of the snapshot, after what was said about the last order
// that was not followed.
func warnings(all []string, refused *monitor.Event) []line {
	if refused != nil {
		all = append(refusedWords(refused), all...)
	}
	lines := make([]line, warningLines)
	for i, w := range all[:min(len(all), warningLines)] {
		lines[i] = line{Key: fmt.Sprint("warning ", i), Title: monitor.Shorten(monitor.Clean(w), warningColumns)}
	}
	return lines
}

// headWords is the first line: "5 servers, 1 needs attention, 1 parked, 650 MB,
// sharing saves 325 MB".
func headWords(t monitor.Totals, mb, saved int) string {
	s := monitor.Plural(t.Instances, "server", "servers")
	if t.Unsure > 0 {
		s += fmt.Sprintf(", %d unsure", t.Unsure)
	}
	if t.Attention > 0 {
		s += ", " + monitor.Plural(t.Attention, "needs attention", "need attention")
	}
	if t.Parked > 0 {
		s += fmt.Sprintf(", %d parked", t.Parked)
	}
	if mb > 0 {
		s += ", " + memoryWords(mb)
	}
	if saved > 0 {
		s += ", sharing saves " + memoryWords(saved)
	}
	return s
}

// quit says what becomes of the servers: those that others started are not
// ended because we are, and shared ones are parked.
func quit(t monitor.Totals) string {
	var becomes []string
	if t.Sessions > 0 {
		becomes = append(becomes, monitor.Plural(t.Sessions, "session ends", "sessions end"))
	}
	if t.Shared > 0 {
		becomes = append(becomes, monitor.Plural(t.Shared, "shared server is parked", "shared servers are parked"))
	}
	switch rest := t.Instances - t.Sessions - t.Shared - t.Parked; {
	case len(becomes) == 0:
		becomes = append(becomes, "servers go on")
	case rest > 0:
		becomes = append(becomes, "other servers go on")
	}
	return "Quit Lamplighter (" + strings.Join(becomes, ", ") + ")"
}

package tray

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// keepLines is the number of lines for each of the two lists under Keep, which
// stand below each other on one screen.
const keepLines = 11

// pinnable reports whether a pin is of use, or can be taken away.
func pinnable(s *view.Server) bool { return s.CanStop() || s.Pinned }

// keepSubmenu has two lists: those that can be kept for an hour, and those that
// can be pinned. Where there is no room for all, those that will be ended or are
// kept come first, and those that are pinned.
func keepSubmenu(servers []*view.Server, orders orders, now time.Time) (top line, lines []line) {
	concerned := func(s *view.Server) bool { return planned(s, now) || s.Kept(now) }
	pinned := func(s *view.Server) bool { return s.Pinned }
	toKeep, overKeep := chosen(servers, (*view.Server).CanStop, concerned)
	toPin, overPin := chosen(servers, pinnable, pinned)
	lines = headed("For 1 h:", toKeep, func(s *view.Server) line { return keepEntry(s, orders, now) }, line{})
	lines = append(lines, headed("Until unpinned:", toPin, func(s *view.Server) line { return pinEntry(s, orders) }, line{Checkable: true})...)
	more := line{}
	if over := max(overKeep, overPin); over > 0 {
		more = line{Key: "more to keep", Title: fmt.Sprintf("and %d more: global dashboard", over), Action: openPage}
	}
	return line{Key: "keep", Title: "Keep"}, append(lines, more)
}

// headed is a list below a heading, which is hidden with all of them.
func headed(heading string, servers []*view.Server, entry func(*view.Server) line, hidden line) []line {
	lines := []line{{}}
	if len(servers) > 0 {
		lines[0] = line{Key: heading, Title: heading, Disabled: true}
	}
	for _, s := range servers {
		lines = append(lines, entry(s))
	}
	return padded(lines, 1+keepLines, hidden)
}

// chosen gives at most keepLines of the servers that fit, in their order, and how
// many found no room. Those that are first lose theirs last.
func chosen(servers []*view.Server, fit, first func(*view.Server) bool) (list []*view.Server, over int) {
	for _, s := range servers {
		if fit(s) {
			list = append(list, s)
		}
	}
	over = max(len(list)-keepLines, 0)
	for i := len(list) - 1; i >= 0 && len(list) > keepLines; i-- {
		if !first(list[i]) {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list[:min(len(list), keepLines)], over
}

// keepEntry says what will become of a server that is not kept, and why: "4711 -
// alpha · Codex · stops at 14:30: no call for 30 min".
func keepEntry(s *view.Server, orders orders, now time.Time) line {
	var words string
	client := s.Listed(clientColumns)
	switch {
	case orders.ending[s.ID]:
		words = endingWords
	case planned(s, now):
		words = s.Words.Next.Draw(now)
		if reason := s.Words.Next.Why; reason != "" {
			words += ": "
			room := keepColumns - monitor.Columns(strings.TrimSuffix(s.Words.Title, s.Name())+" · "+client+" · "+words)
			words += monitor.CutEnd(reason, room-min(monitor.Columns(s.Name()), nameColumns))
		}
	case s.ShutdownAt == nil && s.Kept(now):
		words = s.Words.Next.Draw(now)
	case s.Pinned:
		words = "pinned"
	}
	return serverLine(s, view.Keep, keepColumns, client, words)
}

// pinEntry says little, because its check mark says the rest.
func pinEntry(s *view.Server, orders orders) line {
	words := ""
	if orders.ending[s.ID] {
		words = endingWords
	}
	l := serverLine(s, view.Pin, labelColumns, s.Listed(clientColumns), words)
	l.Checkable, l.Checked, l.Action.On = true, s.Pinned, !s.Pinned
	return l
}
